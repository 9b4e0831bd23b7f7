"""What the server's rule says of a step in the tour: it is written at once, or a card asks first."""

import pytest

from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

NOTED = {
    "en": "I'll call Ana on Friday",
    "de": "Am Freitag rufe ich Ana an",
    "es": "El viernes voy a llamar a Ana",
}
REQUESTED = [
    ("en", "remind me to buy milk tomorrow at 10", "10:00"),
    ("de", "Erinnere mich morgen um 10 Uhr daran, Milch zu kaufen", "10:00"),
    ("es", "recuérdame mañana a las 10 comprar leche", "10:00"),
]
DROPS = {"en": "delete that", "de": "lösch das", "es": "bórralo"}


def begun(http: Http, language: str) -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))


@pytest.mark.parametrize("language", NOTED)
async def test_a_promise_is_written_at_once(http: Http, language: str) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    assert walk.card is None
    assert [step["due_date"] for step in walk.steps.values()] == ["2026-11-27"]


@pytest.mark.parametrize(("language", "words", "time"), REQUESTED)
async def test_a_requested_step_is_in_a_card_and_on_the_list_after_a_yes(
    http: Http, language: str, words: str, time: str
) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert walk.card is not None
    assert not walk.steps
    reply = await walk.tap("yes")
    assert [step["due_time"] for step in walk.steps.values()] == [time]
    assert walk.steps[1]["title"] in reply


@pytest.mark.parametrize(("language", "words", "time"), REQUESTED)
async def test_after_a_no_nothing_is_on_the_list(http: Http, language: str, words: str, time: str) -> None:
    walk = begun(http, language)
    await walk.say(words)
    await walk.tap("no")
    assert not walk.steps
    assert walk.card is None


async def test_another_day_after_a_no_waits_for_a_yes(http: Http) -> None:
    walk = begun(http, "en")
    await walk.say(NOTED["en"])
    await walk.say("no, make it Thursday")
    assert walk.card is not None
    assert walk.steps[1]["due_date"] == "2026-11-27"
    await walk.tap("yes")
    assert walk.steps[1]["due_date"] == "2026-11-26"


@pytest.mark.parametrize("language", NOTED)
async def test_a_step_is_dropped_only_after_a_yes(http: Http, language: str) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    await walk.say(DROPS[language])
    assert walk.card is not None
    await walk.tap("no")
    assert walk.steps[1]["state"] == "open"
    other = begun(http, language)
    await other.say(NOTED[language])
    await other.say(DROPS[language])
    await other.tap("yes")
    assert other.steps[1]["state"] == "dropped"
