"""Background jobs that send reminders. `reminders` does the work.

Each minute, a job claims what is due and queues a job for each mail and each device, in a queue that other
jobs don't wait for.
"""

import asyncio
from datetime import date, time
from typing import Any

import structlog
from django.utils import timezone
from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.contrib.django import app
from procrastinate.jobs import Job

from coaching.job_queue.names import MAIL_REMINDER_JOB, PUSH_REMINDER_JOB, REMINDERS_QUEUE
from coaching.reminders.devices import forget_device, note_failure, note_reached, read_push
from coaching.reminders.due import claim_due, forget_old
from coaching.reminders.mails import MailNotTakenError, begin_mail, give_back_mail, hand_over
from coaching.reminders.senders import Answer, PushNotTakenError, get_sender
from sessions_app.database import in_database, in_database_unhurried

logger = structlog.get_logger(__name__)

MAX_ATTEMPTS = 4
WAIT_SECONDS = 15
"""Four times as long each time: 15 s, 1 min, 4 min."""


class FewRetries(BaseRetryStrategy):
    """Some more attempts if the server of others had a problem; one, at once, after a worker's stop."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        is_passing = isinstance(exception, MailNotTakenError | PushNotTakenError)
        if not is_passing or job.attempts + 1 >= MAX_ATTEMPTS:
            return None
        # Of the jobs with one lock, the first of the highest priority runs: others mustn't wait for this one.
        return RetryDecision(retry_in={"seconds": WAIT_SECONDS * 4**job.attempts}, priority=job.priority - 1)


@app.periodic(cron="* * * * *")
@app.task(name="claim_reminders", lock="claim_reminders", queueing_lock="claim_reminders")
async def claim_reminders(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Claim and queue the reminders that are due."""
    count = await in_database_unhurried(claim_due, now=timezone.now())
    if count:
        logger.info("reminders_due", count=count)


@app.periodic(cron="41 3 * * *")
@app.task(name="forget_reminders", queueing_lock="forget_reminders")
async def forget_reminders(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Delete the rows of reminders that were sent long ago."""
    await in_database_unhurried(forget_old, now=timezone.now())


@app.task(name=MAIL_REMINDER_JOB, queue=REMINDERS_QUEUE, retry=FewRetries())
async def mail_reminder(*, user_id: int, kind: str, day: str, at: str = "") -> None:
    which: dict[str, Any] = {"kind": kind, "day": date.fromisoformat(day), "at": _time(at)}
    message = await in_database(begin_mail, user_id=user_id, now=timezone.now(), **which)
    if message is None:
        return
    try:
        await asyncio.to_thread(hand_over, message)
    except MailNotTakenError:
        await in_database(give_back_mail, user_id=user_id, **which)
        raise


@app.task(name=PUSH_REMINDER_JOB, queue=REMINDERS_QUEUE, retry=FewRetries())
async def push_reminder(*, device_id: int, kind: str, day: str, at: str = "") -> None:
    """Send a reminder to a device.

    If the process dies in the middle of it, it is sent again: the browser shows only the last one of a name.
    """
    which: dict[str, Any] = {"kind": kind, "day": date.fromisoformat(day), "at": _time(at)}
    push = await in_database(read_push, device_id=device_id, now=timezone.now(), **which)
    if push is None:
        return
    try:
        answer = await get_sender().send(push)
    except PushNotTakenError:
        await in_database(note_failure, device_id)
        raise
    match answer:
        case Answer.TAKEN:
            await in_database(note_reached, device_id)
        case Answer.GONE:
            await in_database(forget_device, device_id)
        case Answer.REFUSED:
            logger.warning("push_refused", device_id=device_id)
            await in_database(note_failure, device_id)


def _time(at: str) -> time | None:
    return time.fromisoformat(at) if at else None
