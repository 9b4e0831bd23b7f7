"""Queues the reading of documents, and what is found in them."""

import uuid
from typing import Any

from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.job_queue.names import (
    ANALYSIS_JOB,
    DOCUMENT_JOB,
    DOCUMENTS_JOB,
    DOCUMENTS_QUEUE,
    HEARING_JOB,
    HEARING_QUEUE,
    JobPriority,
)
from coaching.job_queue.queue import enqueue
from coaching.models import Document, DocumentSource

DOCUMENT_QUEUES = 6
"""In as many queues the documents of one user are read at once."""


def enqueue_document(document: Document, *, wait_seconds: int = 0) -> bool:
    """Queue the reading of a document; False if nothing needs to be queued. Sync ORM code.

    One that comes from a conversation has a job of its own, and so has a recording. The others of a user are
    read in queues, eight at a time, and `manage.py classify` reads its own.
    """
    if document.is_unheard:
        return _enqueue_hearing(document, wait_seconds=wait_seconds)
    if document.source == DocumentSource.COMMAND:
        return False
    if document.source == DocumentSource.UPLOAD:
        return enqueue_documents(document.user_id, document.pk % DOCUMENT_QUEUES, wait_seconds=wait_seconds)
    return enqueue(
        DOCUMENT_JOB,
        key=f"document:{document.pk}",
        priority=JobPriority.CHAT_UPLOAD,
        wait_seconds=wait_seconds,
        document_id=document.pk,
    )


def _enqueue_hearing(document: Document, *, wait_seconds: int) -> bool:
    """Queue a recording; one of a user is heard at a time."""
    is_bulk = document.source != DocumentSource.CHAT
    return enqueue(
        HEARING_JOB,
        key=f"hearing:{document.pk}",
        lock=f"hearing:of:{document.user_id}",
        priority=JobPriority.BULK if is_bulk else JobPriority.CHAT_UPLOAD,
        queue=HEARING_QUEUE,
        wait_seconds=wait_seconds,
        document_id=document.pk,
    )


def enqueue_analysis(
    *,
    document_id: int,
    kind: str,
    session_id: uuid.UUID | None,
    key: str,
    wait_seconds: int = 0,
    waited_seconds: int = 0,
    run: str = "",
    is_bulk: bool = False,
) -> bool:
    """Queue a summary, an analysis or the search for facts; False if it is queued. Sync ORM code.

    `waited_seconds` is how long it will have waited for the document's text. `run` names one that was asked
    for anew. With `is_bulk` nobody waits for it; without, it takes the place of such a one that is queued.
    """
    if not is_bulk:
        waiting = ProcrastinateJob.objects.filter(queueing_lock=key, status="todo")
        waiting.filter(priority__lt=JobPriority.CHAT_UPLOAD).delete()
    # Workers of the version before don't know the last two.
    more: dict[str, Any] = {**({"run": run} if run else {}), **({"is_bulk": True} if is_bulk else {})}
    return enqueue(
        ANALYSIS_JOB,
        key=key,
        # First all are filed: where the day's budget doesn't last, that matters more.
        priority=JobPriority.AFTERWARDS if is_bulk else JobPriority.CHAT_UPLOAD,
        queue=DOCUMENTS_QUEUE if is_bulk else None,
        wait_seconds=wait_seconds,
        document_id=document_id,
        kind=kind,
        session_id=str(session_id or ""),
        waited_seconds=waited_seconds,
        **more,
    )


def enqueue_documents(user_id: int, number: int, *, wait_seconds: int = 0) -> bool:
    """Queue a call in one of the queues of a user's documents; False if it is queued. Sync ORM code.

    Each such job makes one call and queues the next, so that users take turns.
    """
    return enqueue(
        DOCUMENTS_JOB,
        key=f"documents:{user_id}:{number}",
        priority=JobPriority.BULK,
        queue=DOCUMENTS_QUEUE,
        wait_seconds=wait_seconds,
        user_id=user_id,
        lane=number,  # the name that jobs of earlier versions have
    )
