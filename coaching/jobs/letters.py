"""Background jobs that write letters about a month. `letters` does the work.

Every ten minutes a job queues the letters that are due. An attempt that fails, or that the budget doesn't
allow, is made again by a later one of these.
"""

from datetime import date

import structlog
from django.utils import timezone
from procrastinate import JobContext
from procrastinate.contrib.django import app

from coaching.engine.errors import UpstreamError
from coaching.files.errors import StorageFailed
from coaching.job_queue.names import BULK_QUEUE, LETTER_JOB, JobPriority
from coaching.jobs.retries import AfterStop
from coaching.jobs.tasks import MODELS
from coaching.letters.due import queue_due
from coaching.letters.writing import write_letter
from coaching.model_client.connection import ModelConnection
from sessions_app.database import in_database
from sessions_app.errors import Refused

logger = structlog.get_logger(__name__)


@app.periodic(cron="*/10 * * * *")
@app.task(name="find_due_letters", queueing_lock="find_due_letters")
async def find_due_letters(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Queue the letters that are due."""
    count = await in_database(queue_due, now=timezone.now())
    if count:
        logger.info("letters_due", count=count)


@app.task(name=LETTER_JOB, pass_context=True, queue=BULK_QUEUE, retry=AfterStop(), priority=JobPriority.BULK)
async def write_letter_of_month(context: JobContext, *, user_id: int, month: str) -> None:
    """Write a person's letter about a month; a second run finds it written."""
    models: ModelConnection = context.additional_context[MODELS]
    client = await models.client()
    try:
        await write_letter(user_id, date.fromisoformat(month), client=client, now=timezone.now())
    except (UpstreamError, StorageFailed, Refused) as error:
        logger.warning("letter_failed", user_id=user_id, reason=str(error))
