"""Normalises a person's words to the spelling of the phrases. Pure; English.

Handles hasty typing, words disguised from filters, and accents: lower case, plain apostrophes and quotes,
contractions with their apostrophe and short for long forms ("do not" becomes "don't"), letters for digits and
common typing errors in words of danger.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from coaching.safety.tables import needed_in, read_table

MAX_CHARACTERS = 20_000

_LETTERS = dict(zip("аеосрхуіјӏᴏ", "aeocpxyijlo", strict=True))  # Cyrillic and others that look Latin
_MARKS = {
    "’": "'", "‘": "'", "`": "'", "´": "'", "ʼ": "'", "′": "'",
    "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‟": '"', "″": '"',
    "–": " - ", "—": " - ", "…": "...", "\t": " ", "\r": "\n", "\u2028": "\n", "\u2029": "\n",
}  # fmt: skip
_ALIKE = _LETTERS | _MARKS

_TABLE = read_table("spellings")
_HIDDEN = frozenset(" ".join(_TABLE["hidden"]).split())
"""Words that people disguise or mistype."""
_WORDS: Mapping[str, str] = dict(line.split(" -> ") for line in _TABLE["words"])
_FORMS = tuple(
    (re.compile(form), short, needed_in(form))
    for form, _, short in (line.partition(" -> ") for line in _TABLE["forms"])
)
"""Two spellings of the same thing, applied in order, and the pieces of which a match contains one."""
_DIGITS = str.maketrans("013457@$!|", "oieastasii")
# Bounded lookahead: a run of a thousand characters would be read a thousand times.
_WITH_DIGIT = re.compile(
    r"(?<![\w'])(?=[\w@$!|]{0,13}[a-z])(?=[\w@$!|]{0,13}[013457@$!|])[\w@$!|]{3,14}(?!\w)"
)
_MASKED = re.compile(r"(?<!\w)[a-z]+[*#_.%-]{1,2}[a-z]+(?:[*#_.%-]{1,2}[a-z]+)?(?!\w)")
_MASK = re.compile(r"[^a-z]{1,2}")
_MASKED_LETTERS = (1, 2)
_HIDDEN_IN_ORDER = sorted(_HIDDEN)
_SPACED = re.compile(r"(?<![\w'])(?:[a-z][ ._*-]{1,2}){2,8}[a-z](?![\w'])")
_LONG = re.compile(r"\b\w*([a-z])\1{2,}\w*")
_RUN = re.compile(r"([a-z])\1{2,}")

_WORD = re.compile(
    rf"(?<![\w'/])(?:{'|'.join(sorted(map(re.escape, _WORDS), key=len, reverse=True))})(?![\w'])"
)

_SPACES = re.compile(r"[ \u00a0]+")


def readable(text: str) -> str:
    """Return the normalised text; line breaks stay. Truncated at a message's limit."""
    return readable_letters(plain_letters(text))


def readable_letters(plain: str) -> str:
    """Return the normalised text of plain letters (`plain_letters`)."""
    plain = _LONG.sub(_shortened, plain)
    plain = _SPACED.sub(_joined, plain)
    plain = _WITH_DIGIT.sub(_with_letters, plain)
    plain = _MASKED.sub(_unmasked, plain)
    plain = _WORD.sub(lambda found: _WORDS[found[0]], plain)
    plain = _SPACES.sub(" ", plain)
    for pattern, short, needs in _FORMS:
        if not needs or any(piece in plain for piece in needs):
            plain = pattern.sub(short, plain)
    return plain


def plain_letters(text: str) -> str:
    """Return the text in lower case with Latin letters, without accents and invisible characters."""
    plain = _replaced(text[:MAX_CHARACTERS], _MARKS)
    if plain.isascii():
        return plain[:MAX_CHARACTERS].lower()  # nothing else is to be normalised in it
    plain = unicodedata.normalize("NFKC", plain)[:MAX_CHARACTERS]
    invisible = (letter for letter in set(plain) if unicodedata.category(letter) == "Cf")
    plain = _replaced(plain, dict.fromkeys(invisible, "")).casefold()
    return without_accents(_replaced(plain, _ALIKE))  # so that lookalike letters match


def without_accents(plain: str) -> str:
    """Return the text with `u` for `ü` and `e` for `é`."""
    if plain.isascii():
        return plain
    parted = unicodedata.normalize("NFD", plain)
    return _replaced(parted, dict.fromkeys(filter(unicodedata.combining, set(parted)), ""))


def _replaced(text: str, letters: Mapping[str, str]) -> str:
    """Return the text with some letters replaced, by none of which another one is replaced.

    For the few that a text has, this takes a fraction of the time of `str.translate`.
    """
    for letter in letters.keys() & set(text):
        text = text.replace(letter, letters[letter])
    return text


def _shortened(found: re.Match[str]) -> str:
    """`dieeee` becomes die; other words keep two letters of a run."""
    once = _RUN.sub(r"\1", found[0])
    return once if once in _HIDDEN else _RUN.sub(r"\1\1", found[0])


def _joined(found: re.Match[str]) -> str:
    """`d i e` becomes die, also after a separate `i`."""
    letters = re.sub(r"[^a-z]", "", found[0])
    if letters in _HIDDEN or letters in _WORDS:
        return letters
    if letters[0] == "i" and letters[1:] in _HIDDEN:
        return f"i {letters[1:]}"
    return found[0]


def _with_letters(found: re.Match[str]) -> str:
    words = (found[0].translate(_DIGITS), found[0].replace("1", "l").translate(_DIGITS))
    return next((word for word in words if word in _HIDDEN), found[0])


def _unmasked(found: re.Match[str]) -> str:
    """`k*ll` becomes kill."""
    parts = _MASK.split(found[0])
    plain = "".join(parts)
    if plain in _HIDDEN:
        return plain
    return next((word for word in _HIDDEN_IN_ORDER if _fits(word, parts)), found[0])


def _fits(word: str, parts: Sequence[str]) -> bool:
    """Return whether a word has these parts, with one or two letters between each."""
    first, *middle, last = parts
    if not (word.startswith(first) and word.endswith(last)):
        return False
    between = word[len(first) : len(word) - len(last)]
    if not middle:
        return len(word) == len(first) + len(between) + len(last) and len(between) in _MASKED_LETTERS
    (inner,) = middle
    return any(
        between.startswith(inner, gap) and len(between) - gap - len(inner) in _MASKED_LETTERS
        for gap in _MASKED_LETTERS
    )
