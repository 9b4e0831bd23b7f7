"""Which jobs run first, and the slots that bulk and reminders never get."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from django.contrib.auth.models import User
from procrastinate.contrib.django import app

from coaching.job_queue.names import (
    BULK_QUEUE,
    DOCUMENT_JOB,
    DOCUMENTS_QUEUE,
    REMINDERS_QUEUE,
    SUMMARY_JOB,
    JobPriority,
)
from coaching.job_queue.queue import enqueue
from coaching.job_queue.sessions import enqueue_summary
from coaching.jobs.worker import REMINDER_SLOTS, SLOTS, JobWorker
from coaching.practice import PracticeServer
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.jobs.conftest import WorkOff, completed_session, jobs_named

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def tasks_removed(*names: str) -> Iterator[None]:
    """Forget tasks that a test has registered."""
    try:
        yield
    finally:
        for name in names:
            app.tasks.pop(name, None)


@asynccontextmanager
async def waiting_jobs(name: str, queue: str, count: int) -> AsyncIterator[list[int]]:
    """Queue jobs that end with the block; the list has those that a worker has started."""
    started: list[int] = []
    is_over = asyncio.Event()

    async def wait(*, number: int) -> None:
        started.append(number)
        await is_over.wait()

    with tasks_removed(name):
        app.task(name=name, queue=queue, priority=JobPriority.BULK)(wait)
        for number in range(count):
            await in_database(enqueue, name, key=f"{name}-{number}", number=number)
        try:
            yield started
        finally:
            is_over.set()
            async with asyncio.timeout(60):
                while {job.status for job in await jobs_named(name)} != {"succeeded"}:  # noqa: ASYNC110 - nothing here is told when it happens
                    await asyncio.sleep(0.1)


async def test_due_jobs_run_by_priority_whatever_was_queued_first(work_off: WorkOff) -> None:
    ran: list[str] = []
    names = [priority.name.lower() for priority in JobPriority]
    with tasks_removed(*names):
        for priority in JobPriority:

            async def note(*, place: str) -> None:
                ran.append(place)

            app.task(name=priority.name.lower(), priority=priority)(note)
        for priority in reversed(JobPriority):
            name = priority.name.lower()
            await in_database(enqueue, name, key=name, place=name)
        await work_off()
    assert ran == ["removal", "chat_upload", "brief", "title", "ordinary", "bulk", "afterwards"]


async def test_each_job_has_the_place_of_what_it_does(queue: None) -> None:
    app.perform_import_paths()  # type: ignore[no-untyped-call]  # it has no types
    priorities = {task.name: task.priority for task in app.tasks.values()}
    assert priorities["remove_person"] == JobPriority.REMOVAL
    assert priorities[SUMMARY_JOB] == JobPriority.TITLE
    in_bulk = (BULK_QUEUE, DOCUMENTS_QUEUE)
    bulk = {task.name for task in app.tasks.values() if task.priority == JobPriority.BULK}
    # Somebody waits for an import, which is long all the same.
    queued = {task.name for task in app.tasks.values() if task.queue in in_bulk}
    assert queued - {"import_upload"} == bulk
    assert priorities["refresh_calendar"] == JobPriority.BULK
    assert priorities[DOCUMENT_JOB] == JobPriority.CHAT_UPLOAD


async def test_bulk_jobs_and_slow_reminders_leave_a_slot_to_all_others(
    queue: None, user: User, practice: PracticeServer
) -> None:
    session = await in_database(completed_session, user, "I sleep badly.", "What keeps you awake?")
    practice.script(["You talked about sleep."])
    async with (
        JobWorker(),
        waiting_jobs("wait_in_bulk", BULK_QUEUE, SLOTS + 3) as started,
        waiting_jobs("wait_for_push_service", REMINDERS_QUEUE, REMINDER_SLOTS + 3) as sending,
    ):
        async with asyncio.timeout(60):
            while len(started) < SLOTS or len(sending) < REMINDER_SLOTS:  # noqa: ASYNC110 - the worker is in this loop
                await asyncio.sleep(0.05)
            await in_database(enqueue_summary, session.id)
            while not (await in_database(Session.unscoped.get, id=session.id)).summary:  # noqa: ASYNC110 - nothing here is told when it happens
                await asyncio.sleep(0.1)
        assert (len(started), len(sending)) == (SLOTS, REMINDER_SLOTS)
        states = [job.status for job in await jobs_named("wait_in_bulk")]
        assert (states.count("doing"), states.count("todo")) == (SLOTS, 3)
