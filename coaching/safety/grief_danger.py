"""Danger inside grief: the wish to join the dead, or not to go on without them.

People say it in countless ways that are nearly those of plain grief, so lists of phrases know only the
sentences that they were written with. Instead each feature of a text (`meanings`) has a weight that was
learnt from labelled sentences (`words/grief-weights.txt`, written by `tests.safety.training`); the sum
decides. It needs less where a loss is spoken of. Up to `NEIGHBOURS` sentences are judged together. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from coaching.safety.meanings import features_of, language_of, meanings_in, sentences_of
from coaching.safety.phrases import Level
from coaching.safety.tables import FOLDER

NEIGHBOURS = 4
ENOUGH = 80
"""In hundredths, as weights are."""
ENOUGH_WITHOUT_LOSS = 150
ENOUGH_FOR_IMMEDIATE = 250
ALWAYS = "<>"
"""The feature that each text has."""

_LOSS = frozenset({"died", "gone", "rites", "mourn", "suicide", "beyond"})
"""Meanings of which one speaks of a loss."""


def level_in_grief(letters: str) -> Level | None:
    """Return how acute the wish for death is that plain letters (`readable.plain_letters`) speak of."""
    weight, needed = weigh(letters, learnt_weights())
    if weight <= needed:
        return None
    return "immediate" if weight > ENOUGH_FOR_IMMEDIATE else "concern"


def weigh(letters: str, weights: Mapping[str, int]) -> tuple[int, int]:
    """Return the most that neighbouring sentences of plain letters weigh, and what is needed for danger."""
    sentences = list(sentences_of(letters))
    language = language_of(sentences)
    by_meaning = [meanings_in(words, language) for words in sentences]
    features = [
        frozenset(each for each in features_of(words, meanings) if each in weights)
        for words, meanings in zip(sentences, by_meaning, strict=True)
    ]
    is_about_loss = any(name in _LOSS for meanings in by_meaning for name, is_known in meanings if is_known)
    heaviest = max(sum(weights[each] for each in together) for together in _together(features))
    return weights[ALWAYS] + heaviest, ENOUGH if is_about_loss else ENOUGH_WITHOUT_LOSS


def _together(features: Sequence[frozenset[str]]) -> Iterator[frozenset[str]]:
    """Yield the features of `NEIGHBOURS` neighbouring sentences, half of which are in the next ones, too."""
    for start in range(0, max(1, len(features) - NEIGHBOURS + 2), 2):
        yield frozenset().union(*features[start : start + NEIGHBOURS])


@cache
def learnt_weights() -> Mapping[str, int]:
    """Return the weights of the features, in hundredths."""
    lines = (FOLDER / "grief-weights.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split(" ", 1) for line in lines if line and not line.startswith("#"))
    return {feature: int(weight) for weight, feature in rows}
