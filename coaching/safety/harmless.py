"""What only resembles danger: idioms, and contexts that change a phrase's meaning (`words/harmless.txt`).

An idiom is removed before the search, so it hides nothing else in its sentence. Pure; English.
"""

import re

from coaching.safety.tables import read_table, whole_words

_TABLE = read_table("harmless")
_IDIOM = whole_words(_TABLE["idioms"])

TOLD = whole_words(_TABLE["told"])
"""A film, a song, a book, the news."""
IMAGINED = whole_words([*_TABLE["imagined"], *_TABLE["joked"]])
STUDIED = whole_words(_TABLE["studied"])
"""What somebody studies, teaches or works with."""
AT_WORK = whole_words(_TABLE["at-work"])
MEANT = re.compile(rf"\b(?:{'|'.join(_TABLE['meant'])})")
"""Before the name of a thing: somebody intends to do it."""
NOT_A_DENIAL = whole_words(_TABLE["not-a-denial"])
BUT_WANTED = whole_words(_TABLE["but-wanted"])
ASKED = whole_words(_TABLE["asked"])
ANSWERED_YES = whole_words(_TABLE["answered-yes"])
LONG_PAST = whole_words(_TABLE["long-past"])
OTHERS_PAST = whole_words([*_TABLE["long-past"], *_TABLE["others-past"]])
"""When somebody died long ago; it may still hurt."""
ENDED = whole_words(_TABLE["ended"])
HAS_DIED = whole_words(_TABLE["has-died"])
NEAR = whole_words(_TABLE["near"])
"""When a death is so near, or so well understood, that whoever tells of it may need help."""
STILL = whole_words(_TABLE["still"])
"""Long past but not over."""
PAST_TENSE = whole_words(_TABLE["past-tense"])
CLIMBING = whole_words(_TABLE["climbing"])
ORDINARY = re.compile(rf"\W{{0,9}}(?:{'|'.join(_TABLE['ordinary'])})\W{{0,9}}")
"""Whole messages that are said of everyday things, whatever their words name or weigh."""
NO = re.compile(rf"(?<![\w-])(?:{'|'.join(_TABLE['no'])})")
"""How a denial begins."""
DENIED = re.compile(rf"{NO.pattern}(?: (?:{'|'.join(_TABLE['between'])})){{0,8}} ?$")
"""At the end of the text before a phrase: a denial that nothing ends."""
MAX_DENIAL_CHARACTERS = 260
"""What such a denial has at most after its first word: eight times a line of `between`."""
PRESENT = re.compile(
    r"\bi(?:'m| want| wish| feel| think| keep| can't| don't| need| will| have been)\b[^,.;]{0,30}$"
)


_ANSWER = re.compile(
    r"(?<!\W)\W++(?=(?:no|nope|nah|never|not at all|of course not|absolutely not|god no|hell no"
    r"|definitely not|not really|not anymore)\b(?! (?:one|idea|reason|way|point)\b))"
)
"""The characters between a question and its answer of no; the first `?` ends the question."""
_ENDS = ".!?\n;"


def without_answered_no(plain: str) -> str:
    """Return the text without the questions that it answers itself with a no."""
    kept: list[str] = []
    position = 0
    for found in _ANSWER.finditer(plain):
        mark = plain.find("?", found.start(), found.end())
        if mark < 0:
            continue
        question = max([position, *(plain.rfind(end, position, mark) + 1 for end in _ENDS)])
        kept += [plain[position:question], " ~ "]
        position = found.end()
    return "".join([*kept, plain[position:]])


def without_idioms(plain: str) -> str:
    """Return the text with each idiom taken out."""
    return _IDIOM.sub(" ~ ", plain)
