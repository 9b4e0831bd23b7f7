"""Whether somebody mourns: a death, an animal's, a pregnancy's (`words/grief.txt`).

Grief is no danger and no crisis: it loads an approach of its own. Danger in it has rules of its own. Only the
beginning of a message is read. Pure; no text is stored.
"""

import re
from functools import cache

from coaching.safety.languages import LANGUAGES, languages_in
from coaching.safety.readable import without_accents
from coaching.safety.tables import read_table

MAX_CHARACTERS = 3_000

_TABLE = read_table("grief")
_TOLD = re.compile(
    r"\b(?:the|a|this) (?:film|movie|book|song|series|novel|character|game|show)\b|\bin the news\b"
)


def is_grief(text: str) -> bool:
    """Return whether the text speaks of somebody's loss."""
    plain = without_accents(text[:MAX_CHARACTERS].replace("’", "'").lower())
    if _pattern("english").search(plain):
        return not _TOLD.search(plain)
    return any(_pattern(language).search(plain) for language in languages_in(plain) if language in LANGUAGES)


@cache
def _pattern(language: str) -> re.Pattern[str]:
    lines = "|".join(_TABLE[language]).replace("<who>", f"(?:{'|'.join(_TABLE['who-english'])})")
    return re.compile(rf"(?<!\w)(?:{lines})(?!\w)")
