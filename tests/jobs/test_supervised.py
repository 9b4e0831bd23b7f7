"""A worker whose library fails goes on serving its queues, and stops at once while the database is away."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from procrastinate import App
from procrastinate.contrib.django import app
from procrastinate.exceptions import ConnectorException
from pytest_django import Settings

from coaching import supervision
from coaching.job_queue.queue import enqueue
from coaching.jobs.worker import STOP_SECONDS, JobWorker
from sessions_app.database import in_database
from tests.jobs.conftest import jobs_named

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]

NAME = "supervised_job"
QUEUES = 4
"""As many are served at once without mail and recordings: any, without bulk, documents, reminders."""
Work = Callable[..., Awaitable[None]]


@pytest.fixture(autouse=True)
def job(settings: Settings) -> Iterator[None]:
    """A job that does nothing."""

    async def run(*, place: str) -> None:
        pass

    settings.SAGE_INBOX = None
    app.task(name=NAME)(run)
    yield
    app.tasks.pop(NAME)


@pytest.mark.parametrize("is_ended", [False, True])
async def test_a_queue_is_served_again_after_the_library_has_failed(
    monkeypatch: pytest.MonkeyPatch, *, is_ended: bool
) -> None:
    works: Work = App.run_worker_async
    failed = set[Any]()

    async def fail_once(queue: App, **options: Any) -> None:
        """Raise once for each queue, or return, as the library does where one of its own tasks has failed."""
        if queue in failed:
            await works(queue, **options)
            return
        failed.add(queue)
        if not is_ended:
            raise TypeError

    monkeypatch.setattr(App, "run_worker_async", fail_once)
    monkeypatch.setattr(supervision, "FIRST_WAIT_SECONDS", 0.05)
    async with JobWorker(), asyncio.timeout(60):
        await in_database(enqueue, NAME, key="a", place="a")
        while {each.status for each in await jobs_named(NAME)} != {"succeeded"}:  # noqa: ASYNC110 - the worker does it
            await asyncio.sleep(0.05)
    assert len(failed) > 1


async def test_a_worker_that_can_not_sign_off_stops_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    began = set[Any]()

    async def work(queue: App, **_options: Any) -> None:
        """Run until cancelled, and then fail as the library does where the database is away."""
        began.add(queue)
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            raise ConnectorException from None

    monkeypatch.setattr(App, "run_worker_async", work)
    async with JobWorker() as worker:
        async with asyncio.timeout(30):
            while len(began) < QUEUES:  # noqa: ASYNC110 - the worker does it
                await asyncio.sleep(0.01)
        stopped_at = time.monotonic()
        await worker.stop()
        assert time.monotonic() - stopped_at < STOP_SECONDS / 2
