"""Readers hear the same of a session's facts at once, right after the commit here, and later from the log."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args, get_type_hints
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from coaching.events import (
    AnswerChosen,
    CallAnswered,
    CallPending,
    HistoryChanged,
    MessageStored,
    NoteDelta,
    RoundBoundary,
    RoundClosed,
    Sync,
    TextDelta,
    TitleChanged,
    ToolCallFinished,
    ToolCallStarted,
    TurnDone,
    TurnEvent,
    TurnStarted,
)
from coaching.live.hub import Subscription
from coaching.live.readers import Readers
from coaching.live.runner import Runner
from coaching.live.showing import SHOWN, shown
from coaching.practice import PracticeServer
from coaching.practice.script import Hold, Reply, ToolUse
from coaching.sockets.fragments import FRAGMENTS
from coaching.sockets.frames import FRAMES
from coaching.turns.request import RequestKind, TurnRequest
from sessions_app.database import in_database
from sessions_app.models import Message, MessageRole, Session, SessionEvent, TurnStatus
from sessions_app.session_events import FACT_TYPES, Numbered, listeners
from sessions_app.titles import rename_session
from sessions_app.turn_endings import Ending, close_turn
from tests.architecture.parsing import parse
from tests.live.conftest import ask, attached
from tests.sage.processes import PROJECT
from tests.stored_turns import open_conversation, open_turn

PROGRESS = (Sync, TextDelta, NoteDelta, RoundBoundary, RoundClosed, ToolCallStarted, ToolCallFinished)
pytestmark = pytest.mark.django_db(transaction=True)

PILLS = ToolUse("show_options", {"options": [{"label": "Fine"}, {"label": "Tired"}]}, id="toolu_pills")
BEGIN = ToolUse("enter_structured_arc", {"arc": "open_day"})


def appended() -> Iterator[str]:
    """Yield the names of the facts that product code makes, outside their own module."""
    for package in ("coaching", "sessions_app"):
        for path in (PROJECT / package).rglob("*.py"):
            if "migrations" in path.parts or path.name == "session_events.py":
                continue
            for node in ast.walk(parse(path)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    yield node.func.id


@pytest.mark.slow
def test_each_fact_is_appended_somewhere_and_is_shown_with_a_frame_and_a_fragment() -> None:
    facts = set(FACT_TYPES.values())
    assert {fact.__name__ for fact in facts} <= set(appended())
    assert SHOWN.keys() == facts
    for fact, show in SHOWN.items():
        (of_one,) = get_args(get_type_hints(show)["return"])
        events = get_args(of_one) or (of_one,)
        assert events
        assert set(events) < set(get_args(TurnEvent)), fact
        assert set(events) <= FRAMES.keys() & FRAGMENTS.keys(), fact


@pytest.fixture
def elsewhere() -> Readers:
    """The readers of another process: they hear of nothing here, and have only the database."""
    readers = Readers()
    listeners.discard(readers)
    return readers


async def facts_told(reader: Subscription) -> list[TurnEvent]:
    """Return what a reader was told, apart from streamed text and the session's title at that time."""
    told = [event for event in await reader.next_batch() if not isinstance(event, PROGRESS)]
    return [replace(event, place=None) if isinstance(event, MessageStored) else event for event in told]


async def live_through(runner: Runner, session: Session) -> None:
    """Ask, answer, enter an arc, change the title."""
    user_id = session.user_id
    await ask(runner, session, "message", "One")
    await runner.answer_call(user_id=user_id, session_id=session.id, tool_use_id="toolu_pills", value="Fine")
    assert await runner.wait_until_idle(session.id, seconds=30)
    await in_database(rename_session, user_id=user_id, session_id=session.id, title="My plans")
    await ask(runner, session, "message", "Two")


async def test_who_reads_the_log_later_hears_what_was_told_at_once(
    practice: PracticeServer, runner: Runner, elsewhere: Readers, session: Session
) -> None:
    practice.script([Reply.of("How are you?", PILLS), "Good.", Reply.of("Now: ", BEGIN), "We begin."])
    here, there = await attached(runner.readers, session), await attached(elsewhere, session)
    await live_through(runner, session)
    assert await elsewhere.catch_up(session.id)
    told = await facts_told(here)
    assert await facts_told(there) == told
    assert [event.text for event in told if isinstance(event, MessageStored)] == ["One", "Two"]
    kinds = {type(event) for event in told}
    assert {CallPending, CallAnswered, TitleChanged, TurnDone} < kinds
    assert await elsewhere.catch_up(session.id)
    assert elsewhere.hubs[session.id].seq == runner.readers.hubs[session.id].seq


async def test_who_catches_up_after_each_step_hears_the_same(
    practice: PracticeServer, runner: Runner, elsewhere: Readers, session: Session
) -> None:
    practice.script(["One.", "Two.", "Three."])
    here, there = await attached(runner.readers, session), await attached(elsewhere, session)
    told: list[TurnEvent] = []
    kinds: list[tuple[RequestKind, str | None]] = [("message", "Which?"), ("again", None), ("edit", "Other?")]
    for kind, text in kinds:
        await ask(runner, session, kind, text)
        await elsewhere.catch_up(session.id)
        told += await facts_told(there)
    assert told == await facts_told(here)
    assert sum(isinstance(event, TurnDone) for event in told) == 3


async def test_what_a_withdrawn_turn_brought_is_told_to_nobody_who_missed_it(
    practice: PracticeServer, runner: Runner, elsewhere: Readers, session: Session
) -> None:
    practice.script(["Secret answer.", "Two."])
    there = await attached(elsewhere, session)
    await ask(runner, session, "message", "Secret question")
    await ask(runner, session, "edit", "Other question")
    assert await elsewhere.catch_up(session.id)
    told = await there.next_batch()
    assert "Secret" not in str(told)
    assert [event.text for event in told if isinstance(event, MessageStored)] == ["Other question"]
    assert [event.text for event in told if isinstance(event, TurnDone)] == ["Two."]
    assert sum(isinstance(event, HistoryChanged) for event in told) == 1


async def test_an_opening_without_words_is_told_the_same_here_and_elsewhere(
    practice: PracticeServer, runner: Runner, elsewhere: Readers, session: Session
) -> None:
    practice.script([Reply.of(BEGIN), Reply.of(Hold("held"))])
    await runner.open_turn(TurnRequest(kind="opening", user_id=session.user_id, session_id=session.id))
    await practice.reached("held")
    here, there = await attached(runner.readers, session), await attached(elsewhere, session)
    practice.release("held")
    assert await runner.wait_until_idle(session.id, seconds=30)
    await elsewhere.catch_up(session.id)
    told = await facts_told(there)
    assert told == await facts_told(here)
    assert [type(event) for event in told] == [HistoryChanged, TurnDone]
    (answer,) = await in_database(list, Message.unscoped.filter(session=session, role=MessageRole.ASSISTANT))
    assert (answer.content, answer.metadata["tool_calls"] != []) == ("", True)


async def test_who_is_below_the_oldest_kept_fact_gets_a_snapshot(
    practice: PracticeServer, runner: Runner, elsewhere: Readers, session: Session
) -> None:
    practice.script(["One.", "Two."])
    there = await attached(elsewhere, session)
    await ask(runner, session, "message", "First")
    await in_database(SessionEvent.unscoped.all().delete)
    await ask(runner, session, "message", "Second")
    assert await elsewhere.catch_up(session.id)
    (sync,) = await there.next_batch()
    assert isinstance(sync, Sync)
    assert (sync.status, sync.last_number) == ("idle", 4)
    assert await elsewhere.catch_up(session.id)
    await ask(runner, session, "again")
    assert await elsewhere.catch_up(session.id)
    assert any(isinstance(event, HistoryChanged) for event in await there.next_batch())


async def test_a_choice_among_answers_is_told_once_here_and_elsewhere(
    practice: PracticeServer, runner: Runner, elsewhere: Readers, session: Session
) -> None:
    practice.script(["One.", "Two."])
    first = await ask(runner, session, "message", "Which?")
    await ask(runner, session, "again")
    here, there = await attached(runner.readers, session), await attached(elsewhere, session)
    await runner.choose_answer(user_id=session.user_id, session_id=session.id, turn_id=first)
    for _ in range(2):
        await runner.readers.catch_up(session.id)
        await elsewhere.catch_up(session.id)
    told = await facts_told(here)
    assert told == await facts_told(there)
    assert [type(event) for event in told] == [HistoryChanged, AnswerChosen]


class Ear:
    """Hears of facts as the readers of a process do."""

    def __init__(self) -> None:
        self.heard: list[Numbered] = []

    def woken(self, session_id: UUID, facts: Sequence[Numbered]) -> None:
        self.heard += facts


def test_the_process_of_a_short_turn_shows_its_facts_without_a_query(user: User) -> None:
    ear = Ear()
    listeners.add(ear)
    session = open_conversation(user)
    close_turn(open_turn(session), Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn"))
    with CaptureQueriesContext(connection) as statements:
        told = [shown(session.id, fact) for _, fact in ear.heard]
    assert [type(event) for events in told for event in events] == [MessageStored, TurnStarted, TurnDone]
    assert len(statements) == 0


async def test_what_nobody_here_heard_is_told_before_what_follows(
    practice: PracticeServer, runner: Runner, session: Session
) -> None:
    practice.script(["Hello."])
    here = await attached(runner.readers, session)
    listeners.discard(runner.readers)
    await in_database(rename_session, user_id=session.user_id, session_id=session.id, title="My plans")
    listeners.add(runner.readers)
    await ask(runner, session, "message", "Hi")
    told = await facts_told(here)
    assert [type(event) for event in told] == [TitleChanged, MessageStored, TurnStarted, TurnDone]
