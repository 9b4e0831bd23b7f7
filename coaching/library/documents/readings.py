"""What follows once a document is filed: its whole text is read for facts, and a transcript is analysed.

Each is a job, one at a time for a document, that a person can also ask for anew.
"""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from coaching.job_queue.documents import enqueue_analysis
from coaching.job_queue.queue import is_queued, is_scheduled
from coaching.library.documents.calls import forget_failed
from coaching.library.documents.findings import (
    FACTS_KEY,
    NOT_SEARCHED,
    SEARCHED_STATES,
    TRANSCRIPT_KEY,
    FindingKind,
    call_prefix,
    job_key,
)
from coaching.library.documents.reasons import STILL_READING
from coaching.models import (
    UNFINISHED_STATES,
    Document,
    DocumentCall,
    DocumentCallState,
    DocumentSource,
    DocumentText,
    KnowledgeEntry,
    Reference,
)
from sessions_app.errors import Refused

TRANSCRIPT_TAG = "transcript"
"""The tag of the types whose documents are analysed as transcripts."""
KINDS = (FACTS_KEY, TRANSCRIPT_KEY)
IS_WITHHELD = gettext_noop("This document is never sent to the AI model. Allow it first.")
WITHOUT_TEXT = gettext_noop("Sage found no text in this document.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How far a reading of a whole text is: under way, has run before, or why there was no answer.

    One that is under way `is_waiting` if it goes on at a later time, for the budget or the model.
    """

    kind: FindingKind
    is_under_way: bool
    is_waiting: bool = False
    has_run: bool = False
    reason: str = ""


def queue_readings(document: Document, *, kinds: Collection[FindingKind] = KINDS) -> None:
    """Queue what follows a document's filing, as far as it hasn't been done. Sync ORM code.

    What is on hold is read only if its person asks for it.
    """
    if document.is_withheld or document.is_on_hold or not has_text(document):
        return
    if FACTS_KEY in kinds and document.facts_found_at is None:
        _queue(document, FACTS_KEY)
    if TRANSCRIPT_KEY in kinds and is_transcript(document) and not _is_analysed(document):
        _queue(document, TRANSCRIPT_KEY)


def read_whole_again(*, user_id: int, document_id: int, kind: FindingKind) -> None:
    """Queue a new reading with new calls, unless one is under way; the document isn't on hold then.

    Raises `Refused`. One that failed goes on instead: only what failed is asked again.
    """
    document = Document.of(user_id).get(id=document_id)
    if document.state in UNFINISHED_STATES:
        raise Refused(STILL_READING)
    if document.is_withheld:
        raise Refused(IS_WITHHELD)
    if not has_text(document):
        raise Refused(WITHOUT_TEXT)
    if kind == FACTS_KEY and document.state not in SEARCHED_STATES:
        raise Refused(NOT_SEARCHED)
    Document.of(user_id).filter(id=document_id, state__in=SEARCHED_STATES).update(is_on_hold=False)
    is_unfinished = kind == FACTS_KEY and document.facts_found_at is None
    if is_unfinished:
        forget_failed(user_id=user_id, keys=call_prefix(document, kind))
    _queue(document, kind, run="" if is_unfinished else secrets.token_hex(4), is_bulk=False)


def readings_of(document: Document) -> Sequence[Reading]:
    """Return how far the readings are that a document can have. Sync ORM code."""
    if not has_text(document):
        return []
    kinds = [FACTS_KEY, *([TRANSCRIPT_KEY] if is_transcript(document) else [])]
    return [_reading(document, kind) for kind in kinds]


def is_transcript(document: Document) -> bool:
    return bool(document.file_type) and transcript_types().filter(file_type=document.file_type).exists()


def transcript_types() -> QuerySet[Reference, str]:
    """Return the types whose documents are analysed."""
    return Reference.objects.filter(tags__contains=[TRANSCRIPT_TAG]).values_list("file_type", flat=True)


def has_text(document: Document) -> bool:
    return DocumentText.within(document).filter(text__regex=r"\S").exists()


def _queue(document: Document, kind: FindingKind, *, run: str = "", is_bulk: bool | None = None) -> None:
    enqueue_analysis(
        document_id=document.pk,
        kind=kind,
        session_id=None,
        key=job_key(document.pk, kind),
        run=run,
        is_bulk=document.source != DocumentSource.CHAT if is_bulk is None else is_bulk,
    )


def _is_analysed(document: Document) -> bool:
    entries = KnowledgeEntry.of(document.user_id).filter(document=document, origin_key=TRANSCRIPT_KEY)
    return entries.exists()


def _reading(document: Document, kind: FindingKind) -> Reading:
    key = job_key(document.pk, kind)
    if is_queued(key):
        return Reading(kind=kind, is_under_way=True, is_waiting=is_scheduled(key))
    calls = DocumentCall.of(document.user_id).filter(key__startswith=call_prefix(document, kind) or "-")
    newest = calls.order_by("-id").values_list("state", "error").first()
    state, error = newest or ("", "")
    return Reading(
        kind=kind,
        is_under_way=False,
        has_run=state == DocumentCallState.ANSWERED,
        reason=error if state == DocumentCallState.FAILED else "",
    )
