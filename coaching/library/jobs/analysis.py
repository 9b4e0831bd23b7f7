"""The job that summarises a document or analyses a transcript; `library.pipeline.analysis` does the work."""

import uuid
from typing import Any

import structlog
from procrastinate import JobContext
from procrastinate.contrib.django import app

from coaching.job_queue import ANALYSIS_JOB, JobPriority
from coaching.jobs.tasks import MODELS, Retries
from coaching.library.documents.findings import SUMMARY_KEY, FindingKind, wait_again, wait_for_text
from coaching.library.pipeline.analysis import analyse, summarise
from coaching.library.pipeline.calls import CallFailed
from coaching.model_client.connection import ModelConnection
from sessions_app.database import in_database
from sessions_app.errors import OverBudget, Refused

logger = structlog.get_logger(__name__)


@app.task(name=ANALYSIS_JOB, pass_context=True, retry=Retries(), priority=JobPriority.CHAT_UPLOAD)
async def analyse_document(
    context: JobContext, *, document_id: int, kind: FindingKind, session_id: str = "", waited_seconds: int = 0
) -> None:
    """Store what a document says as proposals. Over the budget it waits; a failed call ends it."""
    models: ModelConnection = context.additional_context[MODELS]
    work = summarise if kind == SUMMARY_KEY else analyse
    session = uuid.UUID(session_id) if session_id else None
    job: dict[str, Any] = {
        "document_id": document_id, "kind": kind, "session_id": session, "waited_seconds": waited_seconds,
    }  # fmt: skip
    if await in_database(wait_for_text, **job):
        return
    try:
        await work(document_id, session_id=session, client=await models.client())
    except OverBudget:
        await in_database(wait_again, **job)
        return
    except (CallFailed, Refused) as error:
        logger.info("document_not_analysed", document_id=document_id, kind=kind, reason=type(error).__name__)
