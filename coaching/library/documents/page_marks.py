"""Finds a quote among the words of a text or of a drawn page. Pure.

Letters and digits alone are compared: where words are divided, which signs are between them, and how their
characters are encoded may differ. A quote was found in the document's text before it was stored.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

MIN_CHARACTERS = 8
"""Of a quote's beginning, where the rest isn't there: a page ends in the middle of a sentence."""
MIN_SHARE = 0.5
"""The same, of the letters of the whole quote."""
MAX_WORDS_AFTER = 8
"""Between a quote's beginning and the end of the page: its number, or a line at its foot."""
MAX_PLACES = 1_000
"""How many places are looked at for one where a word begins."""
_WORD = re.compile(r"[^\W_]+")
_CLOSING = re.compile(r"(?<=[^\W_])[\W_]++$")
_MARGIN = 25
"""Around words, so that the frame of a mark doesn't cover their letters."""
_SAME_LINE = 0.5
"""Words share a line if they overlap in height by so much of the lower one."""
_WORD_GAP = 3
"""Words of a line that are further apart than so many of its heights are in different columns."""

Box = tuple[int, int, int, int]
"""Left, top, right and bottom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A rectangle of a page, in the units of its words' boxes."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Where a quote stands on a page: one rectangle a line, none if it isn't there.

    Without `is_whole` only its beginning is there.
    """

    lines: Sequence[Mark] = ()
    is_whole: bool = True


NO_MARKS = Marks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A text, and the part of it that a quote repeats; empty if it isn't there.

    Without `is_whole` only the quote's beginning is there.
    """

    before: str
    mark: str = ""
    after: str = ""
    is_whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The numbers of the first and the last word of a quote, or of its beginning."""

    first: int
    last: int
    is_whole: bool


def marks_of(words: Sequence[Sequence[Any]], quote: str) -> Marks:
    """Return where a quote stands among the words of a page."""
    found = _find([str(word[0]) for word in words], quote)
    if found is None:
        return NO_MARKS
    last = found.last
    unit = quote.rsplit(maxsplit=1)[-1]
    if found.is_whole and last + 1 < len(words) and not _plain(unit) and words[last + 1][0] == unit:
        last += 1  # a sign of its own, such as that of a currency
    boxes = [(left, top, right, bottom) for _, left, top, right, bottom in words[found.first : last + 1]]
    lines = list(_lines([box for box in boxes if box[0] < box[2] and box[1] < box[3]]))
    return Marks(lines=lines, is_whole=found.is_whole)


def marked(text: str, quote: str) -> Marked:
    """Return a text with the part that a quote repeats. Its accents are part of their letters then."""
    text = unicodedata.normalize("NFC", text)
    words = list(_WORD.finditer(text))
    found = _find([word[0] for word in words], quote)
    if found is None:
        return Marked(before=text)
    start, end = words[found.first].start(), words[found.last].end()
    closing = _CLOSING.search(quote)
    if found.is_whole and closing and text.startswith(closing[0], end):
        end += len(closing[0])
    return Marked(before=text[:start], mark=text[start:end], after=text[end:], is_whole=found.is_whole)


def _find(words: Sequence[str], quote: str) -> _Found | None:
    """Return the words of a quote, or of its beginning if that is where the page ends."""
    starts, parts, position = [], [], 0
    for word in words:
        starts.append(position)
        parts.append(_plain(word))
        position += len(parts[-1])
    whole = "".join(parts)
    wanted = [plain for each in quote.split() if (plain := _plain(each))]
    asked = "".join(wanted)
    if not asked:
        return None
    at = _place(whole, asked, starts)
    if at is not None:
        return _Found(first=_word_at(starts, at), last=_word_at(starts, at + len(asked) - 1), is_whole=True)
    beginning = _longest_beginning(whole, wanted)
    if len(beginning) < max(MIN_CHARACTERS, MIN_SHARE * len(asked)):
        return None
    at = whole.rindex(beginning)
    first, last = _word_at(starts, at), _word_at(starts, at + len(beginning) - 1)
    is_at_end = last + MAX_WORDS_AFTER >= len(words) - 1
    return _Found(first=first, last=last, is_whole=False) if is_at_end else None


def _word_at(starts: Sequence[int], place: int) -> int:
    """Return the number of a letter's word. Words without letters share their start with the next one."""
    return bisect_right(starts, place) - 1


def _longest_beginning(whole: str, wanted: Sequence[str]) -> str:
    """Return as many of the first words of a quote as stand together anywhere."""
    asked = "".join(wanted)
    ends = [0, *accumulate(map(len, wanted))]
    return asked[: ends[bisect_left(ends, True, key=lambda end: asked[:end] not in whole) - 1]]


def _place(whole: str, asked: str, starts: Sequence[int]) -> int | None:
    """Return where a quote begins: where a word does, if it does in one of the first places."""
    first = at = whole.find(asked)
    for _ in range(MAX_PLACES):
        if at < 0:
            break
        if starts[_word_at(starts, at)] == at:
            return at
        at = whole.find(asked, at + 1)
    return first if first >= 0 else None


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower() if text.isalnum() else "".join(filter(str.isalnum, text)).lower()
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _lines(boxes: Sequence[Box]) -> Iterator[Mark]:
    """Yield one rectangle for neighbours in one line."""
    line: Box | None = None
    for box in boxes:
        if line is not None and _is_beside(line, box):
            line = (min(line[0], box[0]), min(line[1], box[1]), max(line[2], box[2]), max(line[3], box[3]))
            continue
        if line is not None:
            yield _mark(line)
        line = box
    if line is not None:
        yield _mark(line)


def _is_beside(line: Box, box: Box) -> bool:
    lower = min(line[3] - line[1], box[3] - box[1])
    overlap = min(line[3], box[3]) - max(line[1], box[1])
    gap = max(box[0] - line[2], line[0] - box[2])
    return overlap >= _SAME_LINE * lower and gap <= _WORD_GAP * (line[3] - line[1])


def _mark(box: Box) -> Mark:
    left, top, right, bottom = box
    left, top = max(0, left - _MARGIN), max(0, top - _MARGIN)
    return Mark(left=left, top=top, width=right + _MARGIN - left, height=bottom + _MARGIN - top)
