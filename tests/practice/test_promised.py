"""What the guided tour takes for a promise: what somebody will do, and not what they have done."""

import pytest

from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

PAST = [
    ("es", "hoy aprobé el examen de conducir a la cuarta!!"),
    ("es", "hoy llamé al banco por fin"),
    ("es", "esta tarde hablé con mi jefe"),
    ("es", "hoy le escribí a mi hermana"),
    ("es", "hoy preparé la comida para todos"),
    ("es", "hoy hizo mucho frío en casa"),
    ("es", "hoy mi hermana aprobó el examen"),
    ("es", "esta mañana salí a correr con Ana"),
    ("es", "hoy he terminado el informe"),
    ("de", "heute hab ich die Führerscheinprüfung bestanden"),
    ("de", "heute habe ich endlich die Bank angerufen"),
    ("de", "heute bin ich zum Arzt gegangen"),
    ("en", "I passed my driving test today"),
    ("en", "today i called the bank at last"),
]
COMING = [
    ("es", "mañana llamaré al banco"),
    ("es", "mañana llamo al banco"),
    ("es", "hoy iré al gimnasio con Ana"),
    ("es", "el lunes le escribiré a mi hermana"),
    ("es", "esta tarde saldré a correr"),
    ("de", "heute rufe ich die Bank an"),
    ("en", "I'll call the bank today"),
    ("en", "I'll go swimming tomorrow at 9, and on Thursday I'll call my friend Jo!"),
    ("en", "put 'write the statement' on my list for tomorrow morning"),
]


async def noted(http: Http, language: str, words: str) -> list[str]:
    """Return the titles of the steps that are noted of words."""
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    await walk.say(words)
    return [values["title"] for name, values in walk.calls if name == "create_action_item"]


@pytest.mark.parametrize(("language", "words"), PAST)
async def test_what_has_happened_is_no_next_step(http: Http, language: str, words: str) -> None:
    assert await noted(http, language, words) == []


@pytest.mark.parametrize(("language", "words"), COMING)
async def test_what_will_be_done_is_one(http: Http, language: str, words: str) -> None:
    assert len(await noted(http, language, words)) == 1


async def test_a_promise_beside_a_request_to_be_reminded_is_noted_and_both_are_answered(http: Http) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language="English"))
    await walk.say("i could go the other way round, past the church")
    reply = await walk.say("cough cough. ok ill take the church way tomorrow. can you remind me at 5?")
    assert walk.names() == ["create_action_item"]
    assert "is on your list" in reply
    assert "I can't remind you at an hour" in reply


@pytest.mark.parametrize(
    ("language", "words", "untrue"),
    [
        ("en", "can you remind me at 5?", "What you say you'll do on a day goes on your list"),
        ("de", "Kannst du mich um fünf erinnern?", "Was du für einen Tag ankündigst, kommt auf deine Liste"),
    ],
)
async def test_a_request_to_be_reminded_alone_is_told_how_and_not_that_it_is_noted(
    http: Http, language: str, words: str, untrue: str
) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    reply = await walk.say(words)
    assert untrue not in reply
    assert walk.names() == []
