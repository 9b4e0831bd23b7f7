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
STILL = whole_words(_TABLE["still"])
"""Long past but not over."""
PAST_TENSE = whole_words(_TABLE["past-tense"])
CLIMBING = whole_words(_TABLE["climbing"])
DENIED = re.compile(
    rf"(?<![\w-])(?:{'|'.join(_TABLE['no'])})(?: (?:{'|'.join(_TABLE['between'])})){{0,8}} ?$"
)
"""At the end of the text before a phrase: a denial that nothing ends."""
PRESENT = re.compile(
    r"\bi(?:'m| want| wish| feel| think| keep| can't| don't| need| will| have been)\b[^,.;]{0,30}$"
)


_ANSWERED_NO = re.compile(
    r"[^.!?\n;]*\?\W*(?=(?:no|nope|nah|never|not at all|of course not|absolutely not|god no|hell no"
    r"|definitely not|not really|not anymore)\b(?! (?:one|idea|reason|way|point)\b))"
)


def without_answered_no(plain: str) -> str:
    """Return the text without the questions that it answers itself with a no."""
    return _ANSWERED_NO.sub(" ~ ", plain)


def without_idioms(plain: str) -> str:
    """Return the text with each idiom taken out."""
    return _IDIOM.sub(" ~ ", plain)
