"""Which time of day words name: a plain one, or none."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.on_list import time_in
from coaching.practice.coach.texts import Language

PLAIN: list[tuple[Language, str, str]] = [
    ("en", "I'll call Ana on Saturday at half five", "17:30"),
    ("en", "I'll call Ana at 9:15 on Friday", "09:15"),
    ("en", "I'll call Ana on Friday at 5pm", "17:00"),
    ("en", "I'll run before work at 7", "07:00"),
    ("en", "I'll call her at 12 on Friday", "12:00"),
    ("en", "Ich rufe am Freitag um 3 an", "15:00"),
    ("de", "Am Samstag räume ich um halb elf den Keller auf", "10:30"),
    ("de", "Ich stehe morgen um sechs auf", "06:00"),
    ("de", "Am Samstag gehe ich um acht Uhr abends laufen", "20:00"),
    ("es", "el sábado limpio el trastero a las diez", "10:00"),
    ("es", "el sábado a las diez limpio el trastero", "10:00"),
    ("es", "mañana corro a las 7 am", "07:00"),
    ("es", "mañana temprano corro a las 7", "07:00"),
    ("es", "llamo a Ana a las cuatro y media", "16:30"),
]
NONE: list[tuple[Language, str]] = [
    ("en", "I'll call her at ten to three on Friday"),
    ("en", "I'll call her at five past six on Friday"),
    ("en", "I'll meet Bob on Friday at one of the cafés"),
    ("en", "I'll look at two flats on Friday"),
    ("en", "I'll call her on Friday at 12 am"),
    ("en", "I'll call her on Friday at 7"),
    ("de", "Ich rufe sie am Freitag um zehn nach acht an"),
    ("de", "Ich rufe sie am Freitag um fünf vor drei an"),
    ("de", "Am Freitag kümmere ich mich um zwei Sachen"),
    ("de", "Ich rufe am Freitag um 12 Uhr nachts an"),
    ("de", "Ich rufe sie am Freitag um 9 Uhr 30 an"),
    ("es", "el viernes llamo a Ana a las tres y cuarto"),
    ("es", "el viernes llamo a Ana a las tres menos cuarto"),
    ("es", "el viernes llamo a Ana a las seis y diez"),
    ("es", "el viernes llamo a las dos hermanas"),
    ("es", "el viernes llamo a Ana a las 12 de la noche"),
]


@pytest.mark.parametrize(("language", "words", "time"), PLAIN)
def test_a_plain_time_is_read(language: Language, words: str, time: str) -> None:
    with texts.speaking(language):
        found = time_in(words)
    assert found is not None
    assert found.isoformat("minutes") == time


@pytest.mark.parametrize(("language", "words"), NONE)
def test_minutes_in_words_things_that_are_counted_and_midnight_are_no_time(
    language: Language, words: str
) -> None:
    with texts.speaking(language):
        assert time_in(words) is None
