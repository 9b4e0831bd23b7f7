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

from coaching.safety.meanings import LANGUAGES, features_of, language_of, meanings_in, sentences_of
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
ENOUGH = {GRIEF: 200, DANGER: 150}
ENOUGH_WITHOUT_LOSS = {GRIEF: 180, DANGER: 130}
ENOUGH_FOR_IMMEDIATE = {GRIEF: 350, DANGER: 200}
"""Of grief only where a loss is spoken of."""
AGAINST, AGAINST_CUES = -200, -50
"""If both sums are less, a word like "suicide" is only mentioned; and weak cues suggest nothing."""
PLAN = "plan"
PLAIN_PLAN = -65
"""What weighs less by the table of plans is a plan for everyday things."""
ALWAYS = "<>"
"""The feature that each text has."""

_LOSS = frozenset({"died", "gone", "rites", "mourn", "suicide", "beyond"})
"""Meanings of which one speaks of a loss."""


@dataclass(frozen=True, slots=True)
class Weighable:
    """The features of a text's sentences, their numbers of words, its language, whether a loss is in it."""

    sentences: Sequence[frozenset[str]]
    words: Sequence[int]
    language: str
    is_about_loss: bool

    @classmethod
    def of(cls, letters: str) -> "Weighable":
        """Return those of plain letters (`readable.plain_letters`)."""
        sentences = list(sentences_of(letters))
        language = language_of(sentences)
        by_meaning = [meanings_in(words, language) for words in sentences]
        features = [
            frozenset(features_of(words, meanings))
            for words, meanings in zip(sentences, by_meaning, strict=True)
        ]
        is_about_loss = any(
            name in _LOSS for meanings in by_meaning for name, is_known in meanings if is_known
        )
        return cls(features, [len(words) for words in sentences], language, is_about_loss)

    def weight(self, weights: Weights, *, is_each_alone: bool = False) -> float:
        """Return the most that neighbouring sentences weigh, or one alone; each word of many counts less."""
        known = weights.keys()
        features = [each & known for each in self.sentences]
        return max(
            (weights[ALWAYS] + sum(weights[each] for each in frozenset[str]().union(*features[start:end])))
            / max(1, count / USUAL_WORDS)
            for start, end, count in (self._alone() if is_each_alone else self._neighbours())
        )

    def _neighbours(self) -> Iterator[tuple[int, int, int]]:
        """Yield from where to where up to `NEIGHBOURS` sentences go, and their words, `MAX_WORDS` at most."""
        for start in range(max(1, len(self.sentences) - 1)):
            end, count = start, 0
            for words in self.words[start : start + NEIGHBOURS]:
                if count and count + words > MAX_WORDS:
                    break
                end, count = end + 1, count + words
            yield start, end, count
            if end == len(self.sentences):
                break

    def _alone(self) -> Iterator[tuple[int, int, int]]:
        """Yield the same for each sentence; for a text without words, once."""
        for start, count in enumerate(self.words or [0]):
            yield start, start + 1, count

    def sums(self, tables: Tables, *, is_each_alone: bool = False) -> Mapping[str, float]:
        """Return what the text weighs by each table, with a share of the other."""
        own = {table: self.weight(tables[table], is_each_alone=is_each_alone) for table in (GRIEF, DANGER)}
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
        if sums[table] <= enough[table]:
            return None
        may_be_immediate = table != GRIEF or self.is_about_loss
        return "immediate" if may_be_immediate and sums[table] > ENOUGH_FOR_IMMEDIATE[table] else "concern"


def weighed_level(text: Weighable, *, of_any: bool = True) -> Level | None:
    """Return how acute the danger is that a text weighs as; not `of_any`, only the wish to join the dead."""
    is_known = of_any and text.language in LANGUAGES
    return text.worst_level((GRIEF, DANGER) if is_known else (GRIEF,), learnt_tables())


def weighs_against(text: Weighable, *, least: int) -> bool:
    """Return whether a text weighs less than that, and each of its sentences alone does."""
    tables = learnt_tables()
    sums = (text.sums(tables, is_each_alone=is_each_alone) for is_each_alone in (False, True))
    return all(each < least for both in sums for each in both.values())


def weighs_for(text: Weighable) -> bool:
    """Return whether a text weighs more for danger than against it, by each table."""
    return min(text.sums(learnt_tables()).values()) > 0


def is_plain_plan(text: Weighable) -> bool:
    """Return whether a text, and each of its sentences, tells of a plan for everyday things.

    Plans after what is danger alone don't outweigh it: "The letters are written. I'll book the dentist."
    """
    weights = learnt_weights(PLAN)
    return all(text.weight(weights, is_each_alone=each) < PLAIN_PLAN for each in (False, True))


def learnt_tables() -> Tables:
    """Return the weights of grief and danger."""
    return {table: learnt_weights(table) for table in (GRIEF, DANGER)}


@cache
def learnt_weights(table: str) -> Weights:
    return read_weights(FOLDER / f"{table}-weights.txt")
