"""A sentence of a message, with what the rules ask about it computed once and not for each match.

A repeated phrase matches a hundred times in the longest sentence. What stands before a match is found by its
position in lists, so that a message costs linear time however often it repeats something. Pure; English.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from coaching.safety import harmless
from coaching.safety.tables import read_table, whole_words

MAX_SENTENCE_CHARACTERS = 600
OVERLAP_CHARACTERS = 60

_SENTENCE = re.compile(r"[^.!?\n;]+[.!?\n;]*")
_CLAUSE = re.compile(
    r"[,:()\"~]| - | but | although | though | because | so "
    r"| (?:and|or) (?=i\b|i'|he|she|they|today|now|then)"
)
_NEED_A_SUBJECT = frozenset({" and ", " or "})
"""These begin a clause only with what follows them, so not directly before a phrase."""
_WHO = whole_words(read_table("harmless")["who"])
_QUOTED = re.compile(r'"[^"]{1,300}(?:"|$)|(?<!\w)\'[^\']{3,200}\'(?!\w)')


def sentences_in(plain: str) -> Iterator[str]:
    """Yield the sentences; a very long one in overlapping pieces."""
    last = ""
    for found in _SENTENCE.finditer(plain):
        sentence = found[0].strip()
        if sentence == last:
            continue
        last = sentence
        for start in range(0, len(sentence), MAX_SENTENCE_CHARACTERS):
            yield sentence[max(0, start - OVERLAP_CHARACTERS) : start + MAX_SENTENCE_CHARACTERS]


class Searched:
    """A text, with the first match of each pattern that was searched in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._first: dict[re.Pattern[str], re.Match[str] | None] = {}

    def first(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if pattern not in self._first:
            self._first[pattern] = pattern.search(self.text)
        return self._first[pattern]

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the text contains a pattern."""
        return self.first(pattern) is not None


class Sentence(Searched):
    """A sentence. Positions are those of a phrase in it, which begins and ends with a word."""

    def says_before(self, position: int, pattern: re.Pattern[str]) -> bool:
        """Return whether the text before a position contains the pattern."""
        first = self.first(pattern)
        if first is None or first.start() >= position:
            return False
        return first.end() <= position or pattern.search(self.text, 0, position) is not None

    def says_after(self, position: int, pattern: re.Pattern[str]) -> bool:
        """Return whether the text after a position contains the pattern."""
        first = self.first(pattern)
        if first is None or first.start() >= position:
            return first is not None
        return pattern.search(self.text, position) is not None

    def clause_start(self, position: int) -> int:
        """Return where the clause begins that a phrase at this position is in."""
        ends, needing = self._clauses
        number = bisect_right(ends, position) - 1
        if number >= 0 and ends[number] == position and needing[number]:
            number -= 1
        return ends[number] if number >= 0 else 0

    def is_denied_at(self, position: int) -> bool:
        """Return whether a denial in the same clause ends directly before a position."""
        start = self.clause_start(position)
        starts, ends = self._denials
        number = max(
            bisect_right(starts, start - 1), bisect_right(ends, position - harmless.MAX_DENIAL_CHARACTERS)
        )
        if number == len(starts) or starts[number] >= position:
            return False
        return harmless.DENIED.search(self.text, starts[number], position) is not None

    def last_person_before(self, position: int) -> str:
        """Return the last word for a person before a position, empty without."""
        words, ends = self._people
        number = bisect_right(ends, position) - 1
        return words[number] if number >= 0 else ""

    def quote_around(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where the quote begins and ends that contains this part."""
        quotes = self._quotes
        number = bisect_right(quotes, (start, len(self.text))) - 1
        return quotes[number] if number >= 0 and end <= quotes[number][1] else None

    @cached_property
    def _clauses(self) -> tuple[Sequence[int], Sequence[bool]]:
        found = list(_CLAUSE.finditer(self.text))
        return [each.end() for each in found], [each[0] in _NEED_A_SUBJECT for each in found]

    @cached_property
    def _denials(self) -> tuple[Sequence[int], Sequence[int]]:
        found = list(harmless.NO.finditer(self.text))
        return [each.start() for each in found], [each.end() for each in found]

    @cached_property
    def _people(self) -> tuple[Sequence[str], Sequence[int]]:
        found = list(_WHO.finditer(self.text))
        return [each[0] for each in found], [each.end() for each in found]

    @cached_property
    def _quotes(self) -> Sequence[tuple[int, int]]:
        return [each.span() for each in _QUOTED.finditer(self.text)]


def first_person_in(words: str) -> str:
    """Return the first word for a person in a phrase, empty without."""
    found = _WHO.search(words)
    return found[0] if found else ""
