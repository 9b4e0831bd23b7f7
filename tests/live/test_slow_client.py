"""A process's first turn waits for the model client; that time counts towards the turn's limit."""

import asyncio

import pytest
from django.contrib.auth.models import User

from coaching.engine.breaker import BreakerClient
from coaching.events import TurnDone, TurnEvent
from coaching.live.runner import Runner
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.models import TurnStatus
from tests.asked_model import asked_model
from tests.stored_turns import open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

TURN_SECONDS, CLIENT_SECONDS = 1.0, 1.5


async def test_a_turn_whose_time_went_by_before_the_client_was_there_asks_nothing(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asked_model(SAGE_TURN_SECONDS=TURN_SECONDS) as practice:
        runner = Runner()
        connection = runner._connection
        opened = connection.client

        async def slow() -> BreakerClient:
            await asyncio.sleep(CLIENT_SECONDS)
            return await opened()

        monkeypatch.setattr(connection, "client", slow)
        session = await in_database(open_conversation, user)
        subscription = await runner.readers.attach(user_id=user.pk, session_id=session.id)
        await runner.open_turn(
            TurnRequest(kind="message", user_id=user.pk, session_id=session.id, text="Good morning")
        )
        seen: list[TurnEvent] = []
        async with asyncio.timeout(60):
            while not any(isinstance(event, TurnDone) for event in seen):
                seen += await subscription.next_batch()
        await runner.drain(2)
        assert not practice.requests
    (done,) = (event for event in seen if isinstance(event, TurnDone))
    assert done.status == TurnStatus.INTERRUPTED
