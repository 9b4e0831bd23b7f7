"""A turn taken over after its time limit ends at once, and keeps what its readers have seen."""

import asyncio
import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from coaching.events import Sync, TurnDone, TurnEvent
from coaching.live.runner import Runner
from sessions_app import turn_records
from sessions_app.database import in_database
from sessions_app.models import Message, Session, Turn, TurnStatus
from sessions_app.turn_locks import TurnKey
from tests.stored_turns import open_conversation, open_turn, store_round

pytestmark = pytest.mark.django_db(transaction=True)


def session_with_a_turn_out_of_time(user: User) -> tuple[Session, TurnKey]:
    """Open a turn that has finished one round and shown half of the next, before its time limit."""
    session = open_conversation(user)
    key = open_turn(session, owner="lost")
    store_round(key, text="One moment.", stop_reason="pause_turn")
    turn_records.store_shown([(key, json.dumps({"number": 2, "text": "You were", "notes": ""}))])
    turn = Turn.unscoped.get(id=key.turn_id)
    turn.part_started_at -= timedelta(minutes=2)
    turn.save(update_fields=["part_started_at"])
    return session, key


async def test_readers_see_the_words_that_an_interrupted_turn_keeps(user: User) -> None:
    session, key = await in_database(session_with_a_turn_out_of_time, user)
    runner = Runner()
    subscription = await runner.readers.attach(user_id=user.pk, session_id=session.id)
    runner.resume(session.id, key)
    seen: list[TurnEvent] = []
    async with asyncio.timeout(20):
        while not any(isinstance(event, TurnDone) for event in seen):
            seen += await subscription.next_batch()
    await runner.drain(2)

    stored = await in_database(lambda: Message.unscoped.filter(session=session).latest("number").content)
    last_sync = [event for event in seen if isinstance(event, Sync)][-1]
    done = next(event for event in seen if isinstance(event, TurnDone))
    assert stored == "One moment.\n\nYou were"
    assert last_sync.text == stored
    assert done.status == TurnStatus.INTERRUPTED
