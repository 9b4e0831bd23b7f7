"""Finds a quote among the words of a text or of a drawn page. Pure.

Letters and digits alone are compared: where words are divided, which signs are between them, and how their
characters are encoded may differ. A quote was found in the document's text before it was stored.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MIN_CHARACTERS = 8
"""Of a quote's beginning, where the rest isn't there: a page ends in the middle of a sentence."""
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
class Marked:
    """A text, and the part of it that a quote repeats; empty if it isn't there."""

    before: str
    mark: str = ""
    after: str = ""


def marks_of(words: Sequence[Sequence[Any]], quote: str) -> Sequence[Mark]:
    """Return where a quote stands on a page, one rectangle a line; none if it isn't there."""
    found = _span([str(word[0]) for word in words], quote)
    if found is None:
        return []
    first, last = found
    unit = quote.rsplit(maxsplit=1)[-1]
    if last + 1 < len(words) and not _plain(unit) and words[last + 1][0] == unit:
        last += 1  # a sign of its own, such as that of a currency
    boxes = [(left, top, right, bottom) for _, left, top, right, bottom in words[first : last + 1]]
    return list(_lines([box for box in boxes if box[0] < box[2] and box[1] < box[3]]))


def marked(text: str, quote: str) -> Marked:
    """Return a text with the part that a quote repeats."""
    words = list(_WORD.finditer(text))
    found = _span([word[0] for word in words], quote)
    if found is None:
        return Marked(before=text)
    start, end = words[found[0]].start(), words[found[1]].end()
    closing = _CLOSING.search(quote)
    if closing and text.startswith(closing[0], end):
        end += len(closing[0])
    return Marked(before=text[:start], mark=text[start:end], after=text[end:])


def _span(words: Sequence[str], quote: str) -> tuple[int, int] | None:
    """Return the first and the last word of a quote, or of as much of its beginning as is there."""
    starts, parts, position = [], [], 0
    for word in words:
        starts.append(position)
        parts.append(_plain(word))
        position += len(parts[-1])
    whole = "".join(parts)
    wanted = [plain for each in quote.split() if (plain := _plain(each))]
    while wanted:
        asked = "".join(wanted)
        at = _place(whole, asked, starts)
        if at is not None:
            # Words without letters share their start with the next one, which is the last of them.
            return bisect_right(starts, at) - 1, bisect_right(starts, at + len(asked) - 1) - 1
        wanted.pop()
        if sum(map(len, wanted)) < MIN_CHARACTERS:
            return None
    return None


def _place(whole: str, asked: str, starts: Sequence[int]) -> int | None:
    """Return where a quote begins: where a word does, if it does anywhere."""
    first = at = whole.find(asked)
    while at >= 0:
        if starts[bisect_right(starts, at) - 1] == at:
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
