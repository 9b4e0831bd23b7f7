"""Runners of this process with their practice model, and what tests do with them."""

from collections.abc import AsyncIterator

import pytest

from coaching.live.hub import Subscription
from coaching.live.readers import Readers
from coaching.live.runner import Runner
from coaching.practice import PracticeServer
from coaching.turns.request import RequestKind, TurnRequest
from sessions_app.limits import RateLimit
from sessions_app.models import Session
from tests.asked_model import asked_model


@pytest.fixture
async def practice() -> AsyncIterator[PracticeServer]:
    """The model that runners of this process ask, without a limit that a test could reach."""
    async with asked_model(SAGE_RATE_LIMIT=RateLimit(turns=1000, seconds=60)) as server:
        yield server


@pytest.fixture
async def runner(practice: PracticeServer) -> AsyncIterator[Runner]:
    """A runner of turns."""
    runner = Runner()
    yield runner
    await runner.drain(2)


@pytest.fixture
async def runners(practice: PracticeServer) -> AsyncIterator[tuple[Runner, Runner]]:
    """The runner that the requests go to, and another process's."""
    here, elsewhere = Runner(), Runner()
    yield here, elsewhere
    await here.drain(2)
    await elsewhere.drain(2)


async def ask(runner: Runner, session: Session, kind: RequestKind, text: str | None = None) -> str:
    """Open a turn, wait for its end and return its id."""
    request = TurnRequest(kind=kind, user_id=session.user_id, session_id=session.id, text=text)
    started = await runner.open_turn(request)
    assert await runner.wait_until_idle(session.id, seconds=30)
    return str(started.opened.turn.id)


async def attached(readers: Readers, session: Session) -> Subscription:
    """Return a new reader that has had its snapshot."""
    reader = await readers.attach(user_id=session.user_id, session_id=session.id)
    await reader.next_batch()
    return reader
