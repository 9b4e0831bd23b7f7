"""What the server's rule says of a step in the tour: it is written at once, or a card asks first."""

import pytest

from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

NOTED = {
    "en": "I'll call Ana on Friday",
    "de": "Am Freitag rufe ich Ana an",
    "es": "El viernes voy a llamar a Ana",
}
MOVES = [
    ("en", "no, make it Thursday"),
    ("en", "No, Thursday."),
    ("en", "make it Thursday"),
    ("en", "Oh, Friday doesn't work. Thursday then"),
    ("de", "nein, lieber Donnerstag"),
    ("de", "Nee, Donnerstag"),
    ("de", "lieber am Donnerstag"),
    ("es", "mejor el jueves"),
    ("es", "no, mejor el jueves"),
    ("es", "no, el jueves"),
]
REQUESTED = [
    ("en", "remind me to buy milk tomorrow at 10", "Buy milk", "10:00"),
    ("de", "Erinnere mich morgen um 10 Uhr daran, Milch zu kaufen", "Milch zu kaufen", "10:00"),
    ("es", "recuérdame mañana a las 10 comprar leche", "Comprar leche", "10:00"),
]
YES = {"en": "yes please", "de": "ja bitte", "es": "sí, por favor"}
NO = {"en": "no", "de": "nein", "es": "no"}
DROPS = {"en": "delete that", "de": "lösch das", "es": "bórralo"}
TWO = [
    ("en", "I'll go swimming tomorrow at 9, and on Thursday I'll call my friend Jo!",
     ["Go swimming", "Call my friend Jo"]),
    ("de", "Morgen um 9 gehe ich schwimmen, und am Donnerstag rufe ich Jo an!",
     ["Ich gehe schwimmen", "Ich rufe Jo an"]),
    ("es", "Mañana a las 9 voy a nadar, y el jueves voy a llamar a Jo", ["Nadar", "Llamar a Jo"]),
]  # fmt: skip


def begun(http: Http, language: str) -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))


@pytest.mark.parametrize(("language", "words"), MOVES)
async def test_another_day_for_a_step_moves_it_at_once(http: Http, language: str, words: str) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    await walk.say(words)
    assert walk.card is None
    assert [step["due_date"] for step in walk.steps.values()] == ["2026-11-26"]


@pytest.mark.parametrize(("language", "words", "title", "time"), REQUESTED)
async def test_a_requested_step_is_in_a_card_and_on_the_list_after_a_yes(
    http: Http, language: str, words: str, title: str, time: str
) -> None:
    walk = begun(http, language)
    reply = await walk.say(words)
    assert walk.card is not None
    assert not walk.steps
    assert title in reply
    assert title in await walk.tap("yes")
    assert [(step["title"], step["due_time"]) for step in walk.steps.values()] == [(title, time)]


@pytest.mark.parametrize(("language", "words", "title", "time"), REQUESTED)
async def test_a_yes_that_is_written_counts_like_one_that_is_tapped(
    http: Http, language: str, words: str, title: str, time: str
) -> None:
    walk = begun(http, language)
    await walk.say(words)
    await walk.say(YES[language])
    assert [step["title"] for step in walk.steps.values()] == [title]
    other = begun(http, language)
    await other.say(words)
    await other.say(NO[language])
    assert not other.steps
    assert other.card is None


@pytest.mark.parametrize("language", NOTED)
async def test_a_step_is_dropped_only_after_a_yes(http: Http, language: str) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    await walk.say(DROPS[language])
    assert walk.card is not None
    await walk.tap("no")
    assert walk.steps[1]["state"] == "open"
    await walk.say(DROPS[language])
    await walk.tap("yes")
    assert walk.steps[1]["state"] == "dropped"


@pytest.mark.parametrize(("language", "words", "titles"), TWO)
async def test_two_steps_in_one_message_are_both_noted(
    http: Http, language: str, words: str, titles: list[str]
) -> None:
    walk = begun(http, language)
    reply = await walk.say(words)
    assert [step["title"] for step in walk.steps.values()] == titles
    assert [step["due_date"] for step in walk.steps.values()] == ["2026-11-25", "2026-11-26"]
    assert all(title in reply for title in titles)
