"""How much a sentence weighs as a promise, in addition to what the signs say.

The signs (`spoken_signs`) know what lists hold, and people promise in countless ways. So each feature of the
sentence around a quote has a weight that was learnt from labelled sentences of several authors, in
`words/promise-weights.txt` (written by `tests.steps.training`). Where the signs see a promise, a low sum
stops it; where they see none, only a high one makes it one, and where they see a joke or a
condition, only a very high one. A feature is a word, with the part of the sentence that it is in or next
to; words that follow each other where the quote begins and ends; a run of letters in the quote; in which
order the words stand (`promise_orders`); what they speak of (`words/promise-meanings.txt`), which meanings
follow each other, and what is spoken of around the sentence; what the signs make of the clause; and whether a
sign goes with an everyday deed and thing and with nothing that promises seldom speak of. Pure.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, pairwise
from pathlib import Path

from coaching.library.promise_orders import Order, letters_of
from coaching.library.spoken import CLOSINGS, GREETINGS
from coaching.library.spoken_signs import Clauses
from coaching.library.spoken_words import Lists, meanings_in
from coaching.safety.tables import read_weights
from coaching.safety.weighed import ALWAYS

Weights = Mapping[str, int]
"""The weights of features, in hundredths."""
WEIGHTS = Path(__file__).parent / "words" / "promise-weights.txt"
MEANINGS = "promise-meanings.txt"
AGAINST, ENOUGH, SURE = 0, 40, 150
"""In hundredths: what the signs see is a promise if it weighs more than the first; what they take for a joke
or a condition, if more than the last; anything else, if more than the second. Chosen by
authors whom the weights didn't know (`training`)."""

_DEAD = "dead"
_RISKS = (
    {"drink", "drive"}, {"drink", "relapse"}, {"drink", "lapse"}, {"vice", "lapse"}, {"vice", "acquires"},
    {"secret"}, {"starve"}, {"weapon", "waits"}, {_DEAD, "joins"},
)  # fmt: skip
"""What a plan speaks of that isn't written at once, whatever it weighs: all of one, in any part."""
_HEAVY = frozenset({"drink", "farewell", "relapse", "secret", "starve", "weapon"})
"""A plan that speaks of these is written at once only if the signs see a promise, not by its weight."""
_SELDOM = {
    "asking", "befall", "document", "doubts", "drink", "farewell", "feats", "habit", "lapse", "odd", "others",
    "passive", "past", "relapse", "sarcasm", "secret", "starve", "told", "unsure", "vice", "weapon", "yet",
}  # fmt: skip
"""What promises seldom speak of."""
_DOCUMENT, _PERSON, _MINE = "document", "person", "mine"
_OF_MESSAGE = ("firm", "serious", "laughs", "source")
"""Lists of `promises.txt` that count anywhere in the message."""
_ELIDED, _OWNED = "l'", "'s"
_MAX_GREETING = 3
_MOST_WORDS = 30
"""So many words before the sentence count, and as many after it."""
_NEAR = 3
"""So many words before and after the sentence count as words, too."""
_PIECE = 4
_LENGTHS = (0, 2, 4, 8, 14, 25, 45)
_START, _END, _QUOTE = "^", "$", "|"


@dataclass(frozen=True, kw_only=True)
class Weighable:
    """A sentence around a quote: its clauses, the words and marks around them, and what the signs say.

    `marks` are the signs and pictures of the message, `last` is the sign that ends the sentence. `doubt` is
    why the signs make it no promise; empty if they do.
    """

    clauses: Clauses
    lists: Lists
    before: Sequence[str]
    after: Sequence[str]
    marks: Sequence[str]
    last: str
    is_timed: bool
    doubt: str

    def is_promise(self, weights: Weights) -> bool:
        """Say whether the signs see one and the weights don't object, or the weights are sure of one."""
        if self.is_risky or self.is_copied:
            return False
        if self.doubt and not _HEAVY.isdisjoint(self._spoken):
            return False
        return self.weight(weights) > self._least

    @property
    def _least(self) -> int:
        """Return what a promise weighs more than, by how sure the doubt is."""
        is_condition = self.doubt == "hedged" and self.clauses.is_conditional
        if is_condition or self.doubt == "joke":
            return SURE
        return ENOUGH if self.doubt else AGAINST

    def weight(self, weights: Weights) -> int:
        """Return what the sentence weighs by such weights, in hundredths.

        What is said around it counts for a plain promise only, not against it: "I'll call her on Thursday.
        Work is loud." What takes a promise back, marks it as copied or is danger is no matter of weight.
        """
        own = sum(weights.get(feature, 0) for feature in self.features - self._around)
        around = sum(weights.get(feature, 0) for feature in self._around)
        return own + (max(0, around) if self._is_plain else around)

    @property
    def _is_plain(self) -> bool:
        """Say whether the person says what they will do and when, without a doubt."""
        return not self.doubt and self.is_timed and self.clauses.found is not None

    @property
    def is_risky(self) -> bool:
        """Say whether the message speaks of what may do harm: drinking and driving, joining the dead."""
        if _DEAD in self._spoken and self.clauses.is_to_meet:
            return True
        return any(self._spoken.keys() >= risk for risk in _RISKS)

    @property
    def is_copied(self) -> bool:
        """Say whether it is no speech of the person about themselves."""
        return self.is_document or self.is_of_another

    @property
    def is_document(self) -> bool:
        """Say whether the message speaks twice as documents do: it was copied from a recipe or minutes."""
        return self._spoken[_DOCUMENT] > 1

    @property
    def is_of_another(self) -> bool:
        """Say whether others do it: no sign says that the person does, and `my boss` begins the clause."""
        words, start = self.clauses.words, self.clauses.start
        if self.clauses.found or start + 1 >= len(words):
            return False
        if words[start].startswith(_ELIDED):
            return _PERSON in self._meanings[start]
        ends = (at for at in range(start, len(words)) if not self._is_article(at))
        noun = next(ends, start)
        return noun > start and _PERSON in self._meanings[noun]

    def _is_article(self, at: int) -> bool:
        return self.lists.length_at("article", self.clauses.words, at) > 0 or _MINE in self._meanings[at]

    @cached_property
    def features(self) -> frozenset[str]:
        own = (ALWAYS, *self._words(), *self._spoken_of(), *self._signs(), *self._shape())
        own = (*own, *self._order.features())
        return self._around | frozenset(own)

    @cached_property
    def _around(self) -> frozenset[str]:
        """The features of what is said around the sentence, but for the next words: they may take it back."""
        return frozenset(
            [
                *(f"last: {letters_of(word)}" for word in self.before[-_NEAR:]),
                *(f"<around {meaning}>" for meaning in chain.from_iterable(self._meanings_around)),
                f"<before {_size_of(self.before)}>",
                f"<after {_size_of(self._said_after)}>",
            ]
        )

    @cached_property
    def _parts(self) -> Mapping[str, range]:
        """Which words of the sentence stand before the quote, in it and after it.

        What a "but" ends is around. A quote goes from the sign that governs it to the end of its clause.
        """
        clauses, last = self.clauses, len(self.clauses.words)
        begin, end = clauses.quote.start, clauses.quote.stop
        if clauses.found and clauses.start <= clauses.found.span.start:
            begin, end = min(begin, clauses.found.span.start), max(end, clauses.cut)
        first = min(clauses.reset, begin)
        if clauses.words[first] in GREETINGS and clauses.start - first <= _MAX_GREETING:
            first = min(clauses.start, begin)
        return {"left": range(first, begin), "quote": range(begin, end), "right": range(end, last)}

    @cached_property
    def _said_after(self) -> Sequence[str]:
        """Return the words after the sentence, if they don't only close a letter: "Kind regards, Anna"."""
        is_close = len(self.after) <= _MAX_GREETING and not CLOSINGS.isdisjoint(self.after)
        return () if is_close else self.after

    @cached_property
    def _meanings(self) -> Sequence[Sequence[str]]:
        """What each word of the sentence speaks of."""
        words = [word.removeprefix(_ELIDED).removesuffix(_OWNED) for word in self.clauses.words]
        return meanings_in(words, MEANINGS, self.lists.languages)

    @cached_property
    def _meanings_around(self) -> Sequence[Sequence[str]]:
        before = [*self.before, *self.clauses.words[: self._parts["left"].start]]
        around = (before[-_MOST_WORDS:], self._said_after[:_MOST_WORDS])
        return [each for words in around for each in meanings_in(words, MEANINGS, self.lists.languages)]

    @cached_property
    def _spoken(self) -> Mapping[str, int]:
        """How often the message speaks of what."""
        return Counter(chain.from_iterable((*self._meanings, *self._meanings_around)))

    @property
    def _order(self) -> Order:
        clauses, parts = self.clauses, self._parts
        words = clauses.words
        return Order(
            words=[letters_of(word) for word in words], meanings=self._meanings,
            is_frequent=[self.lists.length_at("common", words, at) > 0 for at in range(len(words))],
            sign=clauses.found.span if clauses.found else range(0),
            kind=clauses.found.sign if clauses.found else "none", is_timed=self.is_timed, **parts,
        )  # fmt: skip

    def _words(self) -> Iterator[str]:
        yield from (f"next: {letters_of(word)}" for word in self._said_after[:_NEAR])
        letters = [letters_of(word) for word in self.clauses.words]
        parts = {name: letters[part.start : part.stop] for name, part in self._parts.items()}
        for name, words in parts.items():
            yield from words
            yield from (f"{name}: {word}" for word in words)
        for padded in (f"_{word}_" for word in parts["quote"]):
            yield from (f"#{padded[at : at + _PIECE]}" for at in range(len(padded) - _PIECE + 1))
        whole = [_START, *parts["left"], _QUOTE, *parts["quote"], _QUOTE, *parts["right"], _END]
        begins = len(parts["left"]) + 1
        for at in (begins, begins + len(parts["quote"]) + 1):
            for start, end in ((-1, 1), (0, 2), (-2, 1), (-1, 2), (0, 3)):
                yield " ".join(whole[max(0, at + start) : at + end])

    def _spoken_of(self) -> Iterator[str]:
        """Yield what is spoken of in each part, and in which order."""
        order = [_START]
        for name, part in self._parts.items():
            order += [_QUOTE] if name != "left" else []
            for at in part:
                yield from (f"<{meaning} {name}>" for meaning in self._meanings[at])
                order += [meaning for meaning in self._meanings[at] if meaning != order[-1]]
        yield from (f"<{one} {other}>" for one, other in pairwise([*order, _END]))
        yield from (f"<first {meaning}>" for meaning in chain.from_iterable(self._meanings[:1]))
        label = self.clauses.label
        yield from (f"<label {each}>" for at in label for each in (self._meanings[at] or ("other",)))

    def _signs(self) -> Iterator[str]:
        """Yield what the signs make of the clause."""
        clauses = self.clauses
        sign = clauses.found.sign if clauses.found else "none"
        time = "timed" if self.is_timed else "untimed"
        doubt = self.doubt or "no doubt"
        yield from (f"<{each}>" for each in (sign, time, f"{sign} {time}", doubt, f"{sign} {time} {doubt}"))
        spoken = {each for at in self._parts["quote"] for each in self._meanings[at]}
        asked = ({"deed"}, {"thing", _PERSON}, _SELDOM)
        yield " ".join(["<core", sign, time, *(str(not spoken.isdisjoint(each)) for each in asked)]) + ">"
        is_so = {
            "hedged": clauses.is_hedged, "reported": clauses.is_reported, "asking": clauses.is_asking,
            "to you": clauses.is_to_somebody, "negated": clauses.is_negated,
            "others before": clauses.has("subject", clauses.start, clauses.quote.start),
            "others in it": clauses.has("subject", clauses.quote.start, clauses.quote.stop),
        }  # fmt: skip
        yield from (f"<is {name}>" for name, is_true in is_so.items() if is_true)
        yield f"<{sign} leads {clauses.lead_in}>"
        message = [*self.before, *clauses.words, *self.after]
        yield from (f"<has {group}>" for group in _OF_MESSAGE if self.lists.has(group, message))

    def _shape(self) -> Iterator[str]:
        parts = {name: part for name, part in self._parts.items() if name != "right"}
        yield from (f"<{name} {_size_of(part)}>" for name, part in parts.items())
        yield f"<words {_size_of(self.clauses.words)}>"
        yield from (f"<mark {mark}>" for mark in self.marks)
        yield f"<ends {self.last}>"
        yield from (f"<{language}>" for language in self.lists.languages[:1])


def _size_of(words: Sized) -> int:
    """Return about how many words there are, as one of few numbers."""
    return sum(len(words) > length for length in _LENGTHS)


@cache
def learnt_weights() -> Weights:
    return read_weights(WEIGHTS)
