"""Which of many rules a sentence may match, judging by pieces of text that their matches contain.

Hundreds of rules are too many for each of a message's sentences, which may be thousands of short ones. So
pieces are searched for in blocks of sentences first.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

BLOCK_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a sequence of rules: a text without any of `needs[n]` can't match rule n."""

    needs: Sequence[frozenset[str]]
    all: frozenset[str]
    _always: frozenset[int]
    _rules: dict[str, list[int]]

    @classmethod
    def of(cls, needs: Iterable[frozenset[str]]) -> "Pieces":
        """Index what each rule needs; nothing if that is unknown."""
        needs = tuple(needs)
        rules: dict[str, list[int]] = {}
        for number, pieces in enumerate(needs):
            for piece in pieces:
                rules.setdefault(piece, []).append(number)
        always = frozenset(number for number, pieces in enumerate(needs) if not pieces)
        return cls(needs, frozenset(rules), always, rules)

    def rules_for(self, sentences: Iterable[str]) -> Iterator[tuple[str, Sequence[int]]]:
        """Yield each sentence with the numbers of the rules that it may match, in order."""
        for block in _blocks(sentences):
            joined = "\n".join(block)
            there = [piece for piece in self.all if piece in joined]
            for sentence in block:
                yield sentence, self._rules_of(piece for piece in there if piece in sentence)

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
