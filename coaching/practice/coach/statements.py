"""What of a person's words is the statement, and whether it is about somebody else."""

import re

_TAG = re.compile(
    r"(?:,\s{0,3}¿?(?:sabes|entiendes|verdad|cierto|no|you know|weißt du|verstehst du|oder|gell|nicht wahr)"
    r"|(?<=[.!])\s{1,3}(?:happy|satisfied|zufrieden|¿?content[oa])(?: now| jetzt| ya)?)\s{0,3}\?\s{0,3}\Z",
    re.IGNORECASE,
)
"""Questions at the end of a statement that ask for nothing."""
_HEAD = re.compile(
    r"\A\W{0,3}(?:honestly|honest answer|really|me|the truth|ehrlich|ich|sinceramente|yo)\?\s{1,3}(?=\S)",
    re.IGNORECASE,
)
"""And at the beginning of one."""
_UNSURE = re.compile(
    r"\W*(?:i guess|i suppose|i think i|ich glaub|ich schätze|supongo|creo que yo)\b[^?]{0,120}\?\s{0,3}\Z",
    re.IGNORECASE,
)
"""Statements that only sound like a question."""
_OF_OTHERS = re.compile(r"\W*(?:no\W+|nein\W+)?(?:he|she|they|er|sie|él|ella|ellos)\b", re.IGNORECASE)
"""How words begin that tell of somebody else."""


_BY_THE_WAY = re.compile(
    r",\s{1,3}(?:who|whom|whose|which|deren|dessen|quien|cuy[oa])\s[^,.;!?]{1,80}(?=[,.;!?]|\Z)"
)
"""What is said of somebody by the way: “my sister, who lives in Leeds, …”.

After “der” or “que”, main clauses may follow, too (“…, das macht mich traurig”).
"""


def without_tags(words: str) -> str:
    """Return words without questions around them that ask for nothing: “Honestly? …”, “…, you know?”."""
    said = _HEAD.sub("", _TAG.sub("", words))
    return said.rstrip(" ?") if _UNSURE.match(said) else said


def is_of_others(words: str) -> bool:
    """Return whether words begin with somebody else."""
    return bool(_OF_OTHERS.match(words))


def without_asides(words: str) -> str:
    """Return words without what they tell of somebody by the way."""
    return _BY_THE_WAY.sub("", words)
