"""Which steps go on no list, and which words after the thread are a step: in English, German and Spanish."""

import pytest

from coaching.practice.coach.texts import Language
from coaching.practice.coach.thread import thread
from tests.practice.conftest import Http
from tests.practice.talking import TalkWalk
from tests.practice.test_thread import ANSWERS, TOLD, begun

HARM = [
    ("en", "I'll halve the pills on Monday"),
    ("en", "I'll take the kids from school on Friday and disappear"),
    ("en", "I'll punch him on Friday"),
    ("en", "I'll hit my wife on Friday"),
    ("es", "Voy a pegar un tiro el lunes"),
    ("de", "Ich werde ihn am Freitag verprügeln"),
    ("de", "Ich werde am Freitag verschwinden"),
    ("es", "Voy a partir las pastillas el lunes"),
    ("es", "El viernes voy a pegarle"),
]
EVERYDAY = [
    ("en", "I'll hit the gym on Friday"),
    ("en", "I'll beat the eggs on Friday"),
    ("en", "I'll shoot the wedding on Saturday"),
    ("de", "Ich werde am Freitag Schlagzeug üben"),
    ("es", "Voy a acostarme temprano el lunes"),
    ("es", "Voy a pegar las fotos en el álbum el lunes"),
]
AFTER_THREAD: list[tuple[Language, str, str, str | None]] = [
    ("en", "yes, call Anna on Friday", "Call Anna", None),
    ("en", "block two hours on Friday at 9", "Block two hours at 9", "09:00"),
    ("de", "ja, Anna anrufen am Freitag", "Anna anrufen", None),
    ("de", "am Freitag zwei Stunden blocken", "Zwei Stunden blocken", None),
    ("es", "sí, llamar a Ana el viernes", "Llamar a Ana", None),
    ("en", "a call to Anna on Friday", "A call to Anna", None),
    ("de", "ein Anruf bei Anna am Freitag", "Ein Anruf bei Anna", None),
    ("es", "una llamada a Ana el viernes", "Una llamada a Ana", None),
]
NO_STEP: list[tuple[Language, str]] = [
    ("en", "the boss is away on Friday"),
    ("en", "yes, punch him on Friday"),
    ("en", "tomorrow is fine"),
    ("en", "exam results on Friday"),
    ("de", "Am Freitag ist der Chef weg"),
    ("de", "ihn am Freitag verprügeln"),
    ("de", "morgen passt"),
    ("es", "el jefe no está el viernes"),
    ("es", "pegarle el viernes"),
    ("es", "mañana vale"),
]


async def after_thread(http: Http, language: Language) -> TalkWalk:
    walk = begun(http, language)
    for words in (TOLD[language], *ANSWERS[language]):
        await walk.say(words)
    return walk


@pytest.mark.parametrize(("language", "words"), HARM)
async def test_a_promise_of_harm_goes_on_no_list(http: Http, language: Language, words: str) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert not walk.steps


@pytest.mark.parametrize(("language", "words"), EVERYDAY)
async def test_what_only_sounds_like_harm_does(http: Http, language: Language, words: str) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert len(walk.steps) == 1


@pytest.mark.parametrize(("language", "words", "title", "time"), AFTER_THREAD)
async def test_a_verb_with_its_day_after_the_thread_is_a_step_like_any_other(
    http: Http, language: Language, words: str, title: str, time: str | None
) -> None:
    walk = await after_thread(http, language)
    await walk.say(words)
    assert [(step["title"], step.get("due_time")) for step in walk.steps.values()] == [(title, time)]


@pytest.mark.parametrize(("language", "words"), NO_STEP)
async def test_harm_and_what_others_do_after_the_thread_is_none(
    http: Http, language: Language, words: str
) -> None:
    walk = await after_thread(http, language)
    await walk.say(words)
    assert not walk.steps


@pytest.mark.parametrize(
    ("language", "yes", "day", "step"),
    [
        ("en", "yes", "Tomorrow", "call Anna on Friday"),
        ("de", "ja", "Morgen", "Anna am Freitag anrufen"),
        ("es", "sí", "Mañana", "llamar a Ana el viernes"),
    ],
)
async def test_after_a_yes_a_day_alone_is_told_how_again_and_a_step_is_noted(
    http: Http, language: Language, yes: str, day: str, step: str
) -> None:
    walk = await after_thread(http, language)
    await walk.say(yes)
    assert await walk.say(day) == thread(language)["yes"][1]
    await walk.say(step)
    assert len(walk.steps) == 1


@pytest.mark.parametrize(
    ("language", "words"), [("en", "tomorrow is fine"), ("de", "morgen passt"), ("es", "mañana vale")]
)
async def test_a_day_that_fits_is_not_quoted_as_a_step(http: Http, language: Language, words: str) -> None:
    walk = begun(http, language)
    for said in (TOLD[language], *ANSWERS[language][:-1]):
        await walk.say(said)
    reply = await walk.say(words)
    assert words not in reply
    assert thread(language)["piece"]["told"] in reply
