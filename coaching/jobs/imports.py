"""The job that imports an uploaded export, or undoes an import.

It does one step at a time in threads that conversations don't need, so that a worker's stop, and other slow
work, wait for a step at most. Killed or stopped, it goes on where it was.
"""

import asyncio
from collections.abc import Generator

from procrastinate import RetryDecision
from procrastinate.contrib.django import app
from procrastinate.jobs import Job

from coaching.job_queue.names import BULK_QUEUE, IMPORT_JOB
from coaching.jobs.retries import Retries
from coaching.legacy.imports import job_steps
from sessions_app.database import in_database_unhurried
from sessions_app.errors import Refused

BUSY_SECONDS = 15
BUSY_ATTEMPTS = 240
"""An hour."""


class WhileBusy(Retries):
    """Another attempt soon while the person's other import runs, or the storage is out of reach."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, Refused):
            return RetryDecision(retry_in={"seconds": BUSY_SECONDS}) if job.attempts < BUSY_ATTEMPTS else None
        return super().get_retry_decision(exception=exception, job=job)


@app.task(name=IMPORT_JOB, queue=BULK_QUEUE, retry=WhileBusy())
async def import_upload(*, import_id: int) -> None:
    """Store an uploaded export, or undo an import."""
    steps = job_steps(import_id)
    try:
        while await _step(steps):
            pass
    finally:
        await in_database_unhurried(steps.close)


async def _step(steps: Generator[None, None, None]) -> bool:
    """Do one step and return whether there may be another; a stop waits for it."""
    step = asyncio.ensure_future(in_database_unhurried(_next, steps))
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        await asyncio.wait([step])
        raise


def _next(steps: Generator[None, None, None]) -> bool:
    # A StopIteration can't be raised into a future.
    return next(steps, False) is None
