"""Works on background jobs in this process's event loop: alone in `manage.py worker`, beside the web in `up`.

It starts again by itself when the database was away, and frees the jobs of workers that died. It handles
no signal: who runs it says when it ends. What the jobs do is in `jobs`.
"""

import asyncio
from types import TracebackType
from typing import Self

import psycopg
import structlog
from django.db import DatabaseError, connection
from procrastinate import PsycopgConnector
from procrastinate.contrib.django import app, connector_params
from procrastinate.exceptions import ConnectorException

from coaching.jobs.tasks import MODELS, free_stalled_jobs
from coaching.model.client import ModelConnection
from sessions_app.database import in_database

logger = structlog.get_logger(__name__)

CONCURRENCY = 4
POLL_SECONDS = 2.0
BEAT_SECONDS = 5.0
SILENT_SECONDS = 20.0
FREE_SECONDS = 5.0
RESTART_SECONDS = 1.0
JOB_SECONDS_AT_STOP = 6.0
STOP_SECONDS = 9.0

_OUTAGES = (ConnectorException, psycopg.Error, DatabaseError, OSError)


class JobWorker:
    """A worker: `async with JobWorker():` works until the block is left, or `stop` is called.

    At the end running jobs get `JOB_SECONDS_AT_STOP`, then they go back into the queue.
    """

    def __init__(self) -> None:
        self._models = ModelConnection()
        # Of the same jobs; but what they put into the queue goes through Django's connections all the same,
        # within their transactions.
        self._queue = app.with_connector(app.connector)
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._work(), name="work on jobs"),
            asyncio.create_task(_free_stalled(), name="free stalled jobs"),
        ]
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Take no new job, let running ones end, and return after `STOP_SECONDS` at the latest."""
        tasks, self._tasks = self._tasks, []
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        _, late = await asyncio.wait(tasks, timeout=STOP_SECONDS)
        if late:
            # Its jobs are freed by another worker.
            logger.warning("worker_stops_late")
        await self._models.close()

    async def _work(self) -> None:
        while True:
            try:
                await self._work_until_outage()
            except _OUTAGES as error:
                logger.warning("worker_without_database", error=type(error).__name__)
            await asyncio.sleep(RESTART_SECONDS)

    async def _work_until_outage(self) -> None:
        # The embedded server is joined by Django's first connection in a process.
        await in_database(connection.ensure_connection)
        with self._queue.replace_connector(_connector()):
            async with self._queue.open_async():
                await self._queue.run_worker_async(
                    concurrency=CONCURRENCY,
                    fetch_job_polling_interval=POLL_SECONDS,
                    update_heartbeat_interval=BEAT_SECONDS,
                    stalled_worker_timeout=SILENT_SECONDS,
                    shutdown_graceful_timeout=JOB_SECONDS_AT_STOP,
                    install_signal_handlers=False,
                    additional_context={MODELS: self._models},
                )


def _connector() -> PsycopgConnector:
    """Return connections of the worker's own: it listens for jobs, which Django's can't."""
    return PsycopgConnector(kwargs=connector_params(), min_size=1, max_size=CONCURRENCY, timeout=5)


async def _free_stalled() -> None:
    """Free the jobs of dead workers, time and again: no job, so that a full queue can't hold it up."""
    while True:
        try:
            await in_database(free_stalled_jobs, silent_seconds=SILENT_SECONDS)
        except _OUTAGES as error:
            logger.warning("stalled_jobs_not_freed", error=type(error).__name__)
        await asyncio.sleep(FREE_SECONDS)
