"""What a conversation has found in a document: asked for as a job, and read once it is there."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext_noop

from coaching.job_queue.documents import enqueue_analysis, enqueue_document
from coaching.job_queue.names import ANALYSIS_JOB
from coaching.job_queue.queue import is_queued
from coaching.library.documents.reasons import reason_for_models
from coaching.models import (
    UNFINISHED_STATES,
    ActionItem,
    ActionState,
    Document,
    DocumentCall,
    DocumentCallState,
    DocumentState,
    DocumentText,
    KnowledgeEntry,
)

FindingKind = Literal["summary", "transcript", "facts"]
SUMMARY_KEY: FindingKind = "summary"
TRANSCRIPT_KEY: FindingKind = "transcript"
FACTS_KEY: FindingKind = "facts"

SEARCHED_STATES = (DocumentState.FILED, DocumentState.REVIEW)
"""Those of documents whose texts are searched for facts."""

READING_SECONDS, BUDGET_SECONDS = 2, 600
"""How long the job waits, at first and at most, before it looks again whether its document has a text.

The longest is also how long it waits for the budget of the next day.
"""
MAX_SECONDS = 24 * 3_600
"""How long it waits in sum: by then the user has a new daily budget."""
NO_TEXT = "There is no text in this document."
STILL_UNREAD = "This document hasn’t been read yet. Try again later."
UNFINISHED = "This wasn’t finished: the day’s budget was used up, or it was interrupted. Try again later."
NOT_SEARCHED = gettext_noop("Sage looks for facts only in documents that are filed or to be reviewed.")
NOTHING = "Nothing was found that the document's own text bears out."


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How far it is: `is_ready` with the entry and its next steps or the facts, or why there are none.

    `reading_note` says what of the document isn't in its text.
    """

    is_ready: bool
    reading_note: str = ""
    entry: KnowledgeEntry | None = None
    actions: Sequence[ActionItem] = ()
    facts: Sequence[Mapping[str, Any]] = ()
    reason: str = ""

    @property
    def has_something(self) -> bool:
        return self.entry is not None or bool(self.facts)


IN_PROGRESS = Finding(is_ready=False)


def begin_finding(
    *, user_id: int, document_id: int, kind: FindingKind, session_id: uuid.UUID | None
) -> tuple[Finding, bool]:
    """Return what was found in the text as it is, or queue the job that looks for it, and whether it did.

    The job waits for a document that is still being read. Raises `Document.DoesNotExist`.
    """
    document = Document.of(user_id).get(id=document_id, is_withheld=False)
    prefix = call_prefix(document, kind)
    if not prefix and document.state not in UNFINISHED_STATES:
        return _unread(document), False
    if kind == FACTS_KEY and document.state not in (*SEARCHED_STATES, *UNFINISHED_STATES):
        is_unread = document.state == DocumentState.UNREAD
        return Finding(is_ready=True, reason=document.reason if is_unread else NOT_SEARCHED), False
    key = job_key(document_id, kind)
    if prefix:
        found = _found(document, kind)
        calls = DocumentCall.of(user_id).filter(key__startswith=prefix)
        is_answered = calls.exists() and not calls.exclude(state=DocumentCallState.ANSWERED).exists()
        if found is not None and (is_answered or kind == FACTS_KEY) and not is_queued(key):
            return found, False
    enqueue_analysis(document_id=document_id, kind=kind, session_id=session_id, key=key)
    return IN_PROGRESS, True


def read_finding(*, user_id: int, document_id: int, kind: FindingKind) -> Finding:
    """Return how far it is, after `begin_finding`. Raises `Document.DoesNotExist`."""
    document = Document.of(user_id).get(id=document_id, is_withheld=False)
    if is_queued(job_key(document_id, kind)):
        return IN_PROGRESS
    if found := _found(document, kind):
        return found
    prefix = call_prefix(document, kind)
    if not prefix:
        return _unread(document)
    calls = DocumentCall.of(user_id).filter(key__startswith=prefix).exclude(state=DocumentCallState.ANSWERED)
    left = calls.values_list("state", "error").order_by("state").first()  # a failed one before an open one
    if left is None:
        return Finding(is_ready=True, reason=NOTHING)
    state, error = left
    return Finding(is_ready=True, reason=error if state == DocumentCallState.FAILED else UNFINISHED)


def call_prefix(document: Document, kind: FindingKind) -> str:
    """Return how the keys of calls about the document's present text begin; empty without a text."""
    text = DocumentText.within(document).values_list("text", flat=True).first()
    if not text or not text.strip():
        return ""
    return f"{kind}:{document.pk}:{digest_of(text)}:"


def digest_of(text: str) -> str:
    """Name a text in the keys of calls about it."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def wait_for_text(
    *,
    document_id: int,
    kind: FindingKind,
    session_id: uuid.UUID | None,
    waited_seconds: int,
    **how: Any,
) -> bool:
    """Return whether the document is still being read and has no text yet: then the job is queued once more.

    Each wait is longer than the one before, and after `MAX_SECONDS` there is none. A document whose own job
    was lost is queued again. `how` are further arguments of the job.
    """
    document = Document.unscoped.filter(id=document_id, state__in=UNFINISHED_STATES).first()
    if document is None or call_prefix(document, kind):
        return False
    if waited_seconds < MAX_SECONDS and document.state == DocumentState.QUEUED:
        enqueue_document(document)
    is_over_budget = document.state == DocumentState.WAITING
    longer = min(max(READING_SECONDS, waited_seconds // 4), BUDGET_SECONDS)
    wait_again(
        document_id=document_id,
        kind=kind,
        session_id=session_id,
        wait_seconds=BUDGET_SECONDS if is_over_budget else longer,
        waited_seconds=waited_seconds,
        **how,
    )
    return True


def wait_again(
    *,
    document_id: int,
    kind: FindingKind,
    session_id: uuid.UUID | None,
    waited_seconds: int,
    wait_seconds: int = BUDGET_SECONDS,
    **how: Any,
) -> None:
    """Queue the job once more, for a text or for the budget of the next day; after `MAX_SECONDS` no more."""
    if waited_seconds >= MAX_SECONDS:
        return
    enqueue_analysis(
        document_id=document_id,
        kind=kind,
        session_id=session_id,
        key=job_key(document_id, kind),
        wait_seconds=wait_seconds,
        waited_seconds=waited_seconds + wait_seconds,
        **how,
    )


def job_key(document_id: int, kind: FindingKind) -> str:
    """Return the key of the one job at a time for a document."""
    return f"{ANALYSIS_JOB}:{kind}:{document_id}"


def finding_values(finding: Finding) -> Mapping[str, Any]:
    """Return what was found, in plain values."""
    entry = finding.entry
    noted = {"reading_note": finding.reading_note} if finding.reading_note else {}
    if finding.facts:
        return {"facts": list(finding.facts), **noted}
    if entry is None:
        return {"reason": finding.reason}
    return {
        "entry_id": entry.pk,
        "state": entry.state,
        "title": entry.title,
        "content": entry.content,
        "action_items": [_action_values(item) for item in finding.actions],
        **noted,
    }


def _unread(document: Document) -> Finding:
    is_unfinished = document.state in UNFINISHED_STATES
    return Finding(
        is_ready=True,
        reason=reason_for_models(document.reason) or (STILL_UNREAD if is_unfinished else NO_TEXT),
    )


def _action_values(item: ActionItem) -> Mapping[str, Any]:
    values = {
        "title": item.title,
        "state": item.state,
        "owner": item.owner,
        "due_date": item.due_date.isoformat() if item.due_date else "",
        "due_words": item.due_words,
        "quote": item.quote,
        "page": item.page,
    }
    return {name: value for name, value in values.items() if value}


def _found(document: Document, kind: FindingKind) -> Finding | None:
    note = reason_for_models(document.reading_note)
    if kind == FACTS_KEY:
        if document.facts_found_at is None:
            return None
        reason = "" if document.key_facts else NOTHING
        return Finding(is_ready=True, reading_note=note, facts=document.key_facts, reason=reason)
    entries = KnowledgeEntry.of(document.user_id).filter(document=document, origin_key=kind)
    entry = entries.first()
    if entry is None:
        return None
    items = ActionItem.of(document.user_id).filter(document=document, origin_key__startswith=f"{kind}:")
    return Finding(
        is_ready=True,
        reading_note=note,
        entry=entry,
        actions=list(items.exclude(state=ActionState.DISMISSED).order_by("id")),
    )
