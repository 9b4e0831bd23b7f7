"""Steps out of the thread: what somebody could do is offered, a day is joined, complaints are owned."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.texts import LANGUAGES, Language
from coaching.practice.coach.thread import thread
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

ASKED: dict[Language, tuple[str, ...]] = {
    "en": ("My neighbour plays the drums", "the noise", "quiet"),
    "de": ("Mein Nachbar spielt Schlagzeug", "der Lärm", "Ruhe"),
    "es": ("Mi vecino toca la batería", "el ruido", "silencio"),
}
COULD: list[tuple[Language, str, str]] = [
    ("en", "I could text him on Thursday, no blame", "text him, no blame"),
    ("en", "Good question. Maybe I could knock at his door on Thursday, but I'm shy", "knock at his door"),
    ("de", "Ich könnte ihm am Donnerstag schreiben, ohne Vorwürfe", "ihm schreiben, ohne Vorwürfe"),
    ("de", "Vielleicht könnte ich ihm am Donnerstag schreiben, aber ich trau mich nicht", "ihm schreiben"),
    ("es", "Podría mandarle un WhatsApp el jueves, sin reproches.", "mandarle un WhatsApp, sin reproches"),
    ("es", "Buena pregunta. Podría llamarlo el jueves, pero me da vergüenza", "llamarlo"),
]
UNDATED: dict[Language, tuple[str, str, str]] = {
    "en": ("I could ask him", "on Thursday", "ask him"),
    "de": ("ich könnte ihn fragen", "vllt am donnerstag", "ihn fragen"),
    "es": ("podría hablar con él", "el jueves", "hablar con él"),
}
LATE: dict[Language, tuple[str, str, str]] = {
    "en": (
        "The walls are thin here and the stairs creak at night",
        "I'd like to sleep through",
        "to sleep through",
    ),
    "de": (
        "Die Wände sind hier dünn und die Treppe knarrt nachts",
        "Ich würde gern durchschlafen",
        "durchschlafen",
    ),
    "es": (
        "Las paredes son finas y la escalera cruje por las noches",
        "Me gustaría dormir bien",
        "dormir bien",
    ),
}
DAUNTED: dict[Language, str] = {
    "en": "I'm too shy for that",
    "de": "da trau ich mich nicht",
    "es": "me da vergüenza",
}
SAYS_WHEN: list[tuple[Language, str]] = [
    ("en", "maybe on Thursday after work"),
    ("en", "Thursday would be good"),
    ("de", "vllt donnerstag in der mittagspause"),
    ("de", "Donnerstagabend, da habe ich Zeit"),
    ("de", "Donnerstag wäre gut"),
    ("es", "el jueves después de comer"),
    ("es", "el jueves por la tarde"),
]
YES: dict[Language, str] = {"en": "yes please", "de": "ja gern", "es": "sí"}
NO: dict[Language, str] = {"en": "no", "de": "nein", "es": "no"}
HARM: dict[Language, str] = {
    "en": "I could hit him on Thursday",
    "de": "Ich könnte ihn am Donnerstag schlagen",
    "es": "Podría pegarle el jueves",
}
COMPLAINTS: list[tuple[Language, str]] = [
    ("en", "I didn't ask about your age. Anyway. On Thursday I'll knock at his door."),
    ("en", "That's not an answer. On Thursday I'll knock at his door."),
    ("de", "Ich habe nicht danach, sondern nach einem Rat gefragt. Aber gut. Am Donnerstag rufe ich ihn an."),
    ("de", "Das war nicht meine Frage. Ich rufe ihn am Donnerstag an."),
    ("es", "No te he preguntado eso. En fin. El jueves voy a llamar a su puerta."),
    ("es", "Eso no me sirve. El jueves voy a llamar a su puerta."),
]  # fmt: skip


def begun(http: Http, language: Language) -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))


async def _asked(http: Http, language: Language) -> TalkWalk:
    walk = begun(http, language)
    for words in ASKED[language]:
        await walk.say(words)
    return walk


@pytest.mark.parametrize(("language", "words", "title"), COULD)
async def test_what_somebody_could_do_on_a_day_is_offered_and_noted_after_a_yes(
    http: Http, language: Language, words: str, title: str
) -> None:
    walk = await _asked(http, language)
    assert texts.stands_in("offer_step", await walk.say(words))
    assert not walk.steps, "what somebody could do is no promise"
    await walk.say(YES[language])
    assert [(step["title"].lower(), step["due_date"]) for step in walk.steps.values()] == [
        (title.lower(), "2026-11-26")
    ]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_after_a_no_it_is_not_noted(http: Http, language: Language) -> None:
    walk = await _asked(http, language)
    await walk.say(next(words for code, words, _ in COULD if code == language))
    assert texts.stands_in("step_not_kept", await walk.say(NO[language]))
    assert not walk.steps


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_day_alone_is_joined_with_what_they_could_do(http: Http, language: Language) -> None:
    walk = await _asked(http, language)
    could, day, title = UNDATED[language]
    await walk.say(could)
    assert texts.stands_in("offer_step", await walk.say(day))
    await walk.say(YES[language])
    assert [(step["title"].lower(), step["due_date"]) for step in walk.steps.values()] == [
        (title, "2026-11-26")
    ]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_harm_that_somebody_could_do_is_not_offered(http: Http, language: Language) -> None:
    walk = await _asked(http, language)
    assert not texts.stands_in("offer_step", await walk.say(HARM[language]))
    await walk.say(YES[language])
    assert not walk.steps


@pytest.mark.parametrize(("language", "words"), COMPLAINTS)
async def test_a_complaint_before_something_new_is_owned_and_the_new_thing_done(
    http: Http, language: Language, words: str
) -> None:
    walk = await _asked(http, language)
    reply = await walk.say(words)
    with texts.speaking(language):
        assert reply.startswith(texts.answers("owned")[0])
    assert [step["due_date"] for step in walk.steps.values()] == ["2026-11-26"]


async def test_a_complaint_alone_is_answered_as_one(http: Http) -> None:
    walk = await _asked(http, "en")
    with texts.speaking("en"):
        assert texts.answers("owned")[0] not in await walk.say("That's not an answer.")


@pytest.mark.parametrize(("language", "words"), SAYS_WHEN)
async def test_words_that_only_say_when_are_joined_with_what_they_could_do(
    http: Http, language: Language, words: str
) -> None:
    walk = await _asked(http, language)
    await walk.say(UNDATED[language][0])
    reply = await walk.say(words)
    assert texts.stands_in("offer_step", reply)
    assert UNDATED[language][2] in reply.lower()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_they_would_like_answers_the_question_before_if_none_was_asked_since(
    http: Http, language: Language
) -> None:
    walk = begun(http, language)
    beside, late, quote = LATE[language]
    for words in (*ASKED[language][:2], beside):
        reply = await walk.say(words)
    assert "?" not in reply
    assert thread(language)["wish"]["took"].format(words=quote) in await walk.say(late)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_only_says_how_hard_it_is_is_not_quoted_as_what_is_in_their_hands(
    http: Http, language: Language
) -> None:
    walk = await _asked(http, language)
    reply = await walk.say(DAUNTED[language])
    assert reply.startswith(thread(language)["daunts"])
    assert DAUNTED[language] not in reply


def test_each_language_hears_and_says_the_same_in_the_thread() -> None:
    for code in LANGUAGES:
        assert thread(code).keys() == thread("en").keys()
        assert thread(code)["heard"].keys() == thread("en")["heard"].keys()
