"""Database work outside views."""

import asyncio
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier, Event
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.utils.module_loading import import_string

from coaching.files.objects import store_object_now
from coaching.people.in_flight import MAX_RUNNING
from coaching.sandbox.differences import compare
from coaching.sandbox.markdown import render_markdown
from sage import settings
from sage.pooled_backend import base
from sage.pooled_backend.base import WarmPool
from sessions_app.database import (
    THREADS,
    UNHURRIED_THREADS,
    close_heartbeat_connection,
    give_back_connections,
    in_database,
    in_database_heartbeat,
    in_database_page,
)

pytestmark = pytest.mark.django_db(transaction=True)

word = contextvars.ContextVar("word", default="")


def _backend_pid() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def _kill(pids: set[int]) -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM unnest(%s) AS pid "
            "WHERE pid <> pg_backend_pid() AND pg_terminate_backend(pid, 5000)",
            [list(pids)],
        )
        return {pid for (pid,) in cursor.fetchall()}


async def _pids_at_once() -> set[int]:
    """Return the connections of that many calls, which all hold one at the same time."""
    all_have_one = Barrier(THREADS, timeout=10)

    def pid() -> int:
        found = _backend_pid()
        all_have_one.wait()
        return found

    return set(await asyncio.gather(*(in_database(pid) for _ in range(THREADS))))


async def test_a_killed_connection_heals_by_the_next_call() -> None:
    killed = await in_database(_kill, await _pids_at_once())
    after = await _pids_at_once()
    assert killed
    assert not after & killed


async def test_the_most_recently_returned_connection_is_used_first() -> None:
    assert len(await _pids_at_once()) == THREADS
    # The pool may still be opening one, which is then handed out first.
    assert len({await in_database(_backend_pid) for _ in range(8)}) <= 2


def test_connections_that_were_idle_for_long_are_left_to_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "TRUSTED_SECONDS", 0.1)
    pool = connection.pool  # type: ignore[attr-defined]  # of our own backend
    pool.open()
    lent = [pool.getconn() for _ in range(3)]
    for one in lent:
        pool.putconn(one)
    time.sleep(0.2)
    checked = pool.getconn()
    # The others are where the pool closes them.
    assert pool.get_stats()["pool_available"] >= 2
    pool.putconn(checked)


def test_no_connection_is_given_out_twice_when_those_that_came_back_last_get_cold_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = WarmPool(kwargs=connection.get_connection_params(), min_size=3, max_size=3, timeout=5, open=True)
    with closing(pool):
        lent = [pool.getconn() for _ in range(3)]
        for one, seconds in zip(lent, (10.003, 10.0, 20.001), strict=True):
            with monkeypatch.context() as patched:
                patched.setattr(time, "monotonic", lambda at=seconds: at)
                pool.putconn(one)
        assert {id(pool.getconn()) for _ in range(3)} == {id(one) for one in lent}
        for one in lent:
            pool.putconn(one)


def test_a_connection_that_comes_back_goes_to_whoever_waits_for_one() -> None:
    pool = WarmPool(kwargs=connection.get_connection_params(), min_size=1, max_size=1, timeout=5, open=True)
    with ThreadPoolExecutor(1) as executor, closing(pool):
        lent = pool.getconn()
        waiting = executor.submit(pool.getconn)
        while not pool.get_stats().get("requests_waiting"):
            time.sleep(0.01)
        pool.putconn(lent)
        assert waiting.result(5) is lent
        pool.putconn(lent)
        assert pool.getconn() is lent
        pool.putconn(lent)
    assert lent.closed


@pytest.mark.slow
def test_after_an_outage_the_next_call_has_a_connection_however_long_it_was() -> None:
    here = connection.get_connection_params()
    is_away = Event()
    is_away.set()

    def place() -> dict[str, object]:
        return {**here, "host": "/nowhere"} if is_away.is_set() else here

    pool = WarmPool(kwargs=place, min_size=1, max_size=1, timeout=5, open=True)
    with closing(pool):
        while pool.get_stats().get("connections_errors", 0) < 4:
            time.sleep(0.01)
        is_away.clear()
        # With doubled delays the fifth attempt is made 8 seconds after the fourth.
        pool.putconn(pool.getconn())


@pytest.mark.parametrize("are_warm", [True, False])
def test_when_all_connections_are_dead_the_next_call_has_a_new_one(*, are_warm: bool) -> None:
    pool = WarmPool(kwargs=connection.get_connection_params(), min_size=8, max_size=8, timeout=5, open=True)
    with closing(pool):
        lent = [pool.getconn() for _ in range(8)]
        pids = {one.info.backend_pid for one in lent}
        for one in lent:
            # Those of the base class's queue are the ones that nobody has used for long.
            pool.putconn(one) if are_warm else super(WarmPool, pool).putconn(one)
        assert _kill(pids) == pids
        after = pool.getconn()
        assert after.info.backend_pid not in pids
        pool.putconn(after)


async def test_context_variables_are_passed_on() -> None:
    word.set("hello")
    assert await in_database(word.get) == "hello"


async def test_what_one_call_writes_the_next_one_reads(user: User) -> None:
    def rename(name: str) -> None:
        with transaction.atomic():
            User.objects.filter(pk=user.pk).update(first_name=name)

    await in_database(rename, "Ada")
    assert await in_database(lambda: User.objects.get(pk=user.pk).first_name) == "Ada"


def _takes_its_time() -> dict[str, Callable[[], object]]:
    return {
        "a text": lambda: render_markdown(f"*{_backend_pid()} {uuid4()}*"),
        "a difference": lambda: compare("old", f"new {_backend_pid()}"),
        "an object": lambda: store_object_now(user_id=_backend_pid(), data=b"x"),
    }


@pytest.mark.parametrize("name", ["a text", "a difference", "an object"])
async def test_what_takes_its_time_gives_the_connection_back_and_is_refused_in_a_transaction(
    name: str,
) -> None:
    work = _takes_its_time()[name]

    def in_a_transaction() -> None:
        with transaction.atomic():
            work()

    def is_held_after() -> bool:
        work()
        return connection.connection is not None

    assert not await in_database_page(is_held_after)
    with pytest.raises(RuntimeError):
        await in_database_page(in_a_transaction)


@pytest.mark.slow
async def test_a_password_is_hashed_without_a_connection_but_in_the_admins_transaction_too() -> None:
    hasher = import_string(settings.PASSWORD_HASHERS[0])()

    def is_held_after() -> bool:
        _backend_pid()
        assert hasher.verify("guess", hasher.encode("guess", "salt"))
        return connection.connection is not None

    def in_a_transaction() -> bool:
        with transaction.atomic():
            return is_held_after()

    assert not await in_database(is_held_after)
    assert await in_database(in_a_transaction)


@pytest.mark.django_db
def test_a_test_cases_own_transaction_counts_for_nothing() -> None:
    give_back_connections()
    with transaction.atomic(), pytest.raises(RuntimeError):
        give_back_connections()


async def test_the_heartbeat_needs_no_connection_of_the_pool_and_heals() -> None:
    def pid_and_pool() -> tuple[int, bool]:
        return _backend_pid(), "pool" in connections["default"].settings_dict["OPTIONS"]

    first, is_pooled = await in_database_heartbeat(pid_and_pool)
    assert not is_pooled
    assert (await in_database_heartbeat(pid_and_pool))[0] == first
    await in_database(_kill, {first})
    assert (await in_database_heartbeat(pid_and_pool))[0] != first
    await close_heartbeat_connection()


def test_the_pool_has_room_for_every_thread_that_may_hold_a_connection() -> None:
    assert settings.DATABASE_POOL["max_size"] > THREADS + UNHURRIED_THREADS + MAX_RUNNING
