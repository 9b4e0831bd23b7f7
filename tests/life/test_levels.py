"""Words of moods and energies as levels."""

import pytest

from coaching.life.levels import energy_level, mood_level
from coaching.practice.coach.tables import BY_LANGUAGE
from coaching.practice.coach.texts import LANGUAGES, Language


@pytest.mark.parametrize(
    ("words", "level"),
    [
        ("calm", 4), ("Very low", 1), ("not good", 2), ("7/10", 4), ("3 of 5", 3), ("10/10", 5),
        ("tired but calm", 3), ("sehr gut", 5), ("cansada", 2), ("a bit wobbly", None), ("", None),
        ("no estoy a gusto", None), ("a gusto", 4), ("11/10", None), ("3/0", None), ("\u0663/\u0665", 3),
    ],
)  # fmt: skip
def test_a_mood_has_the_level_of_its_words(words: str, level: int | None) -> None:
    assert mood_level(words) == level


@pytest.mark.parametrize(
    ("words", "level"),
    [
        ("low", 2), ("very low", 1), ("medium", 3), ("hoch", 4), ("full", 5), ("2,5/5", 3),
        ("like soup", None), ("zu viel Stress", None), ("keine Ahnung", None),
        ("no tengo mucha energía", None), ("I don't have plenty", None),
    ],
)  # fmt: skip
def test_an_energy_has_the_level_of_its_words(words: str, level: int | None) -> None:
    assert energy_level(words) == level


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_tour_offers_to_tap_at_the_end_of_a_day_has_a_level(language: Language) -> None:
    walk = BY_LANGUAGE[language]["close_day"]
    energies = [energy_level(label) for label, _ in walk.slot("energy").choices]
    moods = [mood_level(label) for label, _ in walk.slot("mood").choices]
    assert energies == [4, 3, 2, 1]
    assert moods == [4, 3 if language == "de" else 4, 3, 2, 2]
