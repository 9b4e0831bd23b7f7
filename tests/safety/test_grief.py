"""Grief is told from a crisis: it gets no card and no crisis text, unless there is danger in it."""

import pytest

from coaching.safety.danger import find_danger
from coaching.safety.grief import is_grief
from coaching.safety.intensity import SaidWords, measure_intensity
from coaching.safety.meanings import language_of, meanings_in
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
    assert not measure_intensity([SaidWords(words)]).is_high


@pytest.mark.parametrize(
    "words",
    [
        "My phone died again.",
        "In the film the father died.",
        "I lost my keys.",
        "Guten Morgen!",
        "I put her down in the cot.",
    ],
)
def test_other_losses_are_none(words: str) -> None:
    assert not is_grief(words)


def test_of_the_sentences_by_others_most_are_known_and_none_is_a_crisis() -> None:
    assert sum(map(is_grief, GRIEF)) >= 0.7 * len(GRIEF)
    assert not [words for words in GRIEF if measure_intensity([SaidWords(words)]).is_high]
    assert not [words for words in GRIEF if find_danger(words)]


@pytest.mark.parametrize(
    "words",
    [
        "Since Dad died I just want to be with him again",
        "I buried my wife and I don't want to go on without her",
        "His ashes are here and I keep thinking soon I'll see him",
        "I envy my sister, she died and she's at peace",
        "Seit Oma tot ist hält mich hier nichts mehr", "Murió mi hijo y quiero irme con él",
        "Depuis la mort de mon mari je veux le rejoindre", "Voglio andare da lui, da quando è morto",
        "Desde que ele morreu só quero ir com ele",
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
        "My brother took his own life eleven years ago, and October is still hard",
        "It's been twelve years since my husband killed himself", "Mon frère s'est suicidé en 2001",
        "It hits me in the supermarket, by the biscuits he liked",
    ],
)  # fmt: skip
def test_missing_the_dead_is_none(words: str) -> None:
    assert find_danger(words) is None


def test_danger_in_grief_is_a_crisis_all_the_same() -> None:
    assert measure_intensity([SaidWords("Since mum died I want to die, too.", is_danger=True)]).is_high


def test_the_wish_is_noticed_after_a_long_story() -> None:
    story = "We buried my wife in March and my daughter came to cook for me. The garden is hers. " * 40
    wish = "I don't want to live without her. I am going to join her, I have kept all her tablets."
    assert find_danger(story) is None
    assert find_danger(f"{story}{wish} {story}") is not None


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("I miss her", "english"), ("ich will zu ihr", "german"), ("quiero irme con ella", "spanish"),
        ("je veux le rejoindre", "french"), ("voglio andare da lui", "italian"), ("1984", "english"),
    ],
)  # fmt: skip
def test_the_words_of_meanings_are_those_of_the_texts_language(words: str, language: str) -> None:
    assert language_of([words.split()]) == language


def test_the_same_wish_has_the_same_meanings_in_each_language() -> None:
    wishes = {"english": "i want to join them", "german": "ich will ihnen hinterher"}
    meanings = [
        [name for name, is_known in meanings_in(words.split(), language) if is_known]
        for language, words in wishes.items()
    ]
    assert meanings == [["i", "want", "join", "they"], ["i", "want", "they", "join"]]


@pytest.mark.parametrize(
    ("words", "is_danger"),
    [
        ("My cousin took her own life last spring.", False),
        ("Mi primo se suicidó en marzo y lo extraño.", False),
        ("Mon oncle s'est suicidé au printemps.", False),
        ("Mein Onkel hat sich im Frühjahr umgebracht.", False),
        ("My cousin took her own life last night.", True),
        ("Mi primo se suicidó anoche.", True),
        ("Mon oncle s'est suicidé hier.", True),
        ("My cousin took his own life, and I get why.", True),
        ("My cousin took his own life in spring. I want to die, too.", True),
        ("My cousin tried to take his own life in spring.", True),
    ],
)
def test_that_somebody_took_their_life_is_grief_unless_it_is_near(words: str, is_danger: bool) -> None:
    assert (find_danger(words) is not None) == is_danger
