"""Which language words are in: one of the tour's, another one that it knows by its commonest words, or none.

The words are in `hearing.toml`.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from coaching.practice.coach.texts import LANGUAGES, Language, read_table

PATTERNS: Mapping[str, Mapping[str, Any]] = read_table("hearing")
"""Common words and topics: `hearing.toml`."""
OTHER = "other"

_WORDS = {code: frozenset(words.split()) for code, words in PATTERNS["languages"].items()}
_SHARED = frozenset(PATTERNS["common"]["shared"].split())
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

_KNOWN_MARKS = str.maketrans(dict.fromkeys("áéíóúñüäöß", "a"))
"""Letters of German and Spanish, which show no other language."""

MAX_JUDGED_CHARACTERS = 2_000
"""Of these a text's language is judged."""
KNOWN_BEGINNINGS = 512
"""Texts whose language is remembered: each pattern asks for it again, of each message of a conversation."""


def language_of(text: str) -> str:
    """Return a text's language, `OTHER` for an unknown one, nothing for English or too few words.

    Only the beginning counts.
    """
    return _language_of(text[:MAX_JUDGED_CHARACTERS])


@lru_cache(maxsize=KNOWN_BEGINNINGS)
def _language_of(text: str) -> str:
    words = _words_of(text)
    letters = "".join(words)
    if not letters:
        return ""
    if 2 * sum("LATIN" not in unicodedata.name(letter, "LATIN") for letter in letters) > len(letters):
        return OTHER
    known = {code: sum(word in these for word in words) for code, these in _WORDS.items()}
    english = known.pop("english")
    if any(mark in text for mark in "¿¡"):
        known["es"] += 2
    code = max(known, key=known.__getitem__)
    if known[code] > english and (known[code] > 1 or len(words) <= 3):
        return code
    accented = sum(not word.translate(_KNOWN_MARKS).isascii() for word in words)
    return OTHER if len(words) > 3 and 2 * accented > len(words) > 2 * english else ""


def spoken_language(text: str) -> Language | None:
    """Return which of the tour's languages a text is in; None where that doesn't show, and for any other."""
    return _spoken_language(text[:MAX_JUDGED_CHARACTERS])


@lru_cache(maxsize=KNOWN_BEGINNINGS)
def _spoken_language(text: str) -> Language | None:
    if found := _language_of(text):
        return found if found in LANGUAGES else None
    words = _words_of(text)
    most = max(sum(word in these for word in words) for code, these in _WORDS.items() if code != "english")
    english = sum(word in _WORDS["english"] - _SHARED for word in words)
    return "en" if english > max(1, most) and 3 * english >= len(words) else None


def _words_of(text: str) -> Sequence[str]:
    return [word.lower().replace("’", "'") for word in _TOKEN.findall(text)]
