"""The part of a passage that answers, and which of its words the question has too."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

_WORD = re.compile(r"\w+")
_ENDING = 4
"""How many letters two forms of a word may differ by at their end."""
_SHORTEST_STEM = 3
_MAX_WORDS = 32
_NO_BREAKS = "\u0e00"
"""Scripts from here on have no word breaks, or write particles onto words."""
_LINE_MARKS = re.compile(r"^(?:[ \t]*+(?:#{1,6}[ \t]+|>[ \t]?|```.*$)|[-|: \t]{3,}+$)", re.MULTILINE)
_ITEM_MARKS = re.compile(r"^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.+)\|[ \t]*$", re.MULTILINE)
_WORD_MARKS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=[\w.,!?])[*_](?!\w)")
_UNMARKED = frozenset(
    {"about", "and", "are", "been", "can", "could", "did", "does", "for", "from", "had", "has", "have", "how",
     "that", "the", "their", "them", "then", "there", "they", "this", "was", "were", "what", "when", "where",
     "which", "who", "whom", "whose", "why", "will", "with", "would", "you", "your"}
)  # fmt: skip
"""Words of any question, which say nothing where they stand in a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A run of an excerpt's text; `is_match` where it is a word of the question."""

    text: str
    is_match: bool


def words_of(question: str) -> frozenset[str]:
    """Return a question's first words in lower case; of a script without word breaks, their pairs too."""
    return frozenset(islice(dict.fromkeys(_own_words(question)), _MAX_WORDS))


def _own_words(question: str) -> Iterator[str]:
    for found in _WORD.finditer(question.lower()):
        word = found[0]
        if word[0] >= _NO_BREAKS:
            yield word
            yield from (word[place : place + 2] for place in range(len(word) - 1))
        elif len(word) > 2 and word not in _UNMARKED:
            yield word


def without_marks(markdown: str) -> str:
    """Return markdown without its marks; dots are between the items of lists and the cells of tables."""
    lines = _ROW.sub(_cells, _LINE_MARKS.sub("", markdown))
    return _WORD_MARKS.sub("", _ITEM_MARKS.sub("· ", lines))


def _cells(row: re.Match[str]) -> str:
    return " · ".join(cell.strip() for cell in row[1].split("|") if cell.strip())


def excerpt(text: str, words: Collection[str], *, characters: int) -> str:
    """Return at most `characters` of a text, where most of the words are; an ellipsis is the rest."""
    text = " ".join(text.split())
    if len(text) <= characters:
        return text
    matches = [found.start() for found in _WORD.finditer(text) if is_match(found[0], words)]
    room = characters - 2
    best = max(
        matches, key=lambda start: bisect_left(matches, start + room) - bisect_left(matches, start), default=0
    )
    start = max(0, min(best - room // 5, len(text) - room))
    end = start + room
    if start > 0:
        start = text.find(" ", start, start + 30) + 1 or start
    if end < len(text):
        end = max(text.rfind(" ", end - 30, end), 0) or end
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def marked(text: str, words: Collection[str]) -> Sequence[MarkedText]:
    """Return a text in parts, those that are words of the question marked."""
    parts: list[MarkedText] = []
    end = 0
    for found in _WORD.finditer(text):
        if is_match(found[0], words):
            if found.start() > end:
                parts.append(MarkedText(text=text[end : found.start()], is_match=False))
            parts.append(MarkedText(text=found[0], is_match=True))
            end = found.end()
    if end < len(text):
        parts.append(MarkedText(text=text[end:], is_match=False))
    return parts


def is_match(word: str, words: Collection[str]) -> bool:
    """Say whether a word of a text is one of the question's, in whatever form."""
    word = word.lower()
    if word in words:
        return True
    if word[0] >= _NO_BREAKS:
        return any(word[place : place + 2] in words for place in range(len(word) - 1))
    start = word[:_SHORTEST_STEM]
    return any(other.startswith(start) and _is_form(word, other) for other in words)


def _is_form(word: str, other: str) -> bool:
    shared = max(_SHORTEST_STEM, max(len(word), len(other)) - _ENDING)
    return len(word) > 3 and len(other) > 3 and word[:shared] == other[:shared]
