"""What a process's workers need every few seconds, in one round trip for all of them.

The library would let each store its heartbeat and fetch a job every few seconds, whether there is one or not.
Here the first of them whose heartbeat is due stores those of all, and reads which queues have a job that is
due and whether a job's worker is dead. New jobs are announced by the database; this finds those whose time
has come, and what an outage kept from being announced.
"""

import asyncio
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from procrastinate.connector import BaseConnector
from procrastinate.contrib.django.models import ProcrastinateJob, ProcrastinateWorker

from coaching.jobs.endings import WorkersJobs

if TYPE_CHECKING:
    from procrastinate.manager import NotificationCallback

_TOLERANCE = 0.9
"""Of the time between two polls: timers of several workers don't fire at exactly the same distance."""

_JOBS, _WORKERS = ProcrastinateJob._meta.db_table, ProcrastinateWorker._meta.db_table

# An update in a WITH runs even if nothing refers to it.
_POLL = f"""
    WITH beats AS (
        UPDATE {_WORKERS} SET last_heartbeat = now() WHERE id = ANY(%(workers)s::bigint[])
    )
    SELECT queue FROM unnest(%(queues)s::varchar[]) AS queue WHERE EXISTS (
        SELECT FROM {_JOBS}
        WHERE status = 'todo' AND queue_name = queue AND (scheduled_at IS NULL OR scheduled_at <= now())
    )
    UNION ALL
    SELECT NULL WHERE EXISTS (
        SELECT FROM {_JOBS} AS job
        LEFT JOIN {_WORKERS} AS worker ON worker.id = job.worker_id
        WHERE job.status = 'doing' AND (
            worker.id IS NULL OR worker.last_heartbeat < now() - make_interval(secs => %(silent_seconds)s)
        )
    )
"""  # noqa: S608 - names of the library's alone


class _Listener(NamedTuple):
    announce: "NotificationCallback"
    queues: Collection[str]


class Polling:
    """The workers of this process. `has_stalled` is set while a job of a dead worker may have to be freed."""

    def __init__(self, *, seconds: float, silent_seconds: float) -> None:
        self.has_stalled = asyncio.Event()
        self.has_stalled.set()
        self.workers: set[int] = set()
        self._listeners: list[_Listener] = []
        self._seconds = seconds
        self._silent_seconds = silent_seconds
        self._due_at = 0.0

    @contextmanager
    def announced(self, announce: "NotificationCallback", queues: Collection[str]) -> Iterator[None]:
        """Announce due jobs in these queues during the block."""
        listener = _Listener(announce, queues)
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    async def poll(self, connector: BaseConnector) -> None:
        """Store all heartbeats and announce what is due, unless another worker has just done so.

        Raises `ConnectorException`; then the next one tries.
        """
        now = time.monotonic()
        if now < self._due_at:
            return
        self._due_at = now + _TOLERANCE * self._seconds
        try:
            rows = await connector.execute_query_all_async(
                _POLL,
                workers=sorted(self.workers),
                queues=sorted({queue for listener in self._listeners for queue in listener.queues}),
                silent_seconds=self._silent_seconds,
            )
        except BaseException:  # a cancelled worker, too, leaves it to the next one
            self._due_at = 0.0
            raise
        due = {row["queue"] for row in rows}
        if None in due:
            self.has_stalled.set()
        for listener in list(self._listeners):
            if not due.isdisjoint(listener.queues):
                await listener.announce(channel="", notification={"type": "job_inserted", "job_id": 0})


class PolledJobs(WorkersJobs):
    """The library's manager, for one of the workers of a process."""

    def __init__(self, connector: BaseConnector, polling: Polling) -> None:
        super().__init__(connector)
        self._polling = polling

    async def register_worker(self) -> int:
        """Register a worker, whose heartbeats are stored from now on."""
        worker = await super().register_worker()
        self._polling.workers.add(worker)
        return worker

    async def unregister_worker(self, worker_id: int) -> None:
        """Delete a worker, whose heartbeats end even if the database is away."""
        self._polling.workers.discard(worker_id)
        await super().unregister_worker(worker_id)

    async def update_heartbeat(self, worker_id: int) -> None:
        """Store the heartbeats of all workers, and announce what is due."""
        await self._polling.poll(self.connector)

    async def listen_for_jobs(
        self, *, on_notification: "NotificationCallback", queues: Iterable[str] | None = None
    ) -> None:
        """Listen for new jobs, and for those that are due."""
        watched = tuple(queues or ())
        with self._polling.announced(on_notification, watched):
            await super().listen_for_jobs(on_notification=on_notification, queues=watched)
