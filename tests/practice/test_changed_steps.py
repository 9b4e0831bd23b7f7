"""Steps that are taken back, said in other words, or said of a place that was named before."""

import pytest

from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

NOTED = {
    "en": "I'll go to chess on Thursday",
    "de": "Am Donnerstag gehe ich zum Schach",
    "es": "El jueves voy a ir al ajedrez",
}
FORGET = {"en": "Forget it", "de": "vergiss es", "es": "olvídalo"}
LATER = {
    "en": ["my boss is odd", "it rained", "I ate late", "what's on my list?", "delete that"],
    "de": [
        "mein Chef nervt",
        "es hat geregnet",
        "es gab spät Essen",
        "was steht auf meiner Liste?",
        "lösch das",
    ],
    "es": ["mi jefe es raro", "llovió mucho", "cenamos tarde", "¿qué hay en mi lista?", "bórralo"],
}
AND_ASKS = {
    "en": "scrap that, what's on my list?",
    "de": "lösch das, was steht auf meiner Liste?",
    "es": "bórralo, ¿qué hay en mi lista?",
}
IN_PLACE = {
    "en": ("Then delete that please and note: on Thursday I'll visit Bob", "Visit Bob"),
    "de": ("Dann streichen Sie das bitte und notieren: Am Donnerstag besuche ich Bob", "Ich besuche Bob"),
    "es": ("Pues borre eso y apunte: el jueves voy a visitar a Bob", "Visitar a Bob"),
}
OTHER_WORDS = {
    "en": ("Please write: chess afternoon at the hall", "Its words"),
    "de": ("Schreiben Sie bitte: Schachnachmittag im Gemeindehaus.", "Seine Worte"),
    "es": ("Escriba por favor: tarde de ajedrez en el centro", "Sus palabras"),
}
JOKES = [
    ("en", "I'll marry a llama on Tuesday lol"),
    ("en", "I'll marry a llama on Tuesday. Haha"),
    ("de", "am Dienstag heirate ich ein Lama haha"),
    ("es", "el martes voy a casarme con una llama jaja"),
]
THERE = [
    ("de", "Am Donnerstag ist im Gemeindehaus ein Schachnachmittag, da gehe ich mal hin.",
     ["Im Gemeindehaus ein Schachnachmittag"]),
    ("es", "El jueves hay ajedrez en el centro, voy a ir ahí", ["Ajedrez en el centro"]),
    ("en", "On Thursday there's chess at the hall, I'm going to go there", ["Chess at the hall"]),
    ("de", "Da gehe ich am Donnerstag mal hin", []),
    ("es", "el jueves voy a ir ahí", []),
]  # fmt: skip
ASKED = [
    ("en", "what time is it?", "clock"),
    ("en", "is it Friday today?", "Today is Tuesday"),
    ("de", "ist es heute Freitag?", "Heute ist Dienstag"),
    ("es", "¿es viernes hoy?", "Hoy es martes"),
]


def begun(http: Http, language: str) -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]), says_yes=True)


def state(walk: TalkWalk) -> list[str]:
    return [step["state"] for step in walk.steps.values()]


@pytest.mark.parametrize("language", NOTED)
async def test_forget_it_right_after_a_step_drops_it_and_later_does_not(http: Http, language: str) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    await walk.say(FORGET[language])
    assert state(walk) == ["dropped"]
    other = begun(http, language)
    for words in (NOTED[language], *LATER[language][:3], FORGET[language]):
        await other.say(words)
    assert state(other) == ["open"]


@pytest.mark.parametrize("language", NOTED)
async def test_a_step_that_the_last_answer_names_is_dropped_however_long_ago_it_was_noted(
    http: Http, language: str
) -> None:
    walk = begun(http, language)
    for words in (NOTED[language], *LATER[language]):
        await walk.say(words)
    assert state(walk) == ["dropped"]


@pytest.mark.parametrize("language", NOTED)
async def test_a_step_is_dropped_where_something_is_asked_in_the_same_message(
    http: Http, language: str
) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    await walk.say(AND_ASKS[language])
    assert state(walk) == ["dropped"]


@pytest.mark.parametrize("language", NOTED)
async def test_a_step_is_dropped_and_another_noted_in_one_message(http: Http, language: str) -> None:
    words, title = IN_PLACE[language]
    walk = begun(http, language)
    await walk.say(NOTED[language])
    reply = await walk.say(words)
    assert state(walk) == ["dropped", "open"]
    assert walk.steps[2]["title"] == title
    assert title in reply


@pytest.mark.parametrize("language", NOTED)
async def test_who_says_a_step_in_other_words_is_told_where_they_are_changed(
    http: Http, language: str
) -> None:
    words, said = OTHER_WORDS[language]
    walk = begun(http, language)
    await walk.say(NOTED[language])
    assert said in await walk.say(words)


@pytest.mark.parametrize(("language", "words"), JOKES)
async def test_what_is_laughed_about_is_no_step(http: Http, language: str, words: str) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert not walk.steps


@pytest.mark.parametrize(("language", "words", "titles"), THERE)
async def test_who_goes_there_has_the_name_of_it_on_the_list_or_nothing(
    http: Http, language: str, words: str, titles: list[str]
) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert [step["title"] for step in walk.steps.values()] == titles


@pytest.mark.parametrize(("language", "words", "said"), ASKED)
async def test_what_time_or_day_it_is_after_a_step_is_answered(
    http: Http, language: str, words: str, said: str
) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    assert said in await walk.say(words)
