"""A step is noted wherever in a message it is requested, and who asks whether it was hears what is so."""

import pytest

from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

HOW = {"en": "how do I add a step to my list?", "de": "Wie kann ich einen Schritt auf meine Liste setzen?",
       "es": "¿Cómo puedo añadir un paso a mi lista?"}  # fmt: skip


def begun(http: Http, language: str) -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]), says_yes=True)


@pytest.mark.parametrize(
    ("language", "words", "title", "day"),
    [
        ("en", "I'm just tired. please put on the list: ask my sister about tuesdays, on sunday",
         "Ask my sister about tuesdays", "2026-11-29"),
        ("en", 'I know. can you put "ring Moira" on my list for thursday? i think talking to her would help',
         "Ring Moira", "2026-11-26"),
        ("en", "Could you add the tax form to my list? My head is full today.", "The tax form", None),
        ("en", "Add milk to my list. What else was there?", "Milk", None),
        ("de", "Ich bin müde. Kannst du die Steuer auf meine Liste setzen? Sonst vergesse ich es.",
         "Die Steuer", None),
        ("es", "Estoy cansada. ¿Puedes apuntar la declaración en mi lista? Es que se me olvida.",
         "La declaración", None),
    ],
)  # fmt: skip
async def test_a_step_is_noted_that_one_of_the_sentences_requests(
    http: Http, language: str, words: str, title: str, day: str | None
) -> None:
    walk = begun(http, language)
    reply = await walk.say(words)
    assert [(step["title"], step.get("due_date")) for step in walk.steps.values()] == [(title, day)]
    assert title in reply


@pytest.mark.parametrize(
    ("language", "words", "titles"),
    [
        ("en", "well, first one is I need to call the dentist on Wednesday", ["Call the dentist"]),
        ("en", "great thanks. next: finish the budget spreadsheet by friday, and buy paint for the hallway",
         ["Finish the budget spreadsheet", "Buy paint for the hallway"]),
        ("en", "next: call mum, and dad", ["Call mum, and dad"]),
        ("de", "Erstens: den Zahnarzt anrufen", ["Den Zahnarzt anrufen"]),
        ("es", "Lo primero es llamar al dentista", ["Llamar al dentista"]),
    ],
)  # fmt: skip
async def test_once_it_was_said_how_the_first_and_the_next_one_are_noted(
    http: Http, language: str, words: str, titles: list[str]
) -> None:
    walk = begun(http, language)
    await walk.say(HOW[language])
    await walk.say(words)
    assert [step["title"] for step in walk.steps.values()] == titles


@pytest.mark.parametrize("words", ["next: silence", "first: i can't sleep", "last thing: my mum is ill"])
async def test_what_is_only_told_in_an_order_is_no_step(http: Http, words: str) -> None:
    walk = begun(http, "en")
    await walk.say(HOW["en"])
    await walk.say(words)
    assert not walk.steps


async def test_a_step_noted_in_an_arc_is_said_before_its_question(http: Http) -> None:
    walk = begun(http, "en")
    await walk.say("map my life")
    question = walk.prompts[-1]
    await walk.say("it is fine. add milk to my list please")
    assert "Milk" in walk.prompts[-1]
    assert question in walk.prompts[-1]


async def test_before_that_the_first_one_is_only_told(http: Http) -> None:
    walk = begun(http, "en")
    await walk.say("first one is I need to call the dentist on Wednesday")
    assert not walk.steps


@pytest.mark.parametrize(
    ("language", "request_", "words", "yes", "no"),
    [
        ("en", "put milk on my list", "i asked you to put something on it, did you?", "Yes.", "No, I didn't"),
        ("en", "add milk to my list", "did you put milk on my list?", "Yes.", "No, I didn't"),
        ("de", "Setz Milch auf meine Liste", "Hast du das auf meine Liste gesetzt?", "Ja.", "Nein"),
        ("es", "Pon leche en mi lista", "¿lo has puesto en mi lista?", "Sí.", "No, no lo hice"),
    ],
)
async def test_who_asks_whether_something_was_noted_hears_what_is_so(
    http: Http, language: str, request_: str, words: str, yes: str, no: str
) -> None:
    walk = begun(http, language)
    assert (await walk.say(words)).lstrip().count(no)
    await walk.say(request_)
    reply = await walk.say(words)
    assert yes in reply
    assert walk.steps[1]["title"] in reply


async def test_a_request_inside_a_decision_is_done_and_its_question_comes_back(http: Http) -> None:
    walk = begun(http, "en")
    asked = await walk.say("help me decide something")
    reply = await walk.say('can you put "ring Moira" on my list for thursday?')
    assert walk.steps[1]["title"] == "Ring Moira"
    assert asked.rsplit("\n\n", 1)[-1] in reply
