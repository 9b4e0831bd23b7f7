"""Background jobs that read documents. `library.pipeline` does the work.

A document of a conversation has a job of its own, and so has a recording, which a server hears for minutes.
The others of a user are read in queues: each job makes one call and queues the next, so that users take
turns.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta

import structlog
from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Concat
from django.utils import timezone
from procrastinate import JobContext
from procrastinate.contrib.django import app

from coaching.job_queue.documents import DOCUMENT_QUEUES, enqueue_document, enqueue_documents
from coaching.job_queue.names import (
    DOCUMENT_JOB,
    DOCUMENTS_JOB,
    DOCUMENTS_QUEUE,
    HEARING_JOB,
    HEARING_QUEUE,
    JobPriority,
)
from coaching.jobs.retries import Retries
from coaching.jobs.tasks import BULK_CALLS, MODELS
from coaching.library.documents.drawn_pages import expire_pages
from coaching.library.documents.findings import FACTS_KEY, TRANSCRIPT_KEY, FindingKind
from coaching.library.documents.locks import update_documents
from coaching.library.documents.readings import queue_readings, transcript_types
from coaching.library.pipeline.batch import Services
from coaching.library.pipeline.batches import collect
from coaching.library.pipeline.call_records import calls_in_batches
from coaching.library.pipeline.claims import claim_chosen, claim_uploads, free_silent
from coaching.library.pipeline.page_reading import may_recognise
from coaching.library.pipeline.reading import read_batch
from coaching.library.pipeline.stages.read_pictures import PAGES_OF_DAY
from coaching.model_client.connection import ModelConnection
from coaching.models import (
    IS_UNHEARD,
    CallPurpose,
    Document,
    DocumentCall,
    DocumentCallState,
    DocumentSource,
    DocumentState,
    DocumentText,
    KnowledgeEntry,
)
from sessions_app.database import in_database
from sessions_app.usage import read_tokens_of_day

logger = structlog.get_logger(__name__)

UNREACHABLE_SECONDS = 30
"""How long documents wait where the model can't be reached."""
READINGS_AT_ONCE = 100
SEARCHED_LATER = timedelta(days=30)
"""So long after its filing a document that was never searched for facts is queued unasked."""
STORED_WITHIN = timedelta(hours=1)
"""So long after its last call an analysis that left no entry is made again from its answers."""


@app.task(name=DOCUMENT_JOB, pass_context=True, retry=Retries(), priority=JobPriority.CHAT_UPLOAD)
async def read_document(context: JobContext, *, document_id: int) -> None:
    """Read a document that came in a conversation."""
    await _read_one(document_id, _services(context, leaves_recordings=True), reader="document")


@app.task(name=HEARING_JOB, pass_context=True, queue=HEARING_QUEUE, retry=Retries())
async def hear_document(context: JobContext, *, document_id: int) -> None:
    """Read a document that is a recording."""
    await _read_one(document_id, _services(context), reader="hearing")


async def _read_one(document_id: int, services: Services, *, reader: str) -> None:
    user_id = await in_database(_owner, document_id)
    while user_id is not None:
        claim = await in_database(
            claim_chosen,
            user_id=user_id,
            reader=f"{reader}:{document_id}",
            document_ids=[document_id],
            without_unheard=services.leaves_recordings,
        )
        if claim is None:
            return
        if not await read_batch(claim, services):
            await in_database(_queue_again, document_id)
            return


@app.task(
    name=DOCUMENTS_JOB, pass_context=True, queue=DOCUMENTS_QUEUE, retry=Retries(), priority=JobPriority.BULK
)
async def read_documents(context: JobContext, *, user_id: int, lane: int) -> None:
    """Make one call about documents of a user, and queue the next. `lane` numbers the user's queue."""
    claim = await in_database(claim_uploads, user_id=user_id, reader=f"lane:{lane}")
    if claim is None:
        return
    services = _services(context, calls=context.additional_context.get(BULK_CALLS), leaves_recordings=True)
    is_reached = await read_batch(claim, services)
    await in_database(enqueue_documents, user_id, lane, wait_seconds=0 if is_reached else UNREACHABLE_SECONDS)


@app.periodic(cron="*/10 * * * *")
@app.task(name="resume_documents", pass_context=True, queueing_lock="resume_documents")
async def resume_documents(context: JobContext, timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Go on with documents that waited for the budget or a batch, and with those whose job was lost."""
    if calls := await in_database(calls_in_batches):
        models: ModelConnection = context.additional_context[MODELS]
        await collect(calls, await models.batch_client())
    freed = await in_database(free_silent, timezone.now())
    resumed = await in_database(resume_waiting)
    unread = await in_database(queue_lost_readings)
    logger.info("documents_resumed", freed=freed, resumed=resumed, unread=unread)


@app.periodic(cron="41 * * * *")
@app.task(name="expire_drawn_pages", queueing_lock="expire_drawn_pages")
async def expire_drawn_pages(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Delete pages that were drawn long ago."""
    count = await in_database(expire_pages, now=timezone.now())
    logger.info("drawn_pages_expired", count=count)


def resume_waiting() -> int:
    """Queue the documents of users whose budget isn't used up; return how many. Sync ORM code."""
    waiting = Document.unscoped.filter(state=DocumentState.WAITING)
    resumed = 0
    for user_id in waiting.order_by().values_list("user_id", flat=True).distinct():
        if not _is_over_budget(user_id):
            own = Document.of(user_id).filter(state=DocumentState.WAITING)
            if not may_recognise(user_id):
                own = own.exclude(reason=PAGES_OF_DAY)
            resumed += update_documents(own, state=DocumentState.QUEUED, reason="", updated_at=timezone.now())
    for user_id in _users_with_queued():
        for number in range(DOCUMENT_QUEUES):
            enqueue_documents(user_id, number)
    has_own_job = IS_UNHEARD | Q(source=DocumentSource.CHAT)
    for document in Document.unscoped.filter(has_own_job, state=DocumentState.QUEUED):
        enqueue_document(document)
    return resumed


def queue_lost_readings() -> int:
    """Queue the readings of documents that were filed and never read whole; return how many. Sync ORM code.

    Their job was lost, or had neither budget nor model for too long. What failed for another reason, and what
    was filed long ago, waits for its person.
    """
    now = timezone.now()
    texts = DocumentText.unscoped.filter(document=OuterRef("pk"), text__regex=r"\S")
    filed = Document.unscoped.filter(
        state=DocumentState.FILED,
        is_withheld=False,
        is_on_hold=False,
        decided_at__gt=now - SEARCHED_LATER,
    ).filter(Exists(texts))
    entries = KnowledgeEntry.unscoped.filter(document=OuterRef("pk"), origin_key=TRANSCRIPT_KEY)
    analyses = _calls_about(CallPurpose.TRANSCRIPT, TRANSCRIPT_KEY)
    newest = analyses.order_by("-id")
    # Its calls are made one after another, those of an older text before them. If the newest was answered
    # long ago, it has run and found nothing; if lately, its result may be lost, and costs nothing to repeat.
    is_unfinished = (
        Q(newest_state=None)
        | Q(newest_state=DocumentCallState.OPEN)
        | Q(newest_answer__gt=now - STORED_WITHIN)
    )
    failed = _calls_about(CallPurpose.FACTS, FACTS_KEY).filter(state=DocumentCallState.FAILED)
    unread: Mapping[FindingKind, QuerySet[Document]] = {
        FACTS_KEY: filed.filter(~Exists(failed), facts_found_at=None),
        TRANSCRIPT_KEY: filed.alias(
            newest_state=Subquery(newest.values("state")[:1]),
            newest_answer=Subquery(newest.values("answered_at")[:1]),
        )
        .filter(is_unfinished, ~Exists(entries), file_type__in=transcript_types())
        .exclude(Exists(analyses.filter(state=DocumentCallState.FAILED))),
    }
    return sum(_queue_lost(documents, kind) for kind, documents in unread.items())


def _calls_about(purpose: CallPurpose, kind: FindingKind) -> QuerySet[DocumentCall]:
    """Return the calls of a reading of the outer query's document."""
    key = Concat(Value(f"{kind}:"), Cast(OuterRef("pk"), TextField()), Value(":"), output_field=TextField())
    return DocumentCall.unscoped.filter(user=OuterRef("user"), purpose=purpose, key__startswith=key)


def _queue_lost(documents: QuerySet[Document], kind: FindingKind) -> int:
    users = documents.order_by().values_list("user_id", flat=True).distinct()
    within_budget = [user_id for user_id in users if not _is_over_budget(user_id)]
    # In any order: those that can't be read now don't keep the others waiting.
    found = list(documents.filter(user_id__in=within_budget).order_by("?")[:READINGS_AT_ONCE])
    for document in found:
        queue_readings(document, kinds=[kind])
    return len(found)


def _users_with_queued() -> Sequence[int]:
    queued = Document.unscoped.filter(state=DocumentState.QUEUED).exclude(source=DocumentSource.CHAT)
    return list(queued.order_by().values_list("user_id", flat=True).distinct())


def _is_over_budget(user_id: int) -> bool:
    daily = settings.SAGE_DAILY_TOKENS
    if daily is None:
        return False
    return read_tokens_of_day(user_id=user_id, now=timezone.now(), limit=daily).tokens >= daily


def _owner(document_id: int) -> int | None:
    return Document.unscoped.filter(id=document_id).values_list("user_id", flat=True).first()


def _queue_again(document_id: int) -> None:
    if document := Document.unscoped.filter(id=document_id).first():
        enqueue_document(document, wait_seconds=UNREACHABLE_SECONDS)


def _services(
    context: JobContext,
    *,
    calls: AbstractAsyncContextManager[None] | None = None,
    leaves_recordings: bool = False,
) -> Services:
    models: ModelConnection = context.additional_context[MODELS]
    return Services(client=models.client, calls=calls or nullcontext(), leaves_recordings=leaves_recordings)
