"""Workers as processes: killed, stopped, replaced; and turns resumed by hand."""

import asyncio
import resource
import signal
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from io import StringIO
from typing import Any

import aiohttp
import psutil
import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.job_queue.names import BRIEF_JOB, SUMMARY_JOB
from coaching.job_queue.sessions import enqueue_brief, enqueue_summary
from coaching.jobs.connections import WorkersConnection
from coaching.jobs.summaries import REQUEST
from coaching.practice import PracticeServer
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply
from sessions_app import leases, services
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, Session, Turn, TurnStatus, UsagePurpose
from tests.jobs.conftest import completed_session, jobs_named, make_due, opened_session
from tests.live_sage import url_of_test_database
from tests.sage.processes import StartedProcess
from tests.sage.test_metrics import values_of
from tests.stored_turns import new_turn, open_conversation

pytestmark = pytest.mark.django_db(transaction=True)

READER = "coaching.library.extractors.worker"
SUMMARY = "You talked about sleep and want quieter nights."


@asynccontextmanager
async def worker(
    practice: PracticeServer, *arguments: str, token: str = "", is_forked: bool = True, **variables: str
) -> AsyncIterator[StartedProcess]:
    """Run `manage.py worker` on the test's database with the test's model."""
    environment = {
        "DATABASE_URL": url_of_test_database(),
        "ANTHROPIC_BASE_URL": practice.url,
        "ANTHROPIC_API_KEY": "practice",
        "SAGE_METRICS_TOKEN": token,
        **variables,
    }
    process = StartedProcess(["manage.py", "worker", *arguments], environment, is_forked=is_forked)
    try:
        yield process
    finally:
        await asyncio.to_thread(process.kill)


async def until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until the database says so."""
    async with asyncio.timeout(seconds):
        while not await in_database(is_so):  # noqa: ASYNC110 - another process makes it so
            await asyncio.sleep(0.1)


def age_heartbeats() -> None:
    """Let the time elapse after which a silent worker counts as dead."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'")


async def summary_jobs() -> list[ProcrastinateJob]:
    """Return the jobs of completed sessions; the worker itself queues those of open ones."""
    return [job for job in await jobs_named(SUMMARY_JOB) if "is_open" not in job.args]


async def session_to_summarise(user: User) -> Session:
    session = await in_database(completed_session, user, "I sleep badly.", "What keeps you awake?")
    await in_database(enqueue_summary, session.id)
    return session


async def test_a_killed_workers_job_is_done_by_another_exactly_once(
    queue: None, user: User, practice: PracticeServer
) -> None:
    session = await session_to_summarise(user)
    practice.script([Reply.of("You ", Hold("in the middle"), "never read this."), SUMMARY], key=REQUEST)
    async with worker(practice) as first:
        await practice.reached("in the middle", seconds=60)
        await asyncio.to_thread(first.end, signal.SIGKILL)
    assert [job.status for job in await summary_jobs()] == ["doing"]
    await in_database(age_heartbeats)
    async with worker(practice) as second:
        await until(lambda: bool(Session.unscoped.get(id=session.id).summary), seconds=60)
        assert await asyncio.to_thread(second.end, signal.SIGTERM) == 0
    assert (await in_database(Session.unscoped.get, id=session.id)).summary == SUMMARY
    assert [(job.status, job.attempts) for job in await summary_jobs()] == [("succeeded", 2)]
    paid = ModelUsage.unscoped.filter(session=session, purpose=UsagePurpose.SUMMARY)
    assert await in_database(paid.count) == 1


async def test_a_worker_goes_on_after_an_outage_and_puts_its_job_back_when_it_is_asked_to_stop(
    queue: None, user: User, practice: PracticeServer
) -> None:
    async with worker(practice) as process:
        await asyncio.to_thread(process.wait_for_line, lambda line: "Starting worker" in line)
        assert await in_database(cut_connections_of_worker, process.popen.pid) >= 2
        practice.script([Reply.of("You ", Hold("for ever"), "never read this.")], key=REQUEST)
        await session_to_summarise(user)
        await practice.reached("for ever", seconds=30)
        began = time.monotonic()
        assert await asyncio.to_thread(process.end, signal.SIGTERM) == 0
        assert time.monotonic() - began < 10
        assert process.output.rstrip().endswith("The worker has stopped.")
    assert [job.status for job in await summary_jobs()] == ["todo"]


def cut_connections_of_worker(pid: int) -> int:
    """Kill its connections like a database restart; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND split_part(application_name, ':', 2) = %s",
            [str(pid)],
        )
        return len(cursor.fetchall())


async def test_a_worker_starts_the_process_that_reads_files_and_ends_it(practice: PracticeServer) -> None:
    async with worker(practice) as process:

        def readers() -> list[psutil.Process]:
            started = psutil.Process(process.popen.pid).children()
            return [child for child in started if READER in " ".join(child.cmdline())]

        await until(lambda: len(readers()) == 1, seconds=60)
        (reader,) = readers()
        assert await asyncio.to_thread(process.end, signal.SIGTERM) == 0
        assert not reader.is_running()


def lost_turn(user: User, *, owner: str) -> Turn:
    session = open_conversation(user)
    opened = services.open_turn(new_turn(session, owner=owner), text="Hello", client_id=str(uuid.uuid4()))
    return opened.turn


@contextmanager
def beating(owner: str) -> Iterator[None]:
    """Let a process send heartbeats during the block."""
    is_over = threading.Event()

    def beat() -> None:
        try:
            while not is_over.wait(0.5):
                leases.store_beat(owner)
        finally:
            connection.close()

    leases.store_beat(owner)
    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_turns_of_dead_processes_are_ended_by_hand_and_those_of_living_ones_left_alone(
    user: User, other_user: User
) -> None:
    silent, gone = [lost_turn(user, owner=owner) for owner in ("here:1:silent", "here:2:gone")]
    living = lost_turn(other_user, owner="here:3:living")
    leases.store_beat(silent.owner)
    told = StringIO()
    with beating(living.owner):
        call_command("resume_turns", stdout=told)
    assert told.getvalue() == "Turns resumed and ended: 2.\n"
    for turn in (silent, gone, living):
        turn.refresh_from_db()
    ended = {TurnStatus.COMPLETED, TurnStatus.AWAITING_USER}  # the coach may greet with a question
    assert {silent.status, gone.status} <= ended
    assert any(stored.text for stored in silent.rounds.all())
    assert (living.status, living.owner) == (TurnStatus.RUNNING, "here:3:living")
    assert set(leases.read_beats()) == {"here:1:silent", "here:3:living"}


def test_without_lost_turns_the_command_says_so_at_once(user: User) -> None:
    told = StringIO()
    began = time.monotonic()
    call_command("resume_turns", stdout=told)
    assert told.getvalue() == "Turns resumed and ended: 0.\n"
    assert time.monotonic() - began < leases.LEASE_SECONDS


async def test_a_brief_that_a_stop_has_cut_off_is_queued_again(
    queue: None, user: User, practice: PracticeServer
) -> None:
    session = await in_database(opened_session, user, "I sleep badly.", "What keeps you awake?")
    await in_database(enqueue_brief, session)
    await in_database(make_due)
    practice.script([Reply.of("- You ", Hold("never"), "sleep badly [1]")])
    async with worker(practice) as process:
        await practice.reached("never", seconds=60)
        assert await asyncio.to_thread(process.end, signal.SIGTERM) == 0
    # The worker may have queued another one, when it looked for lost ones at its start.
    assert "todo" in [job.status for job in await jobs_named(BRIEF_JOB)]


async def test_what_a_worker_counts_is_read_at_its_own_port(
    queue: None, user: User, practice: PracticeServer
) -> None:
    await session_to_summarise(user)
    practice.faults.push(Fault(kind="status", status=529))
    async with worker(practice, "--metrics-port", "0", token="a token of the metrics server") as process:
        line = await asyncio.to_thread(process.wait_for_line, lambda line: line.startswith("Metrics at "))
        address = line.split()[-1]
        jobs = ProcrastinateJob.objects.filter(task_name=SUMMARY_JOB)
        await until(jobs.filter(status="todo", attempts=1).exists, seconds=60)
        await in_database(make_due)
        await until(jobs.filter(status="succeeded").exists)
        async with aiohttp.ClientSession() as reader:
            for headers in ({}, {"Authorization": "Bearer another"}):
                async with reader.get(address, headers=headers) as refused:
                    assert refused.status == HTTPStatus.FORBIDDEN
                    assert "sage_" not in await refused.text()
            async with reader.get(
                address, headers={"Authorization": "Bearer a token of the metrics server"}
            ) as response:
                values = values_of(await response.text())
    assert values["sage_upstream_errors_total", "overloaded"] == 1
    runs = {
        outcome: values["sage_job_runs_total", SUMMARY_JOB, outcome] for outcome in ("retried", "succeeded")
    }
    # The job that runs every ten minutes may have queued a second one meanwhile, which finds nothing to do.
    assert (runs["retried"], runs["succeeded"] >= 1) == (1, True)


async def test_a_worker_offers_its_metrics_to_nobody_without_a_token(
    queue: None, practice: PracticeServer
) -> None:
    async with worker(practice, "--metrics-port", "0", is_forked=False) as process:
        await asyncio.to_thread(process.wait_for_line, lambda line: "needs SAGE_METRICS_TOKEN" in line)
        assert await asyncio.to_thread(process.wait) != 0


async def wakeups_while_listening(kind: "type[psycopg.AsyncConnection[Any]]") -> int:
    """Return how often this thread woke within two seconds, at whose end it was notified."""
    async with (
        await kind.connect(url_of_test_database(), autocommit=True) as listener,
        await psycopg.AsyncConnection.connect(url_of_test_database(), autocommit=True) as other,
    ):
        await listener.execute("LISTEN woken")
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw

        async def notify() -> int:
            await asyncio.sleep(2)
            woken = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before
            await other.execute("NOTIFY woken")
            return woken

        notifying = asyncio.create_task(notify())
        assert [each.channel async for each in listener.notifies(stop_after=1)] == ["woken"]
        return await notifying


async def test_an_idle_listener_sleeps_until_it_is_notified() -> None:
    assert await wakeups_while_listening(psycopg.AsyncConnection) > 15
    assert await wakeups_while_listening(WorkersConnection) < 8
