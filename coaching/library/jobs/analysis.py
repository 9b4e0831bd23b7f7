"""The job that reads a whole document: its summary, its facts, or what was said in a transcript.

`library.pipeline.analysis` and `library.pipeline.facts` do the work.
"""

import uuid
from contextlib import nullcontext
from typing import Any

import structlog
from procrastinate import JobContext
from procrastinate.contrib.django import app

from coaching.job_queue.names import ANALYSIS_JOB, JobPriority
from coaching.jobs.retries import Retries
from coaching.jobs.tasks import BULK_CALLS, MODELS
from coaching.library.documents.findings import (
    FACTS_KEY,
    SUMMARY_KEY,
    FindingKind,
    wait_again,
    wait_for_text,
)
from coaching.library.pipeline.analysis import analyse, summarise
from coaching.library.pipeline.calls import CallFailed
from coaching.library.pipeline.facts import TurnOver, find_facts
from coaching.model_client.connection import ModelConnection
from sessions_app.database import in_database
from sessions_app.errors import OverBudget, Refused

logger = structlog.get_logger(__name__)

TURN_SECONDS = 20
"""After so long a search for facts in bulk lets others go on, and is queued again."""


@app.task(name=ANALYSIS_JOB, pass_context=True, retry=Retries(), priority=JobPriority.CHAT_UPLOAD)
async def analyse_document(
    context: JobContext, *, document_id: int, kind: FindingKind, session_id: str = "",
    waited_seconds: int = 0, run: str = "", is_bulk: bool = False,
) -> None:  # fmt: skip
    """Store what a document says. Over the budget it waits; a failed call ends it."""
    models: ModelConnection = context.additional_context[MODELS]
    session = uuid.UUID(session_id) if session_id else None
    job: dict[str, Any] = {
        "document_id": document_id, "kind": kind, "session_id": session, "waited_seconds": waited_seconds,
        "run": run, "is_bulk": is_bulk,
    }  # fmt: skip
    if await in_database(wait_for_text, **job):
        return
    try:
        client = await models.client()
        if kind == FACTS_KEY:
            await find_facts(document_id, client=client, run=run, **_limits(context, is_bulk=is_bulk))
        else:
            work = summarise if kind == SUMMARY_KEY else analyse
            await work(document_id, session_id=session, client=client, run=run)
    except TurnOver:
        await in_database(wait_again, **job, wait_seconds=0)
    except OverBudget:
        await in_database(wait_again, **job)
    except (CallFailed, Refused) as error:
        logger.info("document_not_analysed", document_id=document_id, kind=kind, reason=type(error).__name__)


def _limits(context: JobContext, *, is_bulk: bool) -> dict[str, Any]:
    """Return what limits the calls of a search that nobody waits for."""
    calls = context.additional_context.get(BULK_CALLS)
    return {"slot": calls or nullcontext(), "seconds": TURN_SECONDS} if is_bulk else {}
