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


@pytest.mark.parametrize(
    "words",
    [
        "Since Dad died I just want to be with him again",
        "I buried my wife and I don't want to go on without her",
        "His ashes are here and I keep thinking soon I'll see him",
        "I envy my sister, she died and she's at peace",
        "Seit Oma tot ist hält mich hier nichts mehr", "Murió mi hijo y quiero irme con él",
    ],
)  # fmt: skip
def test_the_wish_to_join_the_dead_is_danger(words: str) -> None:
    assert find_danger(words) is not None


@pytest.mark.parametrize(
    "words",
    [
        "She died in May and she's with Dad now", "I want to visit her grave and plant flowers",
        "He passed away and I miss being with him", "I want to be with her this summer in Rome",
        "Am Samstag besuche ich Opas Grab", "Fui a visitar la tumba de mi madre",
    ],
)  # fmt: skip
def test_missing_the_dead_is_none(words: str) -> None:
    assert find_danger(words) is None


def test_danger_in_grief_is_a_crisis_all_the_same() -> None:
    assert measure_intensity([Words("Since mum died I want to die, too.", is_danger=True)]).is_high
