"""What a process's workers need every few seconds: one statement for all of them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from django.db import connection
from procrastinate import PsycopgConnector
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateWorker
from procrastinate.exceptions import AppNotOpen
from procrastinate.jobs import Notification
from pytest_django import Settings

from coaching.job_queue.names import DOCUMENTS_QUEUE, REMINDERS_QUEUE
from coaching.job_queue.queue import enqueue
from coaching.jobs import worker
from coaching.jobs.connections import open_connector
from coaching.jobs.polling import PolledJobs, Polling
from coaching.jobs.worker import JobWorker
from sessions_app.database import in_database
from tests.jobs.conftest import jobs_named, make_due

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]

SILENT_SECONDS = 20.0
NAME = "polled_job"


@pytest.fixture
async def connector() -> AsyncIterator[PsycopgConnector]:
    """The connections of a worker."""
    opened = await in_database(open_connector, slots=1)
    await opened.open_async()
    yield opened
    await opened.close_async()


@pytest.fixture
def named_job() -> Iterator[list[str]]:
    """A job that notes its queue in the list when it runs."""
    ran: list[str] = []

    async def note(*, place: str) -> None:
        ran.append(place)

    app.task(name=NAME)(note)
    yield ran
    app.tasks.pop(NAME)


def execute(sql: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


async def age_heartbeats() -> None:
    await in_database(
        execute, "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'"
    )


async def silent_workers() -> set[int]:
    rows = ProcrastinateWorker.objects.raw(
        "SELECT id FROM procrastinate_workers WHERE last_heartbeat < now() - interval '30 seconds'"
    )
    return await in_database(lambda: {row.id for row in rows})


def polling_of(seconds: float = 0.0) -> Polling:
    return Polling(seconds=seconds, silent_seconds=SILENT_SECONDS)


async def test_one_worker_stores_the_heartbeats_of_all_and_the_others_needn_t(
    connector: PsycopgConnector,
) -> None:
    polling = polling_of(seconds=60)
    workers = [PolledJobs(connector, polling) for _ in range(3)]
    ids = [await each.register_worker() for each in workers]
    other = await PolledJobs(connector, polling_of()).register_worker()  # of another process
    await age_heartbeats()
    await workers[0].unregister_worker(ids[0])
    await workers[1].update_heartbeat(ids[1])
    assert await silent_workers() == {other}
    await age_heartbeats()
    await workers[2].update_heartbeat(ids[2])
    assert await silent_workers() == {ids[1], ids[2], other}, "that was just done"


async def test_where_one_worker_fails_the_next_one_stores_the_heartbeats(connector: PsycopgConnector) -> None:
    polling = polling_of(seconds=60)
    living = PolledJobs(connector, polling)
    number = await living.register_worker()
    await age_heartbeats()
    with pytest.raises(AppNotOpen):
        await PolledJobs(await in_database(open_connector, slots=1), polling).update_heartbeat(number)
    await living.update_heartbeat(number)
    assert await silent_workers() == set()


async def test_a_job_whose_time_has_come_is_announced_to_the_workers_of_its_queue(
    connector: PsycopgConnector, named_job: list[str]
) -> None:
    polling, told = polling_of(), list[str]()

    def listener(name: str) -> Any:
        async def announce(*, channel: str, notification: Notification) -> None:
            told.append(name)

        return announce

    await in_database(enqueue, NAME, key="a", queue=DOCUMENTS_QUEUE, wait_seconds=60, place="a")
    with (
        polling.announced(listener("documents"), [DOCUMENTS_QUEUE]),
        polling.announced(listener("reminders"), [REMINDERS_QUEUE]),
        polling.announced(listener("any"), ["default", DOCUMENTS_QUEUE]),
    ):
        await polling.poll(connector)
        assert told == []
        await in_database(make_due)
        await polling.poll(connector)
        assert told == ["documents", "any"]


@pytest.mark.parametrize("is_alive", [True, False])
async def test_a_job_of_a_dead_worker_is_noticed(
    connector: PsycopgConnector, named_job: list[str], *, is_alive: bool
) -> None:
    polling = polling_of()
    assert polling.has_stalled.is_set(), "a process frees jobs at its start"
    polling.has_stalled.clear()
    number = await PolledJobs(connector, polling_of()).register_worker()
    await in_database(enqueue, NAME, key="a", place="a")
    await in_database(execute, "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s", number)
    if not is_alive:
        await age_heartbeats()
    await polling.poll(connector)
    assert polling.has_stalled.is_set() != is_alive


@pytest.mark.slow
async def test_a_job_runs_soon_after_its_time_has_come(
    named_job: list[str], monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(worker, "BEAT_SECONDS", 0.2)
    settings.SAGE_INBOX = None
    async with JobWorker():
        await in_database(enqueue, NAME, key="a", wait_seconds=3600, place="a")
        await asyncio.sleep(1)
        assert named_job == []
        await in_database(make_due)
        async with asyncio.timeout(30):  # a worker fetches by itself only once a minute
            while {job.status for job in await jobs_named(NAME)} != {"succeeded"}:  # noqa: ASYNC110 - nothing here is told when it happens
                await asyncio.sleep(0.05)
    assert named_job == ["a"]


async def test_a_worker_replaces_a_connection_that_the_database_has_closed(
    connector: PsycopgConnector,
) -> None:
    async def server() -> int:
        row = await connector.execute_query_one_async("SELECT pg_backend_pid() AS pid")
        pid: int = row["pid"]
        return pid

    first = await server()
    assert await server() == first
    await in_database(execute, "SELECT pg_terminate_backend(%s, 5000)", first)
    assert await server() != first
