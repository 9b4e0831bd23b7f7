"""What a runner does while other turns start: an answer's end waits, none starts that drains.

A message that is sent again meanwhile opens none, and waits for the same answer.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User

from coaching.live.openings import Openings
from coaching.live.runner import RestartingError, Runner
from coaching.people.turn_starts import AT_ONCE, SLOT_SECONDS, turn_starts
from coaching.practice import Hold, PracticeServer, Reply
from coaching.turns.answering import STARTS_SECONDS
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.models import Session, Turn, TurnStatus
from sessions_app.session_events import Numbered, listeners
from tests.live.test_successors import attached, until
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)


@asynccontextmanager
async def others_starting() -> AsyncIterator[None]:
    """Have turns of others start all the time."""

    async def start() -> None:
        while True:
            async with turn_starts().slot():
                await asyncio.sleep(SLOT_SECONDS / 2)

    tasks = [asyncio.create_task(start()) for _ in range(2 * AT_ONCE)]
    await asyncio.sleep(0)
    yield
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def until_shown(runner: Runner, session: Session, words: str) -> None:
    tab = await attached(runner, session)
    async with asyncio.timeout(30):
        while words not in str(tab.events):  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.005)


async def test_the_end_of_an_answer_waits_for_turns_that_start(
    user: User, runner: Runner, practice: PracticeServer
) -> None:
    practice.script(["Good to hear."])
    session = await in_database(open_conversation, user)
    message = TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Hello")
    clock = asyncio.get_running_loop().time
    async with others_starting():
        await runner.open_turn(message)
        await until_shown(runner, session, "Good to hear.")
        shown = clock()
        await until(session, TurnStatus.COMPLETED)
        assert clock() > shown + STARTS_SECONDS / 2
    await runner.wait_until_idle(session.id, seconds=10)


async def test_a_turn_that_waits_to_start_is_refused_once_its_process_drains(
    user: User, runner: Runner, practice: PracticeServer
) -> None:
    session = await in_database(open_conversation, user)
    message = TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Hello")
    async with others_starting():
        waiting = asyncio.create_task(runner.open_turn(message))
        await asyncio.sleep(0)
        await runner.drain(0)
        with pytest.raises(RestartingError):
            await waiting
    assert not await in_database(Turn.unscoped.filter(session=session).exists)


class SlowListener:
    """Hears of a session's commits, and keeps the thread that committed until it may go on."""

    def __init__(self, session: Session) -> None:
        self._session_id = session.id
        self._has_heard = threading.Event()
        self.may_go_on = threading.Event()

    def woken(self, session_id: UUID, facts: Sequence[Numbered]) -> None:
        if session_id == self._session_id and not self._has_heard.is_set():
            self._has_heard.set()
            self.may_go_on.wait(20)

    async def until_committed(self) -> None:
        assert await asyncio.to_thread(self._has_heard.wait, 20)


async def test_a_message_sent_again_while_its_turn_is_opened_waits_for_the_same_answer(
    user: User, runner: Runner, practice: PracticeServer
) -> None:
    practice.script([Reply.of("A moment", Hold("thinking"), ".")])
    session = await in_database(open_conversation, user)
    message = TurnRequest(
        kind="message", user_id=user.pk, session_id=session.id, text="Hello", client_id=str(uuid4())
    )
    listener = SlowListener(session)
    listeners.add(listener)

    async def send() -> tuple[bool, bool]:
        started = await runner.open_turn(message)
        return started.opened.is_new, await runner.wait_until_idle(session.id, seconds=0)

    first = asyncio.create_task(send())
    await listener.until_committed()
    again = asyncio.create_task(send())
    await asyncio.wait([again], timeout=0.5)
    listener.may_go_on.set()
    assert [await first, await again] == [(True, False), (False, False)]
    practice.release("thinking")
    assert await runner.wait_until_idle(session.id, seconds=10)


async def test_a_message_waits_for_an_opening_of_its_session_that_is_held_up_only_for_a_time(
    user: User, practice: PracticeServer
) -> None:
    runner = Runner(opening_seconds=0.05)
    session = await in_database(open_conversation, user)
    message = TurnRequest(
        kind="message", user_id=user.pk, session_id=session.id, text="Hello", client_id=str(uuid4())
    )
    listener = SlowListener(session)
    listeners.add(listener)
    first = asyncio.create_task(runner.open_turn(message))
    await listener.until_committed()
    try:
        async with asyncio.timeout(10):
            again = await runner.open_turn(message)
    finally:
        listener.may_go_on.set()
    assert (again.opened.is_new, (await first).opened.is_new) == (False, True)
    assert await runner.wait_until_idle(session.id, seconds=10)
    await runner.drain(2)


async def test_openings_of_a_session_are_one_at_a_time_and_hold_up_no_other_session() -> None:
    openings, session, other = Openings(wait_seconds=20), uuid4(), uuid4()
    entered: list[str] = []

    async def enter(name: str, user_id: int, session_id: UUID) -> None:
        async with openings.one(user_id=user_id, session_id=session_id):
            entered.append(name)

    async with openings.one(user_id=1, session_id=session):
        waiting = asyncio.create_task(enter("the same", 1, session))
        await enter("a stranger", 2, session)
        await enter("another", 1, other)
        gone = asyncio.create_task(enter("gone", 1, session))
        await asyncio.sleep(0)
        gone.cancel()
        assert entered == ["a stranger", "another"]
    await waiting
    assert entered == ["a stranger", "another", "the same"]
