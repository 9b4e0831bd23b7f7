"""The day: a question moves no step and is answered with the date; a correction moves what was just noted."""

import pytest

from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

NOTED = {
    "en": "I'll call the dentist on Friday",
    "de": "Am Freitag rufe ich den Zahnarzt an",
    "es": "El viernes llamo al dentista",
}
DATES = {
    "en": ("Tuesday 24 November", "Wednesday 25 November"),
    "de": ("Dienstag, 24. November", "Mittwoch, 25. November"),
    "es": ("martes 24 de noviembre", "miércoles 25 de noviembre"),
}


def begun(http: Http, language: str) -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]), says_yes=True)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "hang on, tomorrow? what day is it today?"),
        ("en", "wait, is tomorrow wednesday?"),
        ("en", "what's the date?"),
        ("de", "Moment, morgen? Welcher Tag ist heute?"),
        ("de", "Ist morgen Mittwoch?"),
        ("es", "espera, ¿mañana? ¿qué día es hoy?"),
        ("es", "¿es mañana miércoles?"),
    ],
)
async def test_a_question_after_the_day_moves_nothing_and_is_answered_with_the_date(
    http: Http, language: str, words: str
) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    reply = await walk.say(words)
    assert walk.steps[1]["due_date"] == "2026-11-27"
    assert all(date in reply for date in DATES[language])


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "no that's wrong! it should be on Wednesday. and I asked what day it is"),
        ("en", "Oh dear, I think you mixed something up there. I said Wednesday. Please look again."),
        ("en", "can you move it to Wednesday?"),
        ("de", "Nein, das ist falsch! Es soll am Mittwoch sein. Und danke für das andere von vorhin, ja?"),
        ("es", "¡No, está mal! Debería ser el miércoles. Y gracias por lo otro de antes, de verdad."),
    ],
)
async def test_a_correction_of_the_day_moves_the_step_that_was_just_noted(
    http: Http, language: str, words: str
) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    reply = await walk.say(words)
    assert walk.steps[1]["due_date"] == "2026-11-25"
    assert DATES[language][1] in reply


async def test_who_has_lost_track_of_the_days_gets_no_date(http: Http) -> None:
    reply = await begun(http, "en").say("I'm so tired I don't know what day it is any more")
    assert "November" not in reply


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("I'll go to the choir on Thursday, just to look in", "Go to the choir, just to look in"),
        ("put on my list: ask my sister, on Sunday, if she can come", "Ask my sister, if she can come"),
    ],
)
async def test_a_title_has_no_stray_space_where_the_day_stood(http: Http, words: str, title: str) -> None:
    walk = begun(http, "en")
    await walk.say(words)
    assert walk.steps[1]["title"] == title


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "I'll call the dentist the day after tomorrow"),
        ("en", "I'll call the dentist day after tomorrow"),
        ("de", "Übermorgen rufe ich den Zahnarzt an"),
        ("es", "pasado mañana llamo al dentista"),
    ],
)
async def test_the_day_after_tomorrow_is_not_tomorrow(http: Http, language: str, words: str) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert [step["due_date"] for step in walk.steps.values()] == ["2026-11-26"]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "I'll call the dentist a week on Friday"),
        ("en", "I'll call the dentist on Monday in two weeks"),
        ("en", "I'll call the dentist the Friday after next"),
        ("en", "I'll call the dentist on Friday next week"),
        ("en", "I'll keep the phone off until Friday"),
        ("en", "I'll take the bus from Friday"),
        ("de", "Ich rufe übernächsten Freitag den Zahnarzt an"),
        ("de", "Ich rufe am Freitag in einer Woche den Zahnarzt an"),
        ("de", "Nächste Woche Freitag rufe ich den Zahnarzt an"),
        ("de", "Ich nehme ab Freitag den Bus"),
        ("de", "Ich esse bis Freitag nichts"),
        ("es", "Voy a llamar al dentista de hoy en ocho"),
        ("es", "Voy a llamar al dentista el viernes de la semana que viene"),
        ("es", "Voy a tomar el autobús desde el viernes"),
        ("es", "Voy a comer poco hasta el viernes"),
    ],
)
async def test_a_day_further_away_and_a_span_are_no_day_of_the_coming_week(
    http: Http, language: str, words: str
) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert not walk.steps


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "I'll call the dentist by Friday"),
        ("de", "Ich räume bis Freitag den Keller auf"),
        ("es", "Voy a llamar al dentista antes del viernes"),
    ],
)
async def test_a_day_by_which_something_is_done_is_one(http: Http, language: str, words: str) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert [step["due_date"] for step in walk.steps.values()] == ["2026-11-27"]
