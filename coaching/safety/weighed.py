"""Danger that is weighed: what no list of phrases knows, because people say it in countless ways.

Lists of phrases know the sentences that they were written with, and few of other people's. So each
feature of a text (`meanings`) has a weight that was learnt from labelled sentences, and the sum decides.
There are two tables of weights, written by `tests.safety.training`: `words/grief-weights.txt` tells danger in
grief from plain grief, `words/danger-weights.txt` tells any danger from grief and ordinary talk. Where both
weigh clearly against it, danger is only mentioned. Up to `NEIGHBOURS` sentences are judged together. A third
table, `words/plan-weights.txt`, tells danger from everyday plans, which both others rarely saw. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from coaching.safety.meanings import (
    ENGLISH,
    LANGUAGES,
    features_of,
    language_of,
    meanings_in,
    sentences_of,
    spans_of,
)
from coaching.safety.phrases import Level
from coaching.safety.tables import FOLDER, read_weights

Weights = Mapping[str, int]
"""The weights of features, in hundredths."""
Tables = Mapping[str, Weights]
"""The weights of both tables."""
NEIGHBOURS = 4
MAX_WORDS = 60
"""So many words are judged together, unless one sentence has more."""
USUAL_WORDS = 30
GRIEF, DANGER = "grief", "danger"
SHARE_OF_OTHER = {GRIEF: 0.3, DANGER: 0.0}
"""How much the other table's sum counts."""
ENOUGH = {GRIEF: 210, DANGER: 190}
ENOUGH_WITHOUT_LOSS = {GRIEF: 175, DANGER: 135}
MORE_OF_MANY = 40
"""So much more a message of more than `NEIGHBOURS` sentences or spans needs: the most of many is more."""
MORE_IN_OTHERS = {GRIEF: 15, DANGER: 30}
"""So much more a text in another language than English needs, which taught the weights fewer sentences; by
the table of grief only without a loss.
"""
ENOUGH_FOR_IMMEDIATE = {GRIEF: 370, DANGER: 230}
"""Of grief only where a loss is spoken of."""
AGAINST, AGAINST_CUES = -160, 10
"""If both sums are less, a word like "suicide" is only mentioned; and weak cues suggest nothing."""
PLAN = "plan"
PLAIN_PLAN = -65
"""What weighs less by the table of plans is a plan for everyday things."""
ALWAYS = "<>"
"""The feature that each text has."""

_LOSS = frozenset({"died", "gone", "rites", "mourn", "suicide", "beyond"})
"""Meanings of which one speaks of a loss."""


@dataclass(frozen=True, slots=True)
class Part:
    """The features of a sentence, or of a span of a long one, and its number of words."""

    features: frozenset[str]
    words: int


@dataclass(frozen=True, slots=True)
class Weighable:
    """A text's sentences, spans of long ones, its language, and whether it speaks of a loss.

    A window is one to `NEIGHBOURS` sentences in a row, or a span. Each is weighed by itself, and the greatest
    weight counts, so that what is said around danger doesn't hide it.
    """

    sentences: Sequence[Part]
    spans: Sequence[Part]
    language: str
    is_about_loss: bool

    @classmethod
    def of(cls, letters: str) -> "Weighable":
        """Return what is weighed of plain letters (`readable.plain_letters`)."""
        sentences = list(sentences_of(letters))
        language = language_of(sentences)
        meanings = [meanings_in(words, language) for words in sentences]
        parts = map(_part_of, sentences, meanings)
        spans = (_part_of(words, meanings_in(words, language)) for words in spans_of(sentences))
        is_about_loss = any(name in _LOSS for each in meanings for name, is_known in each if is_known)
        return cls(list(parts), list(spans), language, is_about_loss)

    def weight(self, weights: Weights) -> float:
        """Return the most that a window weighs."""
        return max((weight for weight, _ in self.windows(weights)), default=weights[ALWAYS])

    def windows(self, weights: Weights) -> Iterator[tuple[float, Sequence[Part]]]:
        """Yield what each window weighs, and its parts; each word of many counts less."""
        for start in range(len(self.sentences)):
            yield from _windows_from(self.sentences[start : start + NEIGHBOURS], weights)
        for span in self.spans:
            yield from _windows_from([span], weights)

    def sums(self, tables: Tables) -> Mapping[str, float]:
        """Return what the text weighs by each table, with a share of the other."""
        own = {table: self.weight(tables[table]) for table in (GRIEF, DANGER)}
        total = sum(own.values())
        return {table: each + SHARE_OF_OTHER[table] * (total - each) for table, each in own.items()}

    def level(self, table: str, tables: Tables) -> Level | None:
        return self._level_of(table, self.sums(tables))

    def worst_level(self, own: Sequence[str], tables: Tables) -> Level | None:
        """Return how acute that is by any of the tables `own`."""
        sums = self.sums(tables)
        levels = {self._level_of(table, sums) for table in own}
        return next((level for level in ("immediate", "concern") if level in levels), None)

    def _level_of(self, table: str, sums: Mapping[str, float]) -> Level | None:
        enough = ENOUGH if self.is_about_loss else ENOUGH_WITHOUT_LOSS
        is_long = max(len(self.sentences), len(self.spans)) > NEIGHBOURS
        more = MORE_OF_MANY if is_long else 0
        if self.language != ENGLISH and not (table == GRIEF and self.is_about_loss):
            more += MORE_IN_OTHERS[table]
        if sums[table] <= enough[table] + more:
            return None
        may_be_immediate = table != GRIEF or self.is_about_loss
        return "immediate" if may_be_immediate and sums[table] > ENOUGH_FOR_IMMEDIATE[table] else "concern"


def _part_of(words: Sequence[str], meanings: Sequence[tuple[str, bool]]) -> Part:
    return Part(frozenset(features_of(words, meanings)), len(words))


def _windows_from(parts: Sequence[Part], weights: Weights) -> Iterator[tuple[float, Sequence[Part]]]:
    """Yield what the first part weighs, the first two together and so on, `MAX_WORDS` at most."""
    seen: set[str] = set()
    weight, count = weights[ALWAYS], 0
    for number, part in enumerate(parts, 1):
        count += part.words
        if number > 1 and count > MAX_WORDS:
            return
        new = [each for each in part.features if each in weights and each not in seen]
        seen.update(new)
        weight += sum(weights[each] for each in new)
        yield weight / max(1, count / USUAL_WORDS), parts[:number]


def weighed_level(text: Weighable, *, of_any: bool = True) -> Level | None:
    """Return how acute the danger is that a text weighs as; not `of_any`, only the wish to join the dead."""
    is_known = of_any and text.language in LANGUAGES
    return text.worst_level((GRIEF, DANGER) if is_known else (GRIEF,), learnt_tables())


def weighs_against(text: Weighable, *, least: int) -> bool:
    """Return whether a text weighs less than that by each table."""
    return max(text.sums(learnt_tables()).values()) < least


def weighs_for(text: Weighable) -> bool:
    """Return whether a text weighs more for danger than against it, by each table."""
    return min(text.sums(learnt_tables()).values()) > 0


def is_plain_plan(text: Weighable) -> bool:
    """Return whether each part of a text tells of a plan for everyday things.

    Plans beside danger don't outweigh it: "The letters are written. I'll book the dentist."
    """
    return text.weight(learnt_weights(PLAN)) < PLAIN_PLAN


def learnt_tables() -> Tables:
    """Return the weights of grief and danger."""
    return {table: learnt_weights(table) for table in (GRIEF, DANGER)}


@cache
def learnt_weights(table: str) -> Weights:
    return read_weights(FOLDER / f"{table}-weights.txt")
