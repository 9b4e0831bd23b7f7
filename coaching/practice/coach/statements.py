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


_FELT = (
    r"angry|mad|furious|annoyed|sad|hurt|scared|afraid|anxious|nervous|worried|tired|exhausted|lonely|bored"
    r"|ashamed|guilty|disappointed|upset|happy|proud|relieved|jealous"
    r"|wütend|sauer|zornig|genervt|traurig|verletzt|ängstlich|nervös|besorgt|müde|erschöpft|einsam|gelangweilt"
    r"|enttäuscht|froh|glücklich|stolz|erleichtert|neidisch"
    r"|enfadad[oa]|furios[oa]|triste|dolid[oa]|herid[oa]|asustad[oa]|nervios[oa]|preocupad[oa]|cansad[oa]"
    r"|agotad[oa]|sol[oa]|aburrid[oa]|avergonzad[oa]|decepcionad[oa]|feliz|orgullos[oa]|aliviad[oa]"
)
_COMPARED = re.compile(
    rf"\b(?:more|rather|mehr|eher|más)\s(\w{{1,30}})\s(?:than|als|que)\s(?:{_FELT})\b", re.IGNORECASE
)
"""What somebody feels rather than something else: “more hurt than angry”."""


_LONGED_FOR = re.compile(
    r"\b(?:i['’]?d|i would) (?:give (?:anything|everything)|settle for|be happy with)\b[^.!?;,\n]{0,120}"
    r"|\bich (?:gäbe alles|würde alles (?:dafür )?geben|wäre schon (?:froh|zufrieden))\b[^.!?;\n]{0,120}"
    r"|\b(?:daría (?:lo que fuera|cualquier cosa|todo)|me conform(?:o|aría) con)\b[^.!?;,\n]{0,120}",
    re.IGNORECASE,
)
"""What somebody would be glad of, which is no wish to the tour and no mood."""
_MISSED = re.compile(
    r"\b(i (?:really |so )?miss)\b[^.!?;,\n]{0,60}\b(?:jok(?:es?|ing)|bored|boring|laugh\w{0,4})\b",
    re.IGNORECASE,
)


_OWN_QUESTION = re.compile(
    r"\A\W{0,3}(?!(?:was|wie|wo|wer|wann|warum|wieso|what|how|where|who|when|why|qu[eé]|c[oó]mo|qui[eé]n|d[oó]nde"
    r"|cu[aá]ndo|por|and|und|y|echt|really|en)\b)((?:[\w'’]{1,20}\W{1,2}){0,2}[\w'’]{1,20})\?(?=\s{1,3}[^?]{3,300}\Z)",
    re.IGNORECASE,
)
"""A few words at the beginning that only wonder about the answer: “Sad? He was fourteen.”"""


_JUDGES = re.compile(
    r"\b(?:hate[sd]?|failures?|worthless|useless|deserv\w*|ruin\w*|disgust\w*|worst|nobody|no one"
    r"|not (?:good )?enough"
    r"|cowards?|liars?|losers?|burden|pathetic|unlovable|idiots?|not good at|good for nothing|ugly"
    r"|hass(?:e|t|en)|versager\w*"
    r"|wertlos\w*|nutzlos\w*|verdien\w*|ruin\w*|widerlich\w*|ekelhaft\w*|feigling\w*|lügner\w*"
    r"|niemand|nicht genug|belastung|hässlich\w*|erbärmlich\w*|abschaum|dumm\w*"
    r"|odia\w*|fracas\w*|in[uú]til\w*|merezco|arruin\w*|asco|asqueros\w*|cobarde\w*|mentiros\w*|nadie"
    r"|no (?:soy )?suficiente|una carga|perdedor\w*|fe[oa]|patétic\w*)\b",
    re.IGNORECASE,
)
"""How somebody judges themselves, or says who does: said back, it would be the tour's judgement."""


def as_meant(words: str) -> str:
    """Return words without what they only name: “more hurt than angry” is hurt.

    What somebody longs for is neither asked of the tour nor felt: “I'd give anything to be bored by that”.
    """
    said = _MISSED.sub(r"\1 them", _COMPARED.sub(r"\1", words))
    kept = _LONGED_FOR.sub("", said)
    is_more = kept != said and any(each.isalpha() for each in kept)
    return " ".join(kept.split()) if is_more else said


def without_tags(words: str) -> str:
    """Return words without questions around them that ask for nothing: “Honestly? …”, “…, you know?”."""
    said = _OWN_QUESTION.sub(r"\1.", _HEAD.sub("", _TAG.sub("", words)))
    return said.rstrip(" ?") if _UNSURE.match(said) else said


def is_of_others(words: str) -> bool:
    """Return whether words begin with somebody else."""
    return bool(_OF_OTHERS.match(words))


def without_asides(words: str) -> str:
    """Return words without what they tell of somebody by the way."""
    return _BY_THE_WAY.sub("", words)


def judges(words: str) -> bool:
    """Return whether words judge somebody so harshly that they aren't said back."""
    return bool(_JUDGES.search(words))
