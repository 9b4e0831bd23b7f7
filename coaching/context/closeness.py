"""Compares lines of a brief by their words, so that a model can't bring a line back by rewording it slightly.

Order, case, punctuation, citations, inserted words and inflection don't count. Long words count more than
short ones; a number or a name that was replaced makes another fact. It knows no language, and so no synonyms:
what is said in other words is left to the brief's instructions.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz import fuzz
from rapidfuzz.distance import Prefix

CLOSE_PERCENT = 90.0
ALIKE_PERCENT = 85.0
"""Of their words, where the characters of two lines are close: a short word may differ then."""
TYPO_PERCENT = 80.0
SAME_PERCENT = 98.0
WHOLE_PERCENT = 100.0
"""Of a line that says a part of another: one more word may make it another fact."""
MOST_PERCENT = 80.0
"""Of a line that adds little to another text: the words around what was promised, or its former date."""
LEAST_CHARACTERS = 16
"""A shorter text says too little to be looked for inside a longer one."""
CITATION = re.compile(r"\[\s*(\d{1,9}(?:\s*[,;]\s*\d{1,9})*)\s*\]")

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
"""Of scripts without spaces each character is a word."""
_WORDS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_MAX_WEIGHT = 6
_NUMBER_WEIGHT = 4
_WORD_ENDING = 2
_STEM_LETTERS = 4
_ENDING_LETTERS = 4
_SHORT_ENDINGS = ("s", "ed", "er", "es", "ing")
_KEPT_LINES = 4_096


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    weight: int
    is_name: bool
    is_number: bool


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    words: tuple[_Word, ...]
    weight: int
    beginnings: frozenset[str]
    """The first letter of each word, by which most lines can be told apart quickly."""


def closeness(one: str, other: str) -> float:
    """Return how close two lines are in percent, by their characters in either order of words."""
    first, second = _read(one), _read(other)
    if not (first.words and second.words):
        return 0.0
    ratio = fuzz.ratio(first.text, second.text)
    return ratio if ratio >= CLOSE_PERCENT else max(ratio, fuzz.token_sort_ratio(first.text, second.text))


def is_close(one: str, other: str) -> bool:
    """Return whether two lines say the same in nearly the same words."""
    first, second = _read(one), _read(other)
    percent = ALIKE_PERCENT if closeness(one, other) >= CLOSE_PERCENT else CLOSE_PERCENT
    is_alike = _is_covered(first, second, percent) and _is_covered(second, first, percent)
    return is_alike and not _names_another(first, second)


def is_said_in(struck: str, line: str) -> bool:
    """Return whether a line says the struck one: in close words, as a part of it, or only a part of it."""
    if is_close(struck, line):
        return True
    first, second = _read(struck), _read(line)
    if min(len(first.text), len(second.text)) < LEAST_CHARACTERS:
        return False
    is_part = _is_within(first, second, CLOSE_PERCENT) or _is_within(second, first, WHOLE_PERCENT)
    return is_part and not _names_another(first, second)


def says_struck(struck: str, sentence: str) -> bool:
    """Return whether a sentence says the struck line, or has it as its word where that is a word or two."""
    if len(struck) < LEAST_CHARACTERS and has_word(struck.casefold(), sentence.casefold()):
        return True
    return is_said_in(struck, sentence)


def has_word(word: str, text: str) -> bool:
    """Return whether a text has a word or words, also with a short ending; both without capitals."""
    start = text.find(word) if word else -1
    while start >= 0:
        end = start + len(word)
        rest = text[end : end + _WORD_ENDING + 1]
        ending = next((place for place, letter in enumerate(rest) if not letter.isalnum()), len(rest))
        if ending <= _WORD_ENDING and not (start and text[start - 1].isalnum()):
            return True
        start = text.find(word, start + 1)
    return False


def is_mostly_in(line: str, text: str) -> bool:
    """Return whether a text says most of what a line says, in whatever order."""
    return _is_covered(_read(line), _read(text), MOST_PERCENT)


def without_struck(lines: Sequence[str], struck: Sequence[str]) -> list[str]:
    """Return the lines that say none of the struck ones, neither alone nor split into two of them."""
    whole = _without_split(lines, struck)
    kept = [line for line in whole if not any(is_said_in(each, line) for each in struck)]
    return _without_split(kept, struck)


def _without_split(lines: Sequence[str], struck: Sequence[str]) -> list[str]:
    kept = list(lines)
    while (first := next(_split_over(kept, struck), None)) is not None:
        del kept[first : first + 2]
    return kept


def _split_over(lines: Sequence[str], struck: Sequence[str]) -> Iterator[int]:
    """Find two neighbouring lines that say a struck one together and nothing else."""
    for index, (line, following) in enumerate(pairwise(lines)):
        both = _read(f"{line} {following}")
        for whole in map(_read, struck):
            if _is_covered(both, whole, WHOLE_PERCENT) and _is_covered(whole, both, CLOSE_PERCENT):
                yield index


@lru_cache(maxsize=_KEPT_LINES)
def _read(line: str) -> _Line:
    words = tuple(_word(text) for text in _WORDS.findall(CITATION.sub(" ", line)))
    return _Line(
        text=" ".join(word.text for word in words),
        words=words,
        weight=sum(word.weight for word in words),
        beginnings=frozenset(word.text[:1] for word in words),
    )


def _word(written: str) -> _Word:
    is_number = any(character.isdigit() for character in written)
    parts = unicodedata.normalize("NFKD", written.casefold())
    text = "".join(part for part in parts if not unicodedata.combining(part))
    return _Word(
        text=text,
        weight=_NUMBER_WEIGHT if is_number else _weight_of(text),
        is_name=written[0].isupper() and len(text) > 2,
        is_number=is_number,
    )


def _weight_of(text: str) -> int:
    return 1 if re.fullmatch(rf"[{_UNSPACED}]", text) else max(0, min(len(text) - 2, _MAX_WEIGHT))


def _is_covered(one: _Line, other: _Line, percent: float) -> bool:
    """Return whether that much of what one line says is in the other."""
    needed = one.weight * percent / 100
    likely = sum(word.weight for word in one.words if word.text[:1] in other.beginnings)
    return bool(one.weight) and likely >= needed and _covered_weight(one, other.words) >= needed


def _is_within(one: _Line, other: _Line, percent: float) -> bool:
    """Return whether that much of what one line says is in one place of the other."""
    if not _is_covered(one, other, percent):
        return False
    width = len(one.words) * 3 // 2 + 2
    starts = range(max(0, len(other.words) - width) + 1)
    needed = one.weight * percent / 100
    return any(_covered_weight(one, other.words[start : start + width]) >= needed for start in starts)


def _covered_weight(one: _Line, words: Sequence[_Word]) -> int:
    return sum(word.weight for word in one.words if any(_is_same(word, other) for other in words))


def _names_another(one: _Line, other: _Line) -> bool:
    """Return whether each has a number, or each a name, that the other lacks."""
    first = [word for word in one.words if not any(_is_same(word, known) for known in other.words)]
    second = [word for word in other.words if not any(_is_same(word, known) for known in one.words)]
    has_other_number = any(word.is_number for word in first) and any(word.is_number for word in second)
    has_other_name = any(word.is_name for word in first) and any(word.is_name for word in second)
    return has_other_number or has_other_name


def _is_same(one: _Word, other: _Word) -> bool:
    """Return whether two words are the same but for their ending or a slip."""
    if one.text == other.text:
        return True
    if one.is_number or other.is_number or one.text[:1] != other.text[:1]:
        return False
    short, long = sorted((one.text, other.text), key=len)
    if len(short) < _STEM_LETTERS:
        return len(short) == _STEM_LETTERS - 1 and long.removeprefix(short) in _SHORT_ENDINGS
    common = Prefix.similarity(short, long)
    if common >= _STEM_LETTERS and common * 2 >= len(long) and len(long) - common <= _ENDING_LETTERS:
        return True
    is_name = one.is_name and other.is_name
    return len(short) > _STEM_LETTERS and not is_name and fuzz.ratio(short, long) >= TYPO_PERCENT
