"""No database connection is held while a text is rendered."""

import asyncio
import time

import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.events import TurnDone
from coaching.sockets.fragments import render_fragment
from sessions_app import services, turn_records
from sessions_app.database import THREADS, in_database
from sessions_app.limits import RateLimit
from sessions_app.models import Round, SessionKind, TurnStatus
from sessions_app.turn_records import Ending, TurnKey

BOMB = "[a" * 50_000


def answered_with(user: User, text: str) -> str:
    """Store a finished turn and return its id."""
    session = services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION)
    opened = services.open_turn(
        user_id=user.pk,
        session_id=session.id,
        text="Hi",
        client_id=None,
        owner="me",
        rate_limit=RateLimit(turns=100, seconds=60),
    )
    key = TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence)
    turn_records.store_round(
        key,
        Round(
            number=1,
            blocks="[]",
            text=text,
            notes="",
            stop_reason="end_turn",
            is_partial=False,
            upstream_id="m",
            model="m",
        ),
        calls=[],
    )
    turn_records.close_turn(key, Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn"))
    return str(opened.turn.id)


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
