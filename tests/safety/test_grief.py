"""Grief is told from a crisis: it gets no card and no crisis text, unless there is danger in it."""

import pytest

from coaching.safety.danger import find_danger
from coaching.safety.grief import is_grief
from coaching.safety.intensity import Words, measure_intensity
from tests.safety.sets import DEV, read_rows

GRIEF = [words for _, words in read_rows(DEV / "grief.tsv")]


@pytest.mark.parametrize(
    "words",
    [
        "My mum died in March and I miss her", "I don't know what my days are for any more since mum died",
        "we had to put our old lab down yesterday", "Mein Vater ist im Januar gestorben.",
        "ma meilleure amie est décédée", "Se murió mi gatito.", "Mia nonna è mancata ieri.",
        "A minha mãe morreu em maio.", "Mijn vader is vorige week overleden.", "I had a miscarriage.",
    ],
)  # fmt: skip
def test_mourning_is_known_in_the_languages_of_intensity(words: str) -> None:
    assert is_grief(words)
    assert not measure_intensity([Words(words)]).is_high


@pytest.mark.parametrize(
    "words", ["My phone died again.", "In the film the father died.", "I lost my keys.", "Guten Morgen!"]
)
def test_other_losses_are_none(words: str) -> None:
    assert not is_grief(words)


def test_of_the_sentences_by_others_most_are_known_and_none_is_a_crisis() -> None:
    assert sum(map(is_grief, GRIEF)) >= 0.7 * len(GRIEF)
    assert not [words for words in GRIEF if measure_intensity([Words(words)]).is_high]
    assert not [words for words in GRIEF if find_danger(words)]


def test_danger_in_grief_is_a_crisis_all_the_same() -> None:
    assert measure_intensity([Words("Since mum died I want to die, too.", is_danger=True)]).is_high
