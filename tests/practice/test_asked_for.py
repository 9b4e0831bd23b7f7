"""What somebody asks the tour to do is done however it is worded, or it is said how it is done."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.asked_for import asked_for
from coaching.practice.coach.texts import Language
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

FRIDAY, TOMORROW = "2026-11-27", "2026-11-25"
STEPS = [
    ("en", "Then close my day, why not. Actually no: remind me to ask HR about the pension on Friday.",
     [("Ask HR about the pension", FRIDAY)]),
    ("en", "ok one sentence: no idea. put 'write thesis statement' on my list for tomorrow morning",
     [("Write thesis statement", TOMORROW)]),
    ("en", "OK a step with a day then: go swimming tomorrow at 9!", [("Go swimming", TOMORROW)]),
    ("en", "uh what? i asked u to put something on my list. write thesis statement, tomorrow",
     [("Write thesis statement", TOMORROW)]),
    ("en", "i need a reminder for friday: pay rent", [("Pay rent", FRIDAY)]),
    ("en", "Remind me to call Ana on Friday. And put milk on my list, please.",
     [("Call Ana", FRIDAY), ("Milk", None)]),
    ("de", "Dann mach halt meinen Tag zu. Ach nein, doch lieber: erinner mich am Freitag an die Rente",
     [("Die Rente", FRIDAY)]),
    ("de", "pack mal 'küche putzen' für morgen um 10 auf meine liste", [("Küche putzen", TOMORROW)]),
    ("es", "Vale, cierra mi día. Bueno no, mejor: recuérdame el viernes preguntar por la pensión",
     [("Preguntar por la pensión", FRIDAY)]),
    ("es", "mete 'escribir la tesis' en mi lista para mañana por la mañana",
     [("Escribir la tesis", TOMORROW)]),
]  # fmt: skip
FACTS = [
    ("en", "can you remember that I'm allergic to nuts?", "I'm allergic to nuts"),
    (
        "de",
        "kannst du dir merken, dass ich allergisch gegen Nüsse bin?",
        "dass ich allergisch gegen Nüsse bin",
    ),
    ("es", "¿puedes acordarte de que soy alérgica a las nueces?", "soy alérgica a las nueces"),
]
BEGUN = [
    ("en", "Not a week, just tomorrow :) Can you help me plan the day?", "open_day"),
    ("de", "Nicht die ganze Woche, nur morgen. Hilfst du mir, den Tag zu planen?", "open_day"),
    ("es", "No la semana, solo mañana :) ¿me ayudas a planear el día?", "open_day"),
    ("en", "I've had it for today, can we do the end of day thing?", "close_day"),
    ("de", "Können wir den Tag abschließen? Ich will dann ins Bett.", "close_day"),
    ("es", "Ya acabé por hoy, ¿hacemos el cierre del día?", "close_day"),
]
STOPS = [
    ("en", "map my life", "My knees are bad, but I would rather stop the map here, thank you."),
    (
        "de",
        "Lebenskarte zeichnen",
        "Meine Knie sind schlecht, aber ich möchte die Karte lieber hier beenden, danke.",
    ),
    ("es", "dibuja mi mapa de vida", "Tengo mal las rodillas, pero prefiero dejar el mapa aquí, gracias."),
]
TWO = {
    "en": "I'll go to the hairdresser on Friday, and on Saturday I'll call my aunt",
    "de": "Am Freitag gehe ich zum Friseur und am Samstag rufe ich meine Tante an",
    "es": "El viernes voy a la peluquería y el sábado llamo a mi tía",
}
NAMED = [
    ("en", "drop the one with my aunt", ["open", "dropped"]),
    ("en", "the hairdresser is done, tick it off", ["done", "open"]),
    ("en", "delete both please", ["dropped", "dropped"]),
    ("de", "streich die Tante", ["open", "dropped"]),
    ("de", "Der Friseur ist erledigt, hak das ab", ["done", "open"]),
    ("de", "Streich den Samstag wieder", ["open", "dropped"]),
    ("de", "lösch bitte beide", ["dropped", "dropped"]),
    ("es", "quita lo de la tía", ["open", "dropped"]),
    ("es", "lo de la peluquería ya está hecho, márcalo", ["done", "open"]),
    ("es", "borra los dos", ["dropped", "dropped"]),
]
MOVED = [
    ("en", "the hairdresser on Thursday instead"),
    ("de", "den Friseur doch lieber am Donnerstag"),
    ("es", "lo de la peluquería mejor el jueves"),
]
WHICH = {"en": ("delete that", "the aunt"), "de": ("lösch das", "die Tante"), "es": ("bórralo", "la tía")}
QUESTIONS = [
    ("en", "I just want somebody to ask me good questions about it. Could you do that?"),
    ("de", "Ich möchte nur, dass mir jemand gute Fragen dazu stellt"),
    ("es", "Solo quiero que alguien me haga buenas preguntas"),
]
NOTHING = [
    ("en", "I got two lists from my teacher and lost both"),
    ("en", "We stopped at the lake and the day was lovely"),
    ("en", "my boss keeps adding things to my list"),
    ("de", "Mein Chef setzt mir ständig etwas auf die Liste"),
    ("de", "Wir haben am See angehalten und der Tag war schön"),
    ("es", "Mi jefe no para de ponerme tareas en la lista"),
    ("es", "Paramos en el lago y el día fue precioso"),
]


def begun(http: Http, language: str) -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]), says_yes=True)


@pytest.mark.parametrize(("language", "words", "steps"), STEPS)
async def test_the_step_that_is_asked_for_is_noted(
    http: Http, language: str, words: str, steps: list[tuple[str, str | None]]
) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert [(step["title"], step.get("due_date")) for step in walk.steps.values()] == steps


@pytest.mark.parametrize(("language", "words", "fact"), FACTS)
async def test_what_is_to_be_remembered_is_a_note(http: Http, language: str, words: str, fact: str) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert walk.calls == [("save_file", {"file_type": "capture", "content": fact})]


@pytest.mark.parametrize(("language", "words", "arc"), BEGUN)
async def test_an_arc_that_is_asked_for_begins(http: Http, language: str, words: str, arc: str) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert walk.arc == arc


@pytest.mark.parametrize(("language", "begins", "words"), STOPS)
async def test_who_would_rather_stop_has_not_answered(
    http: Http, language: str, begins: str, words: str
) -> None:
    walk = begun(http, language)
    await walk.say(begins)
    assert walk.arc == "life_mapping"
    await walk.say(words)
    assert walk.arc == ""


@pytest.mark.parametrize(("language", "words", "states"), NAMED)
async def test_of_several_steps_the_one_that_is_named_is_changed(
    http: Http, language: str, words: str, states: list[str]
) -> None:
    walk = begun(http, language)
    await walk.say(TWO[language])
    await walk.say(words)
    assert [step["state"] for step in walk.steps.values()] == states


@pytest.mark.parametrize(("language", "words"), MOVED)
async def test_of_several_steps_the_one_that_is_named_is_moved(http: Http, language: str, words: str) -> None:
    walk = begun(http, language)
    await walk.say(TWO[language])
    await walk.say(words)
    assert [step["due_date"] for step in walk.steps.values()] == ["2026-11-26", "2026-11-28"]


@pytest.mark.parametrize("language", WHICH)
async def test_where_several_steps_were_named_it_is_asked_which_is_meant(http: Http, language: str) -> None:
    walk = begun(http, language)
    await walk.say(TWO[language])
    words, name = WHICH[language]
    assert "?" in await walk.say(words)
    assert [step["state"] for step in walk.steps.values()] == ["open", "open"]
    await walk.say(name)
    assert [step["state"] for step in walk.steps.values()] == ["open", "dropped"]


@pytest.mark.parametrize(("language", "words"), QUESTIONS)
async def test_who_wants_to_be_asked_is_asked(http: Http, language: str, words: str) -> None:
    walk = begun(http, language)
    assert "?" in await walk.say(words)
    assert not walk.calls


@pytest.mark.parametrize(("language", "words"), NOTHING)
async def test_what_is_only_told_asks_for_nothing(http: Http, language: str, words: str) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert not asked_for(words)
    assert not walk.calls


TOLD = [
    ("en", "chapter 3 has been 'almost done' since march and i open the file, look at it and close it again"),
    ("en", "fascinating, but i don't have a list, i have a chapter i'm avoiding"),
    ("en", "He decided to stop talking to me over a parking space"),
    ("de", "Auf dem Speicher fand ich heute eine Liste mit den Namen meiner Schulkameraden"),
    ("es", "pues que me hubiera levantado antes de las 9 y hecho al menos un tema. pero no"),
]
"""Told in words that requests are made of."""


@pytest.mark.parametrize(("language", "words"), TOLD)
def test_what_is_told_in_the_words_of_requests_asks_for_nothing(language: Language, words: str) -> None:
    with texts.speaking(language):
        assert not asked_for(words)
