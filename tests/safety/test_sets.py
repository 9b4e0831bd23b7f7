"""The development sets, by writers who saw no word list, and phrases with a time between their words."""

from collections import Counter
from pathlib import Path

import pytest

from coaching.safety.answers import danger_in_answer
from coaching.safety.danger import find_danger
from tests.safety.measure import LABELS, read_set
from tests.safety.sets import DEV, DEV_2, DEV_3, HELD_OUT, read_answers

CARDED = {
    ("immediate-en.tsv", "en"): 0.9,
    ("immediate-other.tsv", "other"): 0.9,
    ("grief-danger.tsv", "en"): 0.95,
    ("grief-danger.tsv", "other"): 0.95,
    ("concern-en.tsv", "en"): 0.9,
}
"""The least share of sentences with a card."""
CARDED_OF = {
    "dev_3": {("immediate-other.tsv", "other"): 0.4},
    "dev_2": {("grief-danger.tsv", "en"): 0.9},
    "grief_one": {("grief-danger.tsv", "en"): 0.8, ("grief-danger.tsv", "other"): 0.8},
    "grief_two": {("grief-danger.tsv", "en"): 0.75, ("grief-danger.tsv", "other"): 0.75},
}
"""Less, where a set shows what the rules don't know yet."""
MAX_ALARMED = 0.05
MIN_CARDED_UNNAMED, MAX_ALARMED_UNNAMED = 0.5, 0.09
"""Of the sets with danger of every kind, most of which no word names."""


@pytest.mark.slow
def test_danger_is_noticed_and_ordinary_talk_and_grief_are_left_alone() -> None:
    for folder in (DEV, DEV_2, DEV_3):
        _assert_noticed(folder)


@pytest.mark.slow
@pytest.mark.parametrize("folder", HELD_OUT[2:4], ids=lambda folder: folder.name)
def test_sets_that_taught_the_rules_nothing_meet_the_bars(folder: Path) -> None:
    rows: dict[str, list[str | None]] = {}
    for name, _, words in read_set(folder):
        danger = find_danger(words)
        rows.setdefault(name, []).append(danger.level if danger else None)
    assert rows["immediate-en.tsv"].count("immediate") >= 0.75 * len(rows["immediate-en.tsv"])
    assert None not in rows["grief-danger.tsv"]
    assert set(rows["grief.tsv"]) == {None}
    alarmed = len(rows["ordinary.tsv"]) - rows["ordinary.tsv"].count(None)
    assert alarmed <= MAX_ALARMED * len(rows["ordinary.tsv"])

    heard = {
        label: [
            danger_in_answer(row.words, asked=row.asked) for row in read_answers(folder) if row.label == label
        ]
        for label in ("yes", "no")
    }
    assert heard["yes"].count(None) <= 0.05 * len(heard["yes"])
    assert set(heard["no"]) == {None}


@pytest.mark.slow
@pytest.mark.parametrize("folder", HELD_OUT[4:], ids=lambda folder: folder.name)
def test_half_of_what_is_told_without_naming_it_gets_a_card_and_ordinary_talk_rarely(folder: Path) -> None:
    dangerous: list[bool] = []
    harmless: list[bool] = []
    for name, _, words in read_set(folder):
        (harmless if LABELS[name] == "none" else dangerous).append(find_danger(words) is not None)
    assert sum(dangerous) >= MIN_CARDED_UNNAMED * len(dangerous)
    assert sum(harmless) <= MAX_ALARMED_UNNAMED * len(harmless)


def _assert_noticed(folder: Path) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    carded: Counter[tuple[str, str]] = Counter()
    for name, language, words in read_set(folder):
        key = name, "en" if language == "en" else "other"
        seen[key] += 1
        carded[key] += find_danger(words) is not None
    for key, count in seen.items():
        if LABELS[key[0]] == "none":
            assert carded[key] <= MAX_ALARMED * count, (folder.name, key)
        else:
            least = CARDED_OF.get(folder.name, CARDED).get(key, CARDED[key])
            assert carded[key] >= least * count, (folder.name, key)


@pytest.mark.parametrize(
    "words",
    [
        "Ich bringe mich heute Nacht um", "Ich bringe mich um", "Ich werde mich morgen früh umbringen",
        "I'm ending it tonight", "Esta misma noche me mato", "voy a quitarme mañana mismo la vida",
        "Je vais me tuer ce soir", "stasera mi ammazzo", "vou me matar esta noite",
        "Ik maak er vannacht een einde aan",
    ],
)  # fmt: skip
def test_a_time_between_the_words_hides_nothing(words: str) -> None:
    danger = find_danger(words)
    assert danger is not None
    assert (danger.level, danger.about) == ("immediate", "self")


@pytest.mark.parametrize(
    "words",
    [
        "Ich bringe mich heute nicht um.", "Ich will mich wirklich nicht umbringen.", "Je me jette à l'eau.",
        "Ce dossier va me tuer.", "Mi butto? Mi hanno offerto un posto a Berlino.",
    ],
)  # fmt: skip
def test_denials_and_idioms_with_words_between_are_none(words: str) -> None:
    assert find_danger(words) is None
