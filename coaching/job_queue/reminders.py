"""Queues reminders: mails, and messages to devices."""

from collections.abc import Sequence
from datetime import date, time
from typing import Any

from coaching.job_queue.names import MAIL_REMINDER_JOB, PUSH_REMINDER_JOB, REMINDERS_QUEUE
from coaching.job_queue.queue import describe_job, enqueue_together


def enqueue_reminders(
    *, kind: str, day: date, at: time | None, mail_to: Sequence[int], push_to: Sequence[tuple[int, int]]
) -> None:
    """Queue a reminder's mails to users and its messages to users' devices, each once. Sync ORM code.

    `at` is the time of steps. To the devices of one user, messages are sent one at a time: the servers behind
    them may all be slow.
    """
    given: dict[str, Any] = {"kind": kind, "day": day.isoformat(), **({"at": at.isoformat()} if at else {})}
    name = f"reminder:{':'.join(given.values())}"
    mails = [
        describe_job(
            MAIL_REMINDER_JOB,
            key=f"{name}:mail:{user_id}",
            queue=REMINDERS_QUEUE,
            user_id=user_id,
            **given,
        )
        for user_id in mail_to
    ]
    pushes = [
        describe_job(
            PUSH_REMINDER_JOB,
            key=f"{name}:push:{device_id}",
            lock=f"push:{user_id}",
            queue=REMINDERS_QUEUE,
            device_id=device_id,
            **given,
        )
        for user_id, device_id in push_to
    ]
    jobs = [*mails, *pushes]
    if jobs and not enqueue_together(jobs):
        for job in jobs:
            enqueue_together([job])
