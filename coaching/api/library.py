"""Documents, summaries of conversations, and the search, for programs.

A summary of a conversation about a private file, such as the safety plan, isn't given to any.

A document that is never sent to the AI model isn't given to programs either: they may hand on what they get.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from django.http import HttpRequest
from django.utils import timezone

from coaching.api.requests import caller_of, page
from coaching.api.values import (
    Document,
    DocumentWithText,
    Found,
    Hit,
    Id,
    Limit,
    Offset,
    Page,
    Question,
    Source,
    Summary,
)
from coaching.library.rows.documents import document_with_text, documents_of
from coaching.models import ActionItem, DocumentState, RecallSource
from coaching.models import Document as DocumentRow
from coaching.recall.excerpts import marked
from coaching.recall.hits import Hit as RecallHit
from coaching.recall.hits import Passage
from coaching.recall.passages import read_passages
from coaching.recall.search import Bounds, search
from coaching.tools.private_calls import without_private
from coaching.views.hits import HitRow, rows_of, searches
from sessions_app.models import USED, Session, TitleSource

HITS = 30
FOUND = (
    RecallSource.FILE,
    RecallSource.DOCUMENT,
    RecallSource.KNOWLEDGE,
    RecallSource.STEP,
    RecallSource.SUMMARY,
)
"""What a program's search finds: no message, no result of a tool, no brief, nothing that is withheld.

Of a next step it finds the title and the description. What the person said of it is indexed, too: its quote,
and what came of it.
"""


def find(request: HttpRequest, q: Question) -> Found:
    """Search files, documents, knowledge, next steps and summaries; the best come first."""
    caller = caller_of(request)
    searches.count(caller.user_id)
    hits = search(q, user_id=caller.user_id, now=timezone.now(), limit=HITS, bounds=Bounds(sources=FOUND))
    has_score = any(hit.score for hit in hits)
    words = frozenset(re.findall(r"\w+", q.lower())) if has_score else frozenset[str]()
    read = read_passages(_without_private(hits, caller.user_id), user_id=caller.user_id)
    passages = [each for each in _without_said(read, caller.user_id) if _is_found(each, words)]
    rows = rows_of(caller.user_id, q, passages)
    return Found(items=[_hit(request, passage, row) for passage, row in zip(passages, rows, strict=True)])


def list_documents(
    request: HttpRequest, state: DocumentState | None = None, limit: Limit = 50, offset: Offset = 0
) -> Page[Document]:
    """List documents, the newest first; in one state, if it is named."""
    rows = documents_of(user_id=caller_of(request).user_id, state=state).filter(is_withheld=False)
    shown = rows[offset : offset + limit]
    return Page(items=[_document(request, row) for row in shown], total=rows.count())


def get_document(request: HttpRequest, document_id: Id) -> DocumentWithText:
    """Return a document with its text and what was found in it."""
    row = document_with_text(user_id=caller_of(request).user_id, document_id=document_id)
    if row.is_withheld:
        raise DocumentRow.DoesNotExist
    stored = getattr(row, "text", None)
    facts = [fact for fact in row.key_facts if isinstance(fact, dict)]
    return DocumentWithText(
        **_document(request, row).model_dump(), text=stored.text if stored else "", facts=facts
    )


def list_summaries(request: HttpRequest, limit: Limit = 50, offset: Offset = 0) -> Page[Summary]:
    """List what conversations were about, the last active first. Titles in the person's words are empty."""
    user_id = caller_of(request).user_id
    used = Session.of(user_id).filter(USED, archived_at=None).exclude(summary="")
    sessions = without_private(used, user_id=user_id)
    rows = sessions.order_by("-last_active_at", "-id").defer("opening")[offset : offset + limit]
    return Page(items=[_summary(session) for session in rows], total=sessions.count())


def _without_private(hits: Sequence[RecallHit], user_id: int) -> list[RecallHit]:
    """Return hits without summaries of conversations about a private file."""
    found = {hit.session_id for hit in hits if hit.source == RecallSource.SUMMARY and hit.session_id}
    sessions = without_private(Session.of(user_id).filter(pk__in=found), user_id=user_id)
    shown = set(sessions.values_list("pk", flat=True)) if found else set()
    return [hit for hit in hits if hit.source != RecallSource.SUMMARY or hit.session_id in shown]


def _without_said(passages: Sequence[Passage], user_id: int) -> list[Passage]:
    """Return passages of which those of next steps have no text but title and description."""
    found = {passage.hit.file_id or 0 for passage in passages if _is_step(passage)}
    steps = ActionItem.of(user_id).filter(pk__in=found) if found else ActionItem.of(user_id).none()
    texts = {step.pk: "\n".join(filter(None, (step.title, step.description))) for step in steps}
    return [
        replace(passage, text=texts.get(passage.hit.file_id or 0, "")) if _is_step(passage) else passage
        for passage in passages
    ]


def _is_step(passage: Passage) -> bool:
    return passage.hit.source == RecallSource.STEP


def _is_found(passage: Passage, words: Collection[str]) -> bool:
    """Return whether a program may know that a question of these words found this.

    A step is found by the text that is given of it; a question without words finds the newest.
    """
    parts = marked(f"{passage.title}\n{passage.text}", words)
    return not _is_step(passage) or not words or any(part.is_match for part in parts)


def _summary(session: Session) -> Summary:
    has_title = session.title_source in (TitleSource.MODEL, TitleSource.USER)
    return Summary(
        kind=session.kind,
        title=session.title if has_title else "",
        summary=session.summary,
        last_active_at=session.last_active_at,
    )


def _hit(request: HttpRequest, passage: Passage, row: HitRow) -> Hit:
    is_summary = passage.hit.source == RecallSource.SUMMARY  # its title may be words of a message
    return Hit(
        source=cast("Source", passage.hit.source),
        title="" if is_summary else row.title,
        excerpt="".join(part.text for part in row.parts),
        moment=row.moment,
        page=request.build_absolute_uri(row.address),
    )


def _document(request: HttpRequest, row: DocumentRow) -> Document:
    return Document(
        id=row.pk,
        name=row.name,
        state=DocumentState(row.state),
        type=row.file_type,
        folder=row.folder,
        client=row.client.name,
        project=row.project.name if row.project else "",
        summary=row.summary,
        created_at=row.created_at,
        page=page(request, "library_document", row.pk),
    )
