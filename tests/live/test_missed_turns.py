"""Readers who are behind another process get what they missed before a turn that opens here.

Two runners share the database, and nothing makes readers of one follow the turns of the other.
"""

import asyncio

import pytest

from coaching.events import CallAnswered, CallPending, MessageStored, Sync, TextDelta, TurnDone, TurnEvent
from coaching.live.hub import Subscription
from coaching.live.runner import Runner
from coaching.practice import PracticeServer
from coaching.practice.script import Hold, Reply, ToolUse
from coaching.turns.request import TurnRequest
from sessions_app.models import Session
from tests.live.conftest import attached

pytestmark = pytest.mark.django_db(transaction=True)

PILLS = ToolUse("show_options", {"options": [{"label": "Fine"}, {"label": "Tired"}]}, id="toolu_pills")


async def say(runner: Runner, session: Session, text: str) -> None:
    await runner.open_turn(
        TurnRequest(kind="message", user_id=session.user_id, session_id=session.id, text=text)
    )


async def say_and_wait(runner: Runner, session: Session, text: str) -> None:
    await say(runner, session, text)
    assert await runner.wait_until_idle(session.id, seconds=30)


async def until_done(reader: Subscription, status: str = "completed", *, count: int = 1) -> list[TurnEvent]:
    """Return all events until that many ends of this kind have come."""
    events: list[TurnEvent] = []
    async with asyncio.timeout(30):
        while [event.status for event in events if isinstance(event, TurnDone)].count(status) < count:
            events += await reader.next_batch()
    return events


def told(events: list[TurnEvent]) -> list[str]:
    """Return messages, questions, their answers, and ends, in order."""
    words = []
    for event in events:
        match event:
            case MessageStored():
                words.append(event.text)
            case CallPending():
                words.append("question")
            case CallAnswered():
                words.append(event.state)
            case TurnDone():
                words.append(f"{event.status}: {event.text}")
    return words


async def test_a_whole_turn_of_another_process_is_shown_before_the_next_one(
    runners: tuple[Runner, Runner], session: Session, practice: PracticeServer
) -> None:
    here, elsewhere = runners
    practice.script(["First.", "Second."])
    reader = await attached(here.readers, session)
    await say_and_wait(elsewhere, session, "One")
    await say(here, session, "Two")
    events = await until_done(reader, count=2)
    assert told(events) == ["One", "completed: First.", "Two", "completed: Second."]
    assert [event.number for event in events if isinstance(event, MessageStored)] == [1, 3]


async def test_the_last_words_of_a_turn_that_was_followed_come_before_the_next_one(
    runners: tuple[Runner, Runner], session: Session, practice: PracticeServer
) -> None:
    here, elsewhere = runners
    practice.script([Reply.of("First ", Hold("middle"), "half."), "Second."])
    reader = await attached(here.readers, session)
    await say(elsewhere, session, "One")
    await practice.reached("middle")
    assert await here.readers.catch_up(session.id)
    practice.release("middle")
    assert await elsewhere.wait_until_idle(session.id, seconds=30)
    await say(here, session, "Two")
    events = await until_done(reader, count=2)
    assert told(events) == ["One", "completed: First half.", "Two", "completed: Second."]
    first = events[: next(place for place, event in enumerate(events) if isinstance(event, TurnDone))]
    shown = ""
    for event in first:
        if isinstance(event, Sync | TextDelta):
            shown = event.text if isinstance(event, Sync) else shown + event.text
    assert shown == "First half."


async def test_a_question_that_was_answered_elsewhere_is_over_before_the_next_turn(
    runners: tuple[Runner, Runner], session: Session, practice: PracticeServer
) -> None:
    here, elsewhere = runners
    practice.script([Reply.of("How are you?", PILLS), "Good to hear.", "Second."])
    reader = await attached(here.readers, session)
    await say_and_wait(elsewhere, session, "One")
    assert await here.readers.catch_up(session.id)
    await elsewhere.answer_call(
        user_id=session.user_id, session_id=session.id, tool_use_id="toolu_pills", value="Fine"
    )
    assert await elsewhere.wait_until_idle(session.id, seconds=30)
    await say(here, session, "Two")
    words = told(await until_done(reader, count=2))
    assert words[:4] == ["One", "question", "awaiting_user: ", "answered"]
    assert [word.partition(":")[0] for word in words[4:]] == ["completed", "Two", "completed"]


async def test_a_question_is_shown_before_an_answer_to_it_that_comes_first(
    runners: tuple[Runner, Runner], session: Session, practice: PracticeServer
) -> None:
    here, elsewhere = runners
    practice.script([Reply.of("How ", Hold("middle"), "are you?", PILLS), "Good to hear."])
    reader = await attached(here.readers, session)
    await say(elsewhere, session, "One")
    await practice.reached("middle")
    assert await here.readers.catch_up(session.id)
    practice.release("middle")
    assert await elsewhere.wait_until_idle(session.id, seconds=30)
    await here.answer_call(
        user_id=session.user_id, session_id=session.id, tool_use_id="toolu_pills", value="Fine"
    )
    words = told(await until_done(reader))
    assert words[:4] == ["One", "question", "awaiting_user: ", "answered"]
    assert [word.partition(":")[0] for word in words[4:]] == ["completed"]


async def test_a_question_that_this_message_replaces_ends_once(
    runners: tuple[Runner, Runner], session: Session, practice: PracticeServer
) -> None:
    here, _ = runners
    practice.script([Reply.of("How are you?", PILLS), "Second."])
    reader = await attached(here.readers, session)
    await say_and_wait(here, session, "One")
    await say(here, session, "Two")
    words = told(await until_done(reader))
    assert words == ["One", "question", "awaiting_user: ", "superseded", "Two", "completed: Second."]
