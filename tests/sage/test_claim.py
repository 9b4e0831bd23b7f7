"""The lock by which a web process knows whether it is the only one."""

import asyncio
import os
import signal
import threading
import time

import pytest
from django.db import connection

from sage import claim as claims
from sage.claim import CLAIM_LOCK, GIVE_BACK_SECONDS, DatabaseClaim
from sessions_app.database import in_database

pytestmark = pytest.mark.django_db(transaction=True)

ENDED_SECONDS = 10.0


def server_process_of(claim: DatabaseClaim) -> int:
    assert claim._session is not None
    return claim._session.info.backend_pid


def is_held() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks JOIN pg_database AS d ON d.oid = database"
            " WHERE locktype = 'advisory' AND objid = %s AND datname = current_database()",
            [CLAIM_LOCK],
        )
        return cursor.fetchone() is not None


def is_released() -> bool:
    """Wait until the server process has noticed that its session was closed."""
    deadline = time.monotonic() + ENDED_SECONDS
    while is_held() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_held()


@pytest.mark.parametrize("seconds", [GIVE_BACK_SECONDS / 4, GIVE_BACK_SECONDS * 1.5])
def test_a_check_that_is_under_way_when_the_lock_is_given_back_comes_to_its_end(seconds: float) -> None:
    claim = DatabaseClaim()
    assert claim.take()
    server = server_process_of(claim)
    os.kill(server, signal.SIGSTOP)
    try:
        check = threading.Thread(target=claim._check, daemon=True)
        check.start()
        time.sleep(0.1)  # it waits for the server's answer
        giving_back = threading.Thread(target=claim.give_back, daemon=True)
        giving_back.start()
        time.sleep(seconds)
    finally:
        os.kill(server, signal.SIGCONT)
    for thread in (giving_back, check):
        thread.join(ENDED_SECONDS)
        assert not thread.is_alive()
    # Where it took too long, the lock ends with the process.
    is_kept = seconds > GIVE_BACK_SECONDS
    assert is_kept or is_released()
    assert is_held() == is_kept
    claim.give_back()


def test_only_the_first_process_is_alone() -> None:
    first, second = DatabaseClaim(), DatabaseClaim()
    assert first.take()
    assert not second.take()
    first.give_back()
    assert is_held()
    second.give_back()


async def test_a_lock_whose_session_the_database_has_ended_is_taken_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claims, "CHECK_SECONDS", 0.05)
    claim = DatabaseClaim()
    assert await asyncio.to_thread(claim.take)
    first = server_process_of(claim)
    keeping = asyncio.create_task(claim.keep())
    await asyncio.sleep(0.3)
    assert server_process_of(claim) == first
    await in_database(end_server_process, first)
    async with asyncio.timeout(ENDED_SECONDS):
        while server_process_of(claim) == first or not await in_database(is_held):  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.02)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await asyncio.to_thread(claim.give_back)


def end_server_process(number: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [number])
