"""Which of many rules a sentence may match, judging by pieces of text that their matches contain.

Hundreds of rules are too many for each of a message's sentences, which may be thousands of short ones. So
pieces are searched for in blocks of sentences first.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

BLOCK_CHARACTERS = 600
_BEGINNING = 3
"""Only pieces whose first characters a text has are searched for."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a sequence of rules: a text without any of `needs[n]` can't match rule n."""

    needs: Sequence[frozenset[str]]
    _always: frozenset[int]
    _rules: Mapping[str, Sequence[int]]
    _by_beginning: Mapping[str, Sequence[str]]
    _lengths: frozenset[int]
    """How long the beginnings are: pieces may be shorter than `_BEGINNING`."""

    @classmethod
    def of(cls, needs: Iterable[frozenset[str]]) -> "Pieces":
        """Index what each rule needs; nothing if that is unknown."""
        needs = tuple(needs)
        rules: dict[str, list[int]] = defaultdict(list)
        for number, pieces in enumerate(needs):
            for piece in pieces:
                rules[piece].append(number)
        by_beginning: dict[str, list[str]] = defaultdict(list)
        for piece in rules:
            by_beginning[piece[:_BEGINNING]].append(piece)
        always = frozenset(number for number, pieces in enumerate(needs) if not pieces)
        return cls(needs, always, dict(rules), dict(by_beginning), frozenset(map(len, by_beginning)))

    def rules_for(self, sentences: Iterable[str]) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield each sentence with the numbers of the rules that it may match, in order."""
        for block in _blocks(sentences):
            joined = "\n".join(block)
            there = [piece for piece in self._begun_in(joined) if piece in joined]
            for sentence in block:
                yield sentence, self._rules_of(piece for piece in there if piece in sentence)

    def _begun_in(self, text: str) -> Iterator[str]:
        """Yield the pieces whose beginnings the text has."""
        places = range(len(text))
        parts = {text[place : place + length] for length in self._lengths for place in places}
        for beginning in self._by_beginning.keys() & parts:
            yield from self._by_beginning[beginning]

    def _rules_of(self, pieces: Iterable[str]) -> Sequence[int]:
        return sorted(self._always.union(*(self._rules[piece] for piece in pieces)))


def _blocks(sentences: Iterable[str]) -> Iterator[list[str]]:
    block: list[str] = []
    characters = 0
    for sentence in sentences:
        block.append(sentence)
        characters += len(sentence)
        if characters >= BLOCK_CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block
