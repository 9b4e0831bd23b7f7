"""Database work outside views."""

import asyncio
import contextvars
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from sessions_app.database import THREADS, in_database

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
    """Return the connections of as many calls, none of which gives its own back before all have one."""
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


async def test_the_connection_that_came_back_last_is_lent_first() -> None:
    assert len(await _pids_at_once()) == THREADS
    # The pool may still be opening one; that is lent first, then.
    assert len({await in_database(_backend_pid) for _ in range(8)}) <= 2


def test_a_pool_that_shrinks_closes_the_connection_that_came_back_first() -> None:
    pool = connection.pool  # type: ignore[attr-defined]  # of our own backend
    pool.open()
    lent = [pool.getconn() for _ in range(3)]
    for one in lent:
        pool.putconn(one)
    size = pool.get_stats()["pool_size"]
    for _ in range(2):  # the first look begins to count
        pool._shrink_pool()
    assert pool.get_stats()["pool_size"] < size
    warmest = pool.getconn()
    pool.putconn(warmest)
    assert warmest is lent[-1]


async def test_context_variables_are_passed_on() -> None:
    word.set("hello")
    assert await in_database(word.get) == "hello"


async def test_what_one_call_writes_the_next_one_reads(user: User) -> None:
    def rename(name: str) -> None:
        with transaction.atomic():
            User.objects.filter(pk=user.pk).update(first_name=name)

    await in_database(rename, "Ada")
    assert await in_database(lambda: User.objects.get(pk=user.pk).first_name) == "Ada"
