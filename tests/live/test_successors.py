"""A turn whose task ends late doesn't affect the next turn, and its end is sent once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.events import CallAnswered, MessageStored, TurnDone, TurnEvent
from coaching.live.hub import Subscription
from coaching.live.runner import Runner
from coaching.live.upkeep import kept_up
from coaching.people.turn_starts import QUIET_SECONDS, turn_starts
from coaching.practice import PracticeServer
from coaching.practice.script import Hold, Reply, ToolUse
from coaching.turns import answering
from coaching.turns.request import TurnRequest
from sessions_app import leases, pending_calls, services, turn_endings
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import Session, Turn, TurnStatus
from sessions_app.text import MAX_MESSAGE_CHARACTERS
from tests.stored_turns import new_turn, open_conversation, open_turn
from tests.thoroughness import size

pytestmark = pytest.mark.django_db(transaction=True)

LATE_SECONDS = 0.5
CONVERSATIONS = size(4, long=10)
TURNS_EACH = size(5, long=20)
PILLS = ToolUse("show_options", {"options": [{"label": "Fine"}, {"label": "Tired"}]}, id="toolu_pills")


@pytest.fixture
async def runner(practice: PracticeServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Runner]:
    """A runner that is delayed after each part's last commit."""

    async def late(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        result = await in_database(function, *args, **kwargs)
        if function in (turn_endings.close_turn, pending_calls.await_user):
            await asyncio.sleep(LATE_SECONDS)
        return result

    monkeypatch.setattr(answering, "in_database", late)
    runner = Runner()
    yield runner
    await runner.drain(2)


class Tab:
    """A reader in this process, and everything it was sent."""

    def __init__(self, subscription: Subscription) -> None:
        self.events: list[TurnEvent] = []
        self._subscription = subscription
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while True:
            self.events += await self._subscription.next_batch()

    async def until_done(self, count: int) -> None:
        """Wait for that many ends, and for late events."""
        async with asyncio.timeout(30):
            while len(self.dones()) < count:  # noqa: ASYNC110 - nothing here is told when it happens
                await asyncio.sleep(0.02)
        await asyncio.sleep(2 * LATE_SECONDS)
        self._task.cancel()

    def dones(self) -> list[TurnDone]:
        """Return the ends that it was sent."""
        return [event for event in self.events if isinstance(event, TurnDone)]


async def attached(runner: Runner, session: Session) -> Tab:
    return Tab(await runner.readers.attach(user_id=session.user_id, session_id=session.id))


async def until(session: Session, status: TurnStatus) -> None:
    """Wait until the database shows that state of the newest turn."""
    statuses = Turn.unscoped.filter(session=session).order_by("-started_at").values_list("status", flat=True)
    async with asyncio.timeout(30):
        while await in_database(statuses.first) != status:  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.01)


async def talk(runner: Runner, session: Session) -> Tab:
    """Send the next message as soon as the database has the answer to the last."""
    tab = await attached(runner, session)
    said = []
    for number in range(TURNS_EACH):
        started = await runner.open_turn(
            TurnRequest(
                kind="message",
                user_id=session.user_id,
                session_id=session.id,
                text=f"{session.id} {number}",
            )
        )
        live = runner.readers.hub(session.id).live
        said.append(str(started.opened.turn.id))
        # Where the machine is slow, its late end may have come already.
        assert live is None or live.turn_id == said[-1]
        await until(session, TurnStatus.COMPLETED)
        assert runner.readers.hub(session.id).live in (live, None)
    await tab.until_done(TURNS_EACH)
    shown = [
        (type(event), event.turn_id) for event in tab.events if isinstance(event, MessageStored | TurnDone)
    ]
    assert shown == [(kind, turn_id) for turn_id in said for kind in (MessageStored, TurnDone)]
    assert [done.stop_reason for done in tab.dones()] == ["end_turn"] * TURNS_EACH
    return tab


async def test_over_many_turns_each_end_is_sent_once_and_before_the_next_message(
    make_user: Callable[..., User], runner: Runner, practice: PracticeServer
) -> None:
    practice.script([f"Answer {number}." for number in range(CONVERSATIONS * TURNS_EACH)])
    people = [await in_database(make_user) for _ in range(CONVERSATIONS)]
    sessions = [await in_database(open_conversation, person) for person in people]
    await asyncio.gather(*(talk(runner, session) for session in sessions))
    assert runner.running == {}


async def test_a_late_end_does_not_touch_the_live_turn_of_its_successor(
    user: User, runner: Runner, practice: PracticeServer
) -> None:
    practice.script(["First.", Reply.of("Second ", Hold("middle"), "half.")])
    session = await in_database(open_conversation, user)
    tab = await attached(runner, session)
    await runner.open_turn(TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="One"))
    await until(session, TurnStatus.COMPLETED)
    second = await runner.open_turn(
        TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Two")
    )
    await practice.reached("middle")
    await asyncio.sleep(2 * LATE_SECONDS)
    live = runner.readers.hub(session.id).live
    assert live is not None
    assert (live.turn_id, live.sync().text) == (str(second.opened.turn.id), "Second ")
    practice.release("middle")
    await tab.until_done(2)
    assert len(tab.dones()) == 2


async def test_an_answer_before_the_late_end_of_its_question_ends_both_parts_once(
    user: User, runner: Runner, practice: PracticeServer
) -> None:
    practice.script([Reply.of("How are you?", PILLS), "Good to hear."])
    session = await in_database(open_conversation, user)
    tab = await attached(runner, session)
    await runner.open_turn(TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Hello"))
    await until(session, TurnStatus.AWAITING_USER)
    await runner.answer_call(user_id=user.pk, session_id=session.id, tool_use_id="toolu_pills", value="Fine")
    await tab.until_done(2)
    assert [done.status for done in tab.dones()] == ["awaiting_user", "completed"]
    told = [type(event).__name__ for event in tab.events if isinstance(event, TurnDone | CallAnswered)]
    assert told == ["TurnDone", "CallAnswered", "TurnDone"]


async def test_a_turn_that_is_taken_over_is_shown_after_the_previous_late_end(
    user: User, runner: Runner, practice: PracticeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    practice.script(["First.", "Second."])
    session = await in_database(open_conversation, user)
    tab = await attached(runner, session)
    await runner.open_turn(TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="One"))
    await until(session, TurnStatus.COMPLETED)
    opened = await in_database(
        services.open_turn, new_turn(session, owner="nobody"), text="Two", client_id="two"
    )
    async with kept_up(runner, is_alone=True, can_notify=False):
        await tab.until_done(2)
    shown = [event for event in tab.events if isinstance(event, MessageStored | TurnDone)]
    assert [type(event) for event in shown] == [MessageStored, TurnDone, MessageStored, TurnDone]
    assert [event.turn_id for event in shown[2:]] == [str(opened.turn.id)] * 2


async def test_a_turn_is_taken_over_though_the_database_ends_no_transactions(
    user: User, runner: Runner, practice: PracticeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It lets the tests' role end any, so the statement fails for another reason.
    monkeypatch.setattr(leases, "_END_TRANSACTIONS", "SELECT current_user, 1 / 0")
    practice.script(["Hello."])
    session = await in_database(open_conversation, user)
    await in_database(open_turn, session, owner="elsewhere:1:0a1b2c3d:0001")
    async with kept_up(runner, is_alone=True, can_notify=False):
        await until(session, TurnStatus.COMPLETED)


async def test_somebody_else_never_waits_for_a_sessions_lock_so_can_never_hold_it(
    runner: Runner, user: User, other_user: User
) -> None:
    session = await in_database(open_conversation, user)
    theirs: dict[str, Any] = {"user_id": other_user.pk, "session_id": session.id}
    with runner.readers.opening():
        for refused in (
            runner.open_turn(TurnRequest(kind="message", **theirs, text="Hello")),
            runner.open_turn(TurnRequest(kind="edit", **theirs, text="Hello")),
            runner.open_turn(TurnRequest(kind="retry", **theirs)),
            runner.open_turn(TurnRequest(kind="continue", **theirs)),
            runner.answer_call(**theirs, tool_use_id="toolu_pills", value="Fine"),
            runner.dismiss_call(**theirs, tool_use_id="toolu_pills"),
            runner.end_session(**theirs),
        ):
            with pytest.raises(Session.DoesNotExist):
                await asyncio.wait_for(refused, LATE_SECONDS * 4)
    assert runner.readers.hubs == {}


@pytest.mark.parametrize("is_answer", [False, True])
async def test_programs_requests_wait_from_when_a_message_or_an_answer_comes(
    user: User, runner: Runner, practice: PracticeServer, is_answer: bool
) -> None:
    practice.script([Reply.of("How are you?", PILLS), "Good to hear."])
    session = await in_database(open_conversation, user)
    clock = asyncio.get_running_loop().time
    began = clock()
    await runner.open_turn(TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Hello"))
    if is_answer:
        await until(session, TurnStatus.AWAITING_USER)
        began = clock()
        await runner.answer_call(
            user_id=user.pk, session_id=session.id, tool_use_id="toolu_pills", value="Fine"
        )
    assert began + QUIET_SECONDS <= turn_starts().busy_until <= clock() + QUIET_SECONDS
    await runner.wait_until_idle(session.id, seconds=10)


async def test_programs_requests_wait_for_no_programs_message_and_for_none_that_is_refused(
    user: User, runner: Runner, practice: PracticeServer
) -> None:
    practice.script(["Good to hear."])
    session = await in_database(open_conversation, user)
    message = TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Hello")
    before = turn_starts().busy_until
    await runner.open_turn(replace(message, program="Shortcut"))
    await runner.wait_until_idle(session.id, seconds=10)
    with pytest.raises(Refused):
        await runner.open_turn(replace(message, text="x" * (MAX_MESSAGE_CHARACTERS + 1)))
    assert turn_starts().busy_until == before
