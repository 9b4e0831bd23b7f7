"""A process that runs nothing and is alone: its heartbeat reads whether there is anything to check."""

import asyncio
import time
from contextlib import suppress

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection

from coaching.live import take_over
from coaching.live.runner import Runner
from coaching.live.upkeep import kept_up
from coaching.practice import PracticeServer
from sessions_app import leases
from sessions_app.database import in_database
from sessions_app.models import Turn, TurnStatus
from sessions_app.turn_endings import Ending, close_turn
from tests.stored_turns import open_conversation, open_turn

pytestmark = pytest.mark.django_db(transaction=True)

OWNER = "here:1:0a1b2c3d:own"
FROZEN = "worker:2:0a1b2c3d"


def test_an_idle_beat_counts_and_finds_nothing_in_an_empty_installation() -> None:
    assert not leases.store_idle_beat(OWNER)
    assert leases.read_beats() == {OWNER: 1}
    leases.store_beat(OWNER)
    assert not leases.store_idle_beat(OWNER)
    assert leases.read_beats() == {OWNER: 3}


@pytest.mark.parametrize("owner", [OWNER, "here:2:0a1b2c3d:dead"])
def test_an_idle_beat_finds_a_running_turn(user: User, owner: str) -> None:
    key = open_turn(open_conversation(user), owner=owner)
    assert leases.store_idle_beat(OWNER)
    close_turn(key, Ending(status=TurnStatus.COMPLETED, stop_reason="end_turn"))
    assert not leases.store_idle_beat(OWNER)


def test_an_idle_beat_finds_another_process() -> None:
    leases.store_beat("here:2:0a1b2c3d:two")
    assert leases.store_idle_beat(OWNER)
    leases.forget_process("here:2:0a1b2c3d:two")
    assert not leases.store_idle_beat(OWNER)


def test_an_idle_beat_finds_what_a_frozen_worker_keeps_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = connection.get_connection_params() | {"application_name": FROZEN}
    with (
        suppress(psycopg.OperationalError),  # leaving a broken connection
        psycopg.connect(**parameters) as frozen,
        frozen.pipeline(),
    ):
        frozen.execute("CREATE TEMPORARY TABLE held (number integer)")
        assert frozen.execute("SELECT 1").fetchone()
        assert not leases.store_idle_beat(OWNER), "it may be slow"
        monkeypatch.setattr(leases, "HALF_SENT_SECONDS", 0.0)
        deadline = time.monotonic() + 60
        while not leases.store_idle_beat(OWNER) and time.monotonic() < deadline:
            time.sleep(0.02)  # its server process may not wait for it yet
        assert leases.end_half_sent_transactions() == {FROZEN}
    assert not leases.store_idle_beat(OWNER)


@pytest.mark.slow
async def test_a_turn_that_was_lost_is_taken_over_by_a_process_that_was_idle(
    practice: PracticeServer, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(take_over, "IDLE_SECONDS", 3600.0)
    monkeypatch.setattr("coaching.live.upkeep.BEAT_SECONDS", 0.2)
    practice.script(["Good morning."])
    runner = Runner()
    async with kept_up(runner, is_alone=True, can_notify=False):
        await asyncio.sleep(1)  # it is idle by now
        key = await in_database(lambda: open_turn(open_conversation(user), owner="here:2:0a1b2c3d:dead"))
        turn = Turn.unscoped.filter(id=key.turn_id, status=TurnStatus.COMPLETED)
        async with asyncio.timeout(60):
            while not await in_database(turn.exists):  # noqa: ASYNC110 - a task of the runner ends it
                await asyncio.sleep(0.05)
    await runner.drain(0)
    assert (await in_database(turn.get)).owner == runner.owner
