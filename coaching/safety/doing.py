"""Words that say only when "it" will be done: "OK, I'll do it tonight." What it is, Sage's last words tell.

By themselves they count as danger. Where Sage's last sentence proposes something, and nothing that it said is
about harm, means or worry, they agree to that, and no answer is more usual. Known in English, the only
language with a phrase of danger for them. Pure.
"""

import re

from coaching.safety.answers import asks_about_harm, last_sentence
from coaching.safety.known_texts import find_danger_once
from coaching.safety.readable import plain_letters

MAX_CHARACTERS = 120
_PROPOSES = re.compile(
    r"\b(?:(?:you|we) (?:could|might)|could (?:you|we)|shall (?:i|we)|(?:how|what) about|what if (?:you|we)"
    r"|when (?:will|could|would|do) you|let's|next steps?)\b"
)
_WORRIES = re.compile(
    r"\b(?:pills?|tablets?|medic\w*|meds|dos(?:e|es|age)|overdos\w*|kni(?:fe|ves)|blades?|razors?|guns?|ropes?"
    r"|bridges?|roofs?|rails?|tracks|poison\w*|bleach|how (?:much|many)|drawer|alone|safe\w*|promise me"
    r"|worr(?:y|ied)|hurt\w*|harm\w*|di(?:e|es|ed)|dying|death|dead|kill\w*|suicid\w*|miss you|without you"
    r"|burden|goodbye|hospital|crisis|help ?lines?|emergency|stay with (?:me|us|you)"
    r"|put (?:it|them) (?:away|somewhere))\b"
)
_BEFORE = (
    r"ok(?:ay)?|sure|y(?:es|eah|ep)|fine|(?:all ?)?right|al?right|good (?:idea|point|call|plan)|great|cool"
    r"|perfect|deal|thanks?|thank you|sounds good|whatever|h+m+|well|then|so|and|oh|no problem"
    r"|you(?:'re| are) right|fair enough|i know|i promise|promise"
)
_TIMES = (
    r"tonight|today|tomorrow|later|(?:right )?(?:now|away)|soon|morning|afternoon|evening|night"
    r"|this (?:morning|afternoon|evening|weekend)|first thing"
    r"|(?:at|around|by) \d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?"
    r"|(?:after|before) (?:work|school|uni|class|lunch|dinner|breakfast|training"
    r"|(?:the|my) (?:gym|shift|meeting|run))"
)
_DOES_IT = re.compile(
    rf"\W{{0,5}}(?:(?:{_BEFORE})\b\W{{1,5}}){{0,4}}"
    r"(?:(?:i think |i guess )?(?:i(?:'ll| will|ll)|i(?:'m|m| am) (?:going to|gonna)|i can|let me) "
    r"(?:just |probably |definitely |try (?:to|and) )?do it"
    rf"(?: (?:{_TIMES})\b){{1,3}}|i(?:'m|m| am) doing it (?:later|tomorrow|today|tonight))"
    r"(?:\W{1,5}(?:then|instead|i promise|promise|for sure|definitely|thanks|thank you)\b){0,2}\W{0,5}"
)


def agrees_to_do(words: object, *, asked: str) -> bool:
    """Return whether words only say when what Sage has just proposed will be done, and that is harmless."""
    if (
        not isinstance(words, str)
        or len(words) > MAX_CHARACTERS
        or not _DOES_IT.fullmatch(plain_letters(words))
    ):
        return False
    if not _PROPOSES.search(last_sentence(asked)) or _WORRIES.search(plain_letters(asked)):
        return False
    return find_danger_once(asked) is None and not asks_about_harm(asked)
