"""The names that programs give themselves: one line of what can be seen, and not Sage's own name.

A name stays the program's claim. Beside it, the page of consent shows where the program has people sent back
to, and that nobody has verified it.
"""

import re
import unicodedata
from collections.abc import Iterator

from coaching.models.programs import MAX_NAME
from sessions_app.errors import Refused

WRONG_NAME = (
    "A client_name has letters, doesn’t begin with “Sage”, and has no word with letters of several alphabets."
)
_MAX_MARKS = 2
"""Accents on one letter. More of them would cover other lines."""
_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Printable characters, some of them letters, that show nothing."""
_ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
"""Alphabets with letters that look alike, as Unicode's names of their letters begin."""
_LOOKALIKES = {
    "s": "\u0455\ua731\ua4e2\u13da\u13d5",
    "a": "\u0430\u0251\u1d00\ua4ee\u13aa",
    "g": "\u050d\u0261\u0262\ua4d6\u13c0",
    "e": "\u0435\u1d07\ua4f0\u13ac",
}
_PLAIN = str.maketrans({letter: plain for plain, letters in _LOOKALIKES.items() for letter in letters})
_WORD = re.compile(r"[^\W_]+")


def shown_name(given: str) -> str:
    """Return a program's name as people are shown it, cut off if it is too long. Raises `Refused`."""
    name = " ".join("".join(_seen(unicodedata.normalize("NFC", " ".join(given.split())))).split())
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME - 1].rstrip()}…"
    words = _WORD.findall(_as_read(name))
    if not words or "sage" in (words[0], "".join(words)) or any(map(_is_mixed, name.split())):
        raise Refused(WRONG_NAME)
    return name


def _seen(line: str) -> Iterator[str]:
    """Yield the characters that show something: no controls, changes of direction or spaces without width."""
    marks = 0
    for character in line:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if character.isprintable() and character not in _UNSEEN and marks <= _MAX_MARKS:
            yield character


def _as_read(name: str) -> str:
    """Return what somebody reads who doesn't read closely: plain small letters without accents."""
    parts = unicodedata.normalize("NFKD", name)
    return "".join(each for each in parts if not unicodedata.combining(each)).casefold().translate(_PLAIN)


def _is_mixed(word: str) -> bool:
    """Return whether a word has letters of several alphabets that look alike, as no real word has."""
    alphabets = {unicodedata.name(each, "").partition(" ")[0] for each in word if each.isalpha()}
    return len(alphabets & _ALPHABETS) > 1
