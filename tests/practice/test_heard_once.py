"""What was said once counts: no question comes back after its answer, and a stop or a doubt is heard."""

import pytest

from coaching.practice.coach import texts
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk


def begun(http: Http, language: str = "en") -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))


STORED = {
    "en": "database of the server",
    "de": "Datenbank des Servers",
    "es": "base de datos del servidor",
}


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "ok so basically eliza. Where does what I type go, is it stored anywhere?"),
        ("en", "is what i write saved somewhere?"),
        ("en", "what happens with my answers here, do they get saved?"),
        ("de", "Wo landet eigentlich, was ich schreibe?"),
        ("de", "Was passiert mit meinen Antworten?"),
        ("es", "¿Dónde se guarda lo que escribo?"),
        ("es", "¿Se guardan mis respuestas?"),
    ],
)
async def test_who_asks_where_their_words_go_hears_where_they_are_stored(
    http: Http, language: str, words: str
) -> None:
    walk = begun(http, language)
    await walk.say({"en": "hello", "de": "Hallo", "es": "Hola"}[language])
    assert STORED[language] in await walk.say(words)


async def test_in_an_arc_the_question_comes_back_after_that(http: Http) -> None:
    walk = begun(http)
    await walk.say("map my life")
    question = walk.pending["input"]["prompt"] if walk.pending else ""
    reply = await walk.say("Hm. before that: what happens with my answers here, do they get saved?")
    assert STORED["en"] in reply
    assert walk.pending is not None
    assert walk.pending["input"]["prompt"] == question


@pytest.mark.parametrize(
    "words",
    [
        "actually stop the life map, i don't want to do the rest. can it do anything a paper notebook can't?",
        "ok let's stop the questions, they tire me",
        "I don't want to do the rest",
        "Ich will den Rest nicht mehr machen",
        "Dejemos el mapa, estoy cansada",
    ],
)
async def test_an_arc_stops_for_who_says_so_among_other_words(http: Http, words: str) -> None:
    walk = begun(http)
    await walk.say("map my life")
    await walk.say(words)
    assert "complete_session" in [name for name, _ in walk.calls]


async def test_the_rest_of_a_studies_is_an_answer(http: Http) -> None:
    walk = begun(http)
    await walk.say("map my life")
    await walk.say("I don't want to do the rest of my degree")
    assert "complete_session" not in [name for name, _ in walk.calls]


async def test_no_file_of_an_arc_is_called_as_programs_call_it(http: Http) -> None:
    walk = begun(http)
    await walk.say("map my life")
    reply = await walk.say("stop")
    assert "sage context" not in reply


@pytest.mark.parametrize(
    "words", ["I just answered that.", "i already said that", "I just told you that. next"]
)
async def test_who_has_just_answered_is_not_asked_the_same_again(http: Http, words: str) -> None:
    walk = begun(http)
    await walk.say("help me decide something")
    question = texts.stands_in
    asked = (await walk.say("whether to stay or go, by Friday")).rsplit("\n\n", 1)[-1]
    reply = await walk.say(words)
    assert asked not in reply
    assert question("answered", reply, "reactions")


async def test_a_doubtful_answer_is_no_question_to_the_tour(http: Http) -> None:
    walk = begun(http)
    await walk.say("Hello, I got a job offer and I have until Friday to decide")
    await walk.say("I'm torn. It pays more but I'd have to leave a team I love")
    reply = await walk.say("toward staying I think? but then I feel like a coward")
    assert not texts.stands_in("unanswerable", reply, "reactions")


@pytest.mark.parametrize(
    "words",
    [
        "anyway what can i actually do about thursday, i can't concentrate for more than ten minutes",
        "what can I do against it, I keep putting the book away",
    ],
)
async def test_who_asks_what_to_do_about_it_gets_the_known_tip(http: Http, words: str) -> None:
    walk = begun(http)
    await walk.say("i've got my stats exam on thursday and i feel sick every time i open the book")
    reply = await walk.say(words)
    assert "often works" in reply or "helps" in reply
