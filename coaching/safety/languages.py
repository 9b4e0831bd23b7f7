"""The most explicit words of danger in other languages (`words/other-languages.txt`)."""

from typing import Literal

from coaching.safety.readable import readable
from coaching.safety.tables import read_table

_TABLE = read_table("other-languages")
_WISHES = tuple(readable(line) for line in _TABLE["wish"])
_NAMES = tuple(readable(line) for line in _TABLE["named"])
_DENIALS = ("no", "non", "nao", "ne", "nie", readable("не"))


def plain_words_in(plain: str) -> Literal["immediate", "concern"] | None:
    """Return the level of danger that a readable text names, or None."""
    if any(wish in plain and not _is_denied(plain, wish) for wish in _WISHES):
        return "immediate"
    return "concern" if any(name in plain for name in _NAMES) else None


def _is_denied(plain: str, wish: str) -> bool:
    before = plain[: plain.index(wish)].split()
    return bool(before) and before[-1] in _DENIALS
