"""The documents of a user's message. Their ids are in its metadata, in the order of attaching."""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_noop

from coaching.events import AttachedDocument
from coaching.models import Document
from sessions_app.errors import Refused
from sessions_app.history import DOCUMENTS_KEY
from sessions_app.models import Message, MessageRole

MAX_ATTACHED = 10
TOO_MANY = gettext_noop("You can attach up to %(most)s documents to a message. Send the others separately.")
UNREADABLE = gettext_noop("Sage couldn’t read which documents are attached. Attach them again.")
MISSING = gettext_noop("That document is no longer in your library. Remove it and send your message again.")

_SHOWN = ("id", "name", "state", "reason")


def attach(*, user_id: int, session_id: uuid.UUID, given: object) -> Sequence[Document]:
    """Return the documents with the given ids in their order, now of this session too. Raises `Refused`.

    Another user's looks missing.
    """
    ids = _ids_of(given)
    if not ids:
        return ()
    rows = Document.of(user_id).filter(id__in=ids).select_related("text", "image").defer("image__data")
    found = rows.in_bulk()
    if found.keys() != set(ids):
        raise Refused(MISSING)
    Document.of(user_id).filter(id__in=ids).exclude(session_id=session_id).update(session_id=session_id)
    return [found[document_id] for document_id in ids]


def ids_in(metadata: Mapping[str, Any]) -> Sequence[int]:
    """Return the ids of a message's documents from its metadata."""
    ids: Sequence[int] = metadata.get(DOCUMENTS_KEY, ())
    return ids


def as_attached(documents: Iterable[Document]) -> tuple[AttachedDocument, ...]:
    """Return how far documents are, for readers."""
    return tuple(
        AttachedDocument(id=each.pk, name=each.name, state=each.state, reason=each.reason)
        for each in documents
    )


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
    rows = Document.unscoped.filter(id__in=ids, user__coaching_sessions=session_id).values(*_SHOWN)
    return {row["id"]: AttachedDocument(**row) for row in rows}


def read_attached_last(*, user_id: int, session_id: uuid.UUID) -> Sequence[int]:
    """Return the ids of the documents of the user's last message that are still there."""
    said = Message.of(user_id).filter(session_id=session_id, role=MessageRole.USER, turn__is_withdrawn=False)
    last = said.exclude(metadata__has_key="is_hidden").order_by("-number").first()
    ids = ids_in(last.metadata) if last else ()
    there = set(Document.of(user_id).filter(id__in=ids).values_list("id", flat=True)) if ids else ()
    return [each for each in ids if each in there]


def attached_to(message: Message, documents: Mapping[int, AttachedDocument]) -> tuple[AttachedDocument, ...]:
    """Return the documents of one message."""
    return tuple(documents[each] for each in ids_in(message.metadata) if each in documents)


def own_documents(*, user_id: int, ids: Sequence[int]) -> Sequence[AttachedDocument]:
    """Return those of the documents that are the user's, at most as many as a message can have."""
    rows = Document.of(user_id).filter(id__in=ids[:MAX_ATTACHED]).order_by("id")
    return [AttachedDocument(**row) for row in rows.values(*_SHOWN)]


def read_states(session_ids: Collection[uuid.UUID]) -> Sequence[tuple[uuid.UUID, int, str]]:
    """Return session, id and state of the documents of these sessions."""
    rows = Document.unscoped.filter(session_id__in=session_ids).order_by("session_id", "id")
    return list(rows.values_list("session_id", "id", "state"))


def read_moved(session_id: uuid.UUID, ids: Collection[int]) -> Sequence[AttachedDocument]:
    """Read some documents of a session."""
    rows = Document.unscoped.filter(session_id=session_id, id__in=ids).order_by("id")
    return [AttachedDocument(**row) for row in rows.values(*_SHOWN)]


def _ids_of(given: object) -> Sequence[int]:
    if given is None:
        return ()
    if not isinstance(given, list | tuple):
        raise Refused(UNREADABLE)
    ids = list(dict.fromkeys(given))
    if any(type(each) is not int or not 0 < each < 2**63 for each in ids):
        raise Refused(UNREADABLE)
    if len(ids) > MAX_ATTACHED:
        raise Refused(TOO_MANY, most=MAX_ATTACHED)
    return ids
