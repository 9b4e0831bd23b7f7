"""No database connection is held while a text is rendered."""

import asyncio
import time

import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.events import TurnDone
from coaching.sockets.fragments import render_fragment
from sessions_app import turn_endings
from sessions_app.database import THREADS, in_database
from sessions_app.models import TurnStatus
from sessions_app.turn_endings import Ending
from tests.stored_turns import open_conversation, open_turn, store_round

BOMB = "[a" * 50_000


def answered_with(user: User, text: str) -> str:
    """Store a finished turn and return its id."""
    key = open_turn(open_conversation(user))
    store_round(key, text=text)
    turn_endings.close_turn(key, Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn"))
    return str(key.turn_id)


def ask() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return time.monotonic()


@pytest.mark.django_db(transaction=True)
async def test_texts_that_take_seconds_hold_no_thread_of_the_database(user: User) -> None:
    turn_ids = [await in_database(answered_with, user, f"{number} {BOMB}") for number in range(THREADS)]
    began = time.monotonic()
    rendering = [
        asyncio.create_task(
            render_fragment(TurnDone(turn_id=turn_id, stop_reason="end_turn", status="completed"))
        )
        for turn_id in turn_ids
    ]
    await asyncio.sleep(0.5)  # by now their rows are read, and every renderer is busy
    answered = await in_database(ask)
    assert not all(task.done() for task in rendering)
    assert answered - began < 2.0
    await asyncio.gather(*rendering)
