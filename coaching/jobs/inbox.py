"""The job that reads the mailbox for incoming mail. Imported only where `SAGE_INBOX_URL` is set.

It waits for a server that isn't ours, so it has a queue of its own with one slot, and its own thread.
"""

import asyncio

import structlog
from django.conf import settings
from procrastinate.contrib.django import app

from coaching.inbox.polling import Reading
from coaching.job_queue.names import INBOX_QUEUE
from sessions_app.database import in_database_beside

READ_JOB = "read_inbox"

logger = structlog.get_logger(__name__)


@app.periodic(cron="* * * * *")
@app.task(name=READ_JOB, queue=INBOX_QUEUE, lock=READ_JOB, queueing_lock=READ_JOB)
async def read_inbox(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Take the mails that have come, unless the server failed lately."""
    if settings.SAGE_INBOX is None:
        return
    reading = Reading(settings.SAGE_INBOX, server=settings.SAGE_INBOX_AUTHSERV_ID)
    work = asyncio.ensure_future(in_database_beside(reading.run))
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        reading.stop()
        await asyncio.wait([work])
        raise
    if reading.counts:
        logger.info("inbox_read", **reading.counts)
