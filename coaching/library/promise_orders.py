"""In which order a sentence says what it says: features for `promise_weights`. Pure and linear.

The order of words distinguishes a promise from a memory or a joke: `ich habe … angerufen`, `i'll … you`. So
features are words that follow each other, two words with others between them, where the first and last
words of the quote stand, and the words beside the sign that the person means themselves. People write about
different things in the same order: `_outline` replaces each rare word by its meaning or its last letters.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NUMBER = "#"
_START, _END, _QUOTE = "^", "$", "|"
_SKIPPED = range(2, 6)
"""Two words of the quote are a pair with so many steps from one to the other."""
_OUTLINED = range(2, 7)
"""The same of its outline."""
_AROUND = 4
"""So many words before the quote and after it belong to its outline."""
_RUNS = (2, 3, 4)
"""So many words of the outline follow each other in a feature."""
_MOST_MEANINGS = 12
"""So many meanings of a quote are paired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The words of a sentence without marks, what each speaks of, which are frequent, and its parts.

    `sign` is where the first person is named, empty if it isn't; `kind` is which sign that is.
    """

    words: Sequence[str]
    meanings: Sequence[Sequence[str]]
    is_frequent: Sequence[bool]
    left: range
    quote: range
    right: range
    sign: range
    kind: str
    is_timed: bool

    def features(self) -> Iterator[str]:
        yield from self._runs()
        yield from self._places()
        yield from self._at_sign()
        yield from self._pairs()
        yield from self._outlined()

    def _of(self, part: range) -> Sequence[str]:
        return self.words[part.start : part.stop]

    def _runs(self) -> Iterator[str]:
        """Yield words that follow each other in a part, and pairs of the quote with words between."""
        quote = self._of(self.quote)
        for name, words, lengths in (
            ("quote", quote, (2, 3)),
            ("left", self._of(self.left), (2,)),
            ("right", self._of(self.right), (2,)),
        ):
            yield from (f"{name}+ {run}" for run in _runs_of([_START, *words, _END], lengths))
        yield from (f"{pair}" for pair in _pairs_of(quote, _SKIPPED))

    def _places(self) -> Iterator[str]:
        """Yield the words that begin and end the quote, and those next to it, with their places."""
        quote = self._of(self.quote)
        for name, words, most in (
            ("begins", quote, 4),
            ("ends", quote[::-1], 3),
            ("before", self._of(self.left)[::-1], 3),
            ("after", self._of(self.right), 4),
        ):
            yield from (f"{name} {at}: {word}" for at, word in enumerate(words[:most]))

    def _at_sign(self) -> Iterator[str]:
        """Yield the words of the sign, those before and after it, and how the verb after it ends."""
        if not self.sign:
            return
        start, end = self.sign.start, self.sign.stop
        yield f"sign: {' '.join(self.words[start:end])}"
        yield f"sign> {' '.join(self.words[start : end + 1])}"
        yield from (f"sign+{at}: {word}" for at, word in enumerate(self.words[end : end + 3]))
        yield from (
            f"sign-{at}: {word}" for at, word in enumerate(self.words[max(0, start - 3) : start][::-1])
        )
        for verb in self.words[end : end + 1]:
            yield from (f"verb *{verb[-most:]}" for most in (2, 3))
            yield f"{self.words[start]} *{verb[-2:]}"

    def _pairs(self) -> Iterator[str]:
        """Yield what is spoken of together in the quote, with the sign, and with a time."""
        spoken = sorted({each for at in self.quote for each in self.meanings[at]})[:_MOST_MEANINGS]
        for at, one in enumerate(spoken):
            yield from (f"<{one} & {other}>" for other in spoken[at + 1 :])
            yield f"<{self.kind} & {one}>"
            yield f"<{'timed' if self.is_timed else 'untimed'} & {one}>"

    def _outlined(self) -> Iterator[str]:
        outline = [self._outline(at) for at in range(len(self.words))]
        first = max(self.left.start, self.quote.start - _AROUND)
        last = min(self.right.stop, self.quote.stop + _AROUND)
        quote = outline[self.quote.start : self.quote.stop]
        left, right = outline[first : self.quote.start], outline[self.quote.stop : last]
        whole = [_START, *left, _QUOTE, *quote, _QUOTE, *right, _END]
        yield from (f"/ {run}" for run in _runs_of(whole, _RUNS))
        yield from (f"/ {pair}" for pair in _pairs_of(quote, _OUTLINED))

    def _outline(self, at: int) -> str:
        """Return a word if it is frequent or a number, else what it speaks of, or its last letters."""
        word = self.words[at]
        if self.is_frequent[at] or word == _NUMBER:
            return word
        if at in self.sign:
            return "<sign>"
        return f"<{self.meanings[at][0]}>" if self.meanings[at] else f"*{word[-2:]}"


def letters_of(word: str) -> str:
    """Return a word without marks on its letters; numbers are one word."""
    if word[:1].isdigit():
        return _NUMBER
    return "".join(each for each in unicodedata.normalize("NFD", word) if unicodedata.category(each) != "Mn")


def _runs_of(words: Sequence[str], lengths: Sequence[int]) -> Iterator[str]:
    for length in lengths:
        yield from (" ".join(words[at : at + length]) for at in range(len(words) - length + 1))


def _pairs_of(words: Sequence[str], steps: range) -> Iterator[str]:
    for at, word in enumerate(words):
        yield from (f"{word} .. {other}" for other in words[at + steps.start : at + steps.stop])
