"""How many of a text's words another one has."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_BROKEN = re.compile("[-\u00ad\u2010]\n[ \t]*")
"""Where a line ends within a word."""
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
FEWEST_LETTERS = 4
"""Shorter lines stand in any text."""
# A sign of its own in scripts that don't separate words.
_WORD = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    "|[^\\W_\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)


def words(text: str) -> Counter[str]:
    """Return the words, in small letters, and how often each stands there."""
    plain = unicodedata.normalize("NFKC", text.replace("\r\n", "\n")).lower()
    return Counter(_WORD.findall(_UNSEEN.sub("", _BROKEN.sub("", plain))))


def agreed(readings: Iterable[Counter[str]]) -> Counter[str]:
    """Return the words that several readings of a text have: of the counts of a word, the middle one.

    Of two readings it is the smaller one. A reading without words doesn't count.
    """
    counted = [reading for reading in readings if reading]
    return Counter(
        {
            word: sorted(reading[word] for reading in counted)[(len(counted) - 1) // 2]
            for word in set().union(*counted)
        }
    )


def recall(reference: Counter[str], found: Counter[str]) -> float:
    """Return the share of the reference's words that were found."""
    return (reference & found).total() / reference.total()


def in_lines(reference: str, own: str) -> Counter[str]:
    """Return the words of those lines of a reference that stand in a text somewhere, spaces aside.

    Programs see words differently where a PDF places each letter, and break lines differently.
    """
    everything = _squeezed(own)
    return Counter(
        word
        for line in reference.splitlines()
        if len(squeezed := _squeezed(line)) >= FEWEST_LETTERS and squeezed in everything
        for word in words(line).elements()
    )


def _squeezed(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).lower()
    return "".join(_WORD.findall(_UNSEEN.sub("", plain)))
