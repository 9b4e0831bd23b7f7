"""Queues the letters about a month."""

from datetime import date

from coaching.job_queue.names import BULK_QUEUE, LETTER_JOB, JobPriority
from coaching.job_queue.queue import enqueue


def enqueue_letter(user_id: int, month: date) -> bool:
    """Queue a person's letter about a month; False if it is queued already. Sync ORM code."""
    return enqueue(
        LETTER_JOB,
        key=f"letter:{user_id}:{month}",
        priority=JobPriority.BULK,
        queue=BULK_QUEUE,
        user_id=user_id,
        month=month.isoformat(),
    )
