"""Reads the documents of messages. Their ids are in a message's metadata, in the order of attaching."""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from coaching.events import AttachedDocument
from coaching.library.rows.reading_notes import is_read_in_part
from coaching.models import Document, DocumentState
from sessions_app.history import DOCUMENTS_KEY
from sessions_app.models import Message, MessageRole

MAX_ATTACHED = 10

_SHOWN = ("id", "name", "state", "reason", "is_on_hold")


def ids_in(metadata: Mapping[str, Any]) -> Sequence[int]:
    """Return the ids of a message's documents from its metadata."""
    ids: Sequence[int] = metadata.get(DOCUMENTS_KEY, ())
    return ids


def read_attached(messages: Iterable[Message]) -> Mapping[int, AttachedDocument]:
    """Read the documents of messages of one session by id; those that were deleted are missing.

    Nothing is read where no message has any.
    """
    ids: set[int] = set()
    session_id: uuid.UUID | None = None
    for message in messages:
        ids.update(ids_in(message.metadata))
        session_id = message.session_id
    if not ids:
        return {}
    rows = Document.unscoped.filter(id__in=ids, user__coaching_sessions=session_id)
    return {each.id: each for each in _shown(rows)}


def read_attached_last(*, user_id: int, session_id: uuid.UUID) -> Sequence[int]:
    """Return the ids of the documents of the user's last message that are still there."""
    said = Message.of(user_id).filter(session_id=session_id, role=MessageRole.USER, turn__is_withdrawn=False)
    last = said.exclude(metadata__has_key="is_hidden").order_by("-number").first()
    ids = ids_in(last.metadata) if last else ()
    there = set(Document.of(user_id).filter(id__in=ids).values_list("id", flat=True)) if ids else ()
    return [each for each in ids if each in there]


def attached_to(message: Message, documents: Mapping[int, AttachedDocument]) -> tuple[AttachedDocument, ...]:
    return tuple(documents[each] for each in ids_in(message.metadata) if each in documents)


def own_documents(*, user_id: int, ids: Sequence[int]) -> Sequence[AttachedDocument]:
    """Return those of the documents that are the user's, at most as many as a message can have."""
    rows = Document.of(user_id).filter(id__in=ids[:MAX_ATTACHED]).order_by("id")
    return _shown(rows)


def read_moved(session_id: uuid.UUID, ids: Collection[int]) -> Sequence[AttachedDocument]:
    """Read some documents of a session."""
    rows = Document.unscoped.filter(session_id=session_id, id__in=ids).order_by("id")
    return _shown(rows)


def _has_picture(row: Mapping[str, Any]) -> bool:
    """Return whether a document has a picture that its person may see."""
    is_hidden = row["is_withheld"] or row["state"] in (DocumentState.FAILED, DocumentState.REFUSED)
    return row["image"] is not None and not is_hidden


def _shown(rows: QuerySet[Document]) -> Sequence[AttachedDocument]:
    return [
        AttachedDocument(
            **{name: row[name] for name in _SHOWN},
            is_read_in_part=is_read_in_part(row["reading_note"]),
            has_picture=_has_picture(row),
        )
        for row in rows.values(*_SHOWN, "reading_note", "is_withheld", "image")
    ]
