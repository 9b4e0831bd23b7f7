"""A second look at the words of an answer outlives the process that took it."""

import asyncio
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.utils.timezone import now as moment
from pytest_django import Settings

from coaching.life.capture_verdicts import CLAIMED_FOR, TAKEN_WITHIN
from coaching.live.runner import Runner
from coaching.practice import PracticeServer
from coaching.practice.judge import judge_by_labels
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.turns.answer_second_looks import claim_answer_looks
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.models import Session, ToolCallRecord, Turn
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = "claude-haiku-5-5"
QUIET = "My watch is for Ben, after Friday."
PULSE = ToolUse("show_pulse_check", {"context": "How is work?", "domains": ["career"]}, id="toolu_pulse")


async def answered(runner: Runner, practice: PracticeServer, user: User, note: str) -> Session:
    """Ask in a conversation, and answer the question with words of one's own."""
    practice.script([Reply.of(PULSE), "I'm here."])
    session = await in_database(open_conversation, user)
    await runner.open_turn(TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Hello"))
    assert await runner.wait_until_idle(session.id, seconds=30)
    value = {"ratings": {"career": 1}, "note": note}
    await runner.answer_call(user_id=user.pk, session_id=session.id, tool_use_id="toolu_pulse", value=value)
    return session


async def abandoned(practice: PracticeServer, user: User) -> None:
    """Answer with words whose look is lost: the runner ends while the model is asked."""
    practice.judge = lambda _: Reply.of(Hold("never"), Text("{}"))
    runner = Runner()
    session = await answered(runner, practice, user, QUIET)
    await practice.reached("never")
    assert await runner.wait_until_idle(session.id, seconds=30)
    await runner.drain(0)
    assert "second_look" not in (await call()).metadata


async def call() -> ToolCallRecord:
    return await in_database(ToolCallRecord.unscoped.get)


async def later(by: timedelta) -> None:
    """Let so much time have passed for what is stored of the answer."""
    moved = {name: F(name) - by for name in ("look_due_at", "finished_at")}
    await in_database(lambda: ToolCallRecord.unscoped.update(**moved))


async def until_call_looked() -> ToolCallRecord:
    async with asyncio.timeout(60):
        while "second_look" not in (found := await call()).metadata:  # noqa: ASYNC110 - a task stores it
            await asyncio.sleep(0.02)
    return found


async def test_a_look_at_an_answer_that_its_process_lost_is_taken_by_another(
    practice: PracticeServer, user: User, settings: Settings
) -> None:
    settings.SAGE_SAFETY_MODEL = MODEL
    await abandoned(practice, user)
    assert await in_database(claim_answer_looks, now=moment()) == [], "it may still be running"
    await later(CLAIMED_FOR)
    practice.judge = judge_by_labels({QUIET: "immediate"})
    other = Runner()
    taking = asyncio.create_task(other.second_looks.take_lost())
    found = await until_call_looked()
    taking.cancel()
    await other.drain(0)
    assert found.metadata["safety"]["level"] == "immediate"
    assert found.look_due_at is None


@pytest.mark.parametrize("reason", ["claimed", "withdrawn", "long ago", "switched off"])
async def test_a_lost_look_at_an_answer_is_not_taken_where_it_is_no_use(
    practice: PracticeServer, user: User, settings: Settings, reason: str
) -> None:
    settings.SAGE_SAFETY_MODEL = MODEL
    await abandoned(practice, user)
    await later(TAKEN_WITHIN if reason == "long ago" else CLAIMED_FOR)
    match reason:
        case "claimed":
            assert len(await in_database(claim_answer_looks, now=moment())) == 1
        case "withdrawn":
            await in_database(Turn.unscoped.update, is_withdrawn=True)
        case "switched off":
            settings.SAGE_SAFETY_MODEL = ""
    assert await in_database(claim_answer_looks, now=moment()) == []


async def test_an_answer_of_clear_danger_or_without_words_waits_for_no_look(
    practice: PracticeServer, user: User, settings: Settings
) -> None:
    settings.SAGE_SAFETY_MODEL = MODEL
    for note in ("I want to kill myself.", ""):
        runner = Runner()
        session = await answered(runner, practice, user, note)
        assert await runner.wait_until_idle(session.id, seconds=30)
        await runner.drain(0)
    due = await in_database(lambda: list(ToolCallRecord.unscoped.values_list("look_due_at", flat=True)))
    assert due == [None, None]
