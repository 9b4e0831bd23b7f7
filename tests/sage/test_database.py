"""Database work outside views."""

import asyncio
import contextvars

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from sessions_app.database import in_database

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


async def test_a_killed_connection_heals_by_the_next_call() -> None:
    pids = set(await asyncio.gather(*(in_database(_backend_pid) for _ in range(8))))
    killed = await in_database(_kill, pids)
    after = set(await asyncio.gather(*(in_database(_backend_pid) for _ in range(8))))
    assert killed
    assert not after & killed


async def test_the_connection_that_came_back_last_is_lent_first() -> None:
    await asyncio.gather(*(in_database(_backend_pid) for _ in range(8)))
    assert len({await in_database(_backend_pid) for _ in range(8)}) == 1


async def test_context_variables_are_passed_on() -> None:
    word.set("hello")
    assert await in_database(word.get) == "hello"


async def test_what_one_call_writes_the_next_one_reads(user: User) -> None:
    def rename(name: str) -> None:
        with transaction.atomic():
            User.objects.filter(pk=user.pk).update(first_name=name)

    await in_database(rename, "Ada")
    assert await in_database(lambda: User.objects.get(pk=user.pk).first_name) == "Ada"
