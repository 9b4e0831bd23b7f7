"""Runs background jobs in this process: alone in `manage.py worker`, or with the web process in `up`.

It restarts by itself after a database outage, and frees the jobs of dead workers. One of its slots is never
given to bulk jobs; documents that came in bulk, reminders, recordings and incoming mail have slots of their
own. It handles no signals: its owner stops it.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import Self

import psycopg
import structlog
from django.conf import settings
from django.db import connection
from procrastinate import App
from procrastinate.contrib.django import app
from procrastinate.exceptions import ConnectorException
from procrastinate.periodic import PeriodicRegistry

from coaching.job_queue.names import (
    BULK_QUEUE,
    DOCUMENTS_QUEUE,
    HEARING_QUEUE,
    INBOX_QUEUE,
    REMINDERS_QUEUE,
    VOICE_QUEUE,
)
from coaching.jobs.connections import open_connector
from coaching.jobs.endings import WorkersJobs
from coaching.jobs.polling import PolledJobs, Polling
from coaching.jobs.tasks import BULK_CALLS, MODELS, free_stalled_jobs
from coaching.library.pipeline.extraction import warm_extraction
from coaching.live.runner import get_runner
from coaching.model_client.connection import ModelConnection
from coaching.supervision import is_ending, supervisor
from coaching.voice.transcription import can_transcribe, speech_model
from sessions_app.database import OUTAGES, in_database

logger = structlog.get_logger(__name__)

SLOTS = 3
"""For any job; one more is kept for those that aren't bulk."""
BULK_CALLS_AT_ONCE = 2
"""As many calls about documents in bulk run at once."""
DOCUMENT_SLOTS = BULK_CALLS_AT_ONCE + 1
"""While those run, the texts for the next are read."""
REMINDER_SLOTS = 4
"""As many servers of mail and push are waited for at once."""
VOICE_SLOTS = 4
"""As many recordings are turned into words at once by a server; a model file hears one after another."""
HEARING_SLOTS = 2
"""As many recordings in the library are turned into words at once by a server, one of a person."""
POLL_SECONDS = 60.0
"""A worker fetches at least so often, whatever is announced to it."""
ABORT_POLL_SECONDS = 60.0
"""For requests to abort a running job, which nobody makes."""
BEAT_SECONDS = 5.0
"""Also how late a job may begin whose time has come, such as a retry; the database announces new ones."""
SILENT_SECONDS = 20.0
RESTART_SECONDS = 1.0
JOB_SECONDS_AT_STOP = 6.0
STOP_SECONDS = 9.0

_OUTAGES = (ConnectorException, psycopg.Error, *OUTAGES, OSError)


class JobWorker:
    """A worker for the length of the block; then running jobs get `JOB_SECONDS_AT_STOP`."""

    def __init__(self) -> None:
        self._models = ModelConnection(is_background=True)
        self._bulk_calls = asyncio.Semaphore(BULK_CALLS_AT_ONCE)
        # The same jobs; but what they enqueue still goes through Django's connections, within their
        # transactions.
        self._polling = polling = Polling(seconds=BEAT_SECONDS, silent_seconds=SILENT_SECONDS)
        self._any_jobs = open_queue(polling=polling)
        self._no_bulk = open_queue(polling=polling, has_periodic=False)
        self._documents = open_queue(polling=polling, has_periodic=False)
        self._reminders = open_queue(polling=polling, has_periodic=False)
        self._inbox = open_queue(polling=polling, has_periodic=False)
        self._voice = open_queue(polling=polling, has_periodic=False)
        self._hearing = open_queue(polling=polling, has_periodic=False)
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        get_runner().listen()  # web processes hear of what jobs change
        alone = {DOCUMENTS_QUEUE, REMINDERS_QUEUE, INBOX_QUEUE, VOICE_QUEUE}
        if can_transcribe():  # otherwise a recording is no work
            alone.add(HEARING_QUEUE)
        queues = sorted({task.queue for task in app.tasks.values()} - alone)
        without_bulk = [queue for queue in queues if queue != BULK_QUEUE]
        self._work_on("jobs_any", self._any_jobs, queues, slots=SLOTS)
        self._work_on("jobs_without_bulk", self._no_bulk, without_bulk, slots=1)
        self._work_on("jobs_documents", self._documents, [DOCUMENTS_QUEUE], slots=DOCUMENT_SLOTS)
        self._work_on("jobs_reminders", self._reminders, [REMINDERS_QUEUE], slots=REMINDER_SLOTS)
        hearing_slots, voice_slots = (1, 1) if speech_model() else (HEARING_SLOTS, VOICE_SLOTS)
        if HEARING_QUEUE in alone:
            self._work_on("jobs_hearing", self._hearing, [HEARING_QUEUE], slots=hearing_slots)
        if settings.SAGE_INBOX:
            self._work_on("jobs_inbox", self._inbox, [INBOX_QUEUE], slots=1)
        if can_transcribe():
            self._work_on("jobs_voice", self._voice, [VOICE_QUEUE], slots=voice_slots)
        self._tasks += [
            supervisor.keep("free_stalled", partial(_free_stalled, self._polling.has_stalled)),
            supervisor.keep("warm_extraction", _warm_extraction, is_endless=False),
            supervisor.keep("warm_model", self._warm_model, is_endless=False),
        ]
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Take no new jobs, let running ones finish, and return within `STOP_SECONDS`."""
        tasks, self._tasks = self._tasks, []
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        _, late = await asyncio.wait(tasks, timeout=STOP_SECONDS)
        if late:
            # Another worker frees its jobs.
            logger.warning("worker_stops_late")
        await self._models.close()

    async def _warm_model(self) -> None:
        """Load the SDK, which takes a second, so that the first call needn't wait for it."""
        await self._models.client()

    def _work_on(self, name: str, jobs: App, queues: Sequence[str], *, slots: int) -> None:
        self._tasks.append(supervisor.keep(name, partial(self._work, jobs, queues, slots=slots)))

    async def _work(self, jobs: App, queues: Sequence[str], *, slots: int) -> None:
        """Work until cancelled. Returns where the library has stopped because one of its tasks failed."""
        while True:
            try:
                return await self._work_until_outage(jobs, queues, slots=slots)
            except _OUTAGES as error:
                logger.warning("worker_without_database", error=type(error).__name__)
                if is_ending():
                    return None
                await asyncio.sleep(RESTART_SECONDS)

    async def _work_until_outage(self, jobs: App, queues: Sequence[str], *, slots: int) -> None:
        await in_database(_join_server)
        connector = open_connector(slots=slots)  # Django's connections can't LISTEN for jobs
        try:
            with jobs.replace_connector(connector):
                async with jobs.open_async():
                    await jobs.run_worker_async(
                        queues=queues,
                        concurrency=slots,
                        fetch_job_polling_interval=POLL_SECONDS,
                        abort_job_polling_interval=ABORT_POLL_SECONDS,
                        update_heartbeat_interval=BEAT_SECONDS,
                        stalled_worker_timeout=SILENT_SECONDS,
                        shutdown_graceful_timeout=JOB_SECONDS_AT_STOP,
                        install_signal_handlers=False,
                        additional_context={MODELS: self._models, BULK_CALLS: self._bulk_calls},
                    )
        finally:
            # If the start is cancelled, the pool stays open, and its tasks would hold up the process's end.
            await connector.close_async()


def open_queue(*, polling: Polling | None = None, has_periodic: bool = True) -> App:
    """Return all jobs for a worker, perhaps without periodic ones. `polling` is shared by its process's."""
    queue = app.with_connector(app.connector)
    connector = queue.connector
    queue.job_manager = PolledJobs(connector, polling) if polling else WorkersJobs(connector)
    if not has_periodic:
        queue.periodic_registry = PeriodicRegistry()  # type: ignore[no-untyped-call]  # it has no types
    return queue


def _join_server() -> None:
    """Open and return a connection of Django's: the first one in a process joins the embedded server.

    `connection` is another one in each thread, so it is named in the thread that uses it.
    """
    connection.ensure_connection()


async def _free_stalled(has_stalled: asyncio.Event) -> None:
    """Free the jobs of dead workers. Not a job itself, so that a full queue can't delay it."""
    while True:
        await has_stalled.wait()
        has_stalled.clear()
        try:
            await in_database(free_stalled_jobs, silent_seconds=SILENT_SECONDS)
        except _OUTAGES as error:
            logger.warning("stalled_jobs_not_freed", error=type(error).__name__)


async def _warm_extraction() -> None:
    """Start the process that reads files, so that the first document needn't wait for it."""
    try:
        await asyncio.to_thread(warm_extraction)
    except OSError as error:  # The first document starts it.
        logger.warning("extraction_not_warmed", error=type(error).__name__)
