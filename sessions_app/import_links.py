"""Links documents to the messages of imported sessions that named them, and takes it back.

A document's id stands in the metadata of its message, as if it had been attached here. Only where nothing was
said since the import; what is shown and sent of a session that was continued doesn't change.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from sessions_app.history import DOCUMENTS_KEY
from sessions_app.import_additions import unused_sessions
from sessions_app.import_metadata import BRANCH_KEY, COMPLETED_KEY, IMPORT_KEY, ORIGIN_KEY
from sessions_app.models import Message, Session
from sessions_app.recorded import message_id_of

MAX_LINKED = 10
"""Documents of a message, as many as one may have that is written here: editing it sends them again."""
LINKED_KEY = "linked_by"
"""In a message's metadata: by the key of a later import, the documents that it linked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What became of a document's messages.

    `count` are messages of earlier imports that were linked now, `is_refused` says that one was in a session
    that went on here, `is_full` that one has as many documents as it can have.
    """

    count: int = 0
    is_refused: bool = False
    is_full: bool = False


def sessions_named(user_id: int, conversations: Collection[str]) -> QuerySet[Session]:
    """Return the sessions of some conversations, with their other branches."""
    branches = Q(**{f"metadata__{ORIGIN_KEY}__{BRANCH_KEY}__in": list(conversations)})
    named = Q(metadata__imported_id__in=list(conversations))
    return Session.of(user_id).filter(branches | named, metadata__has_key="imported_id")


def are_deleted(user_id: int, conversations: Collection[str]) -> bool:
    """Return whether all of some conversations were just deleted, and no branch of them is left."""
    gone = Session.deleted_of(user_id).filter(
        metadata__has_key="imported_id", metadata__imported_id__in=list(conversations)
    )
    are_gone = bool(conversations) and gone.count() == len(set(conversations))
    return are_gone and not sessions_named(user_id, conversations).exists()


def first_unused(user_id: int, conversations: Collection[str]) -> uuid.UUID | None:
    """Return the first of some conversations' sessions in which nothing was said since, if there is one."""
    sessions = sessions_named(user_id, conversations)
    ids = sessions.order_by("started_at", "pk").values_list("pk", flat=True)
    with transaction.atomic():
        unused = {session.pk for session in unused_sessions(user_id, list(ids))}
    return next((pk for pk in ids if pk in unused), None)


@transaction.atomic
def link(
    *, user_id: int, import_id: int | None, document_id: int | None, messages: Sequence[tuple[str, str]]
) -> Linked:
    """Link a document to messages, given by ids of conversation and message. Without an import only count."""
    keys = {message_id_of(message) for _, message in messages if message}
    sessions = sessions_named(user_id, {conversation for conversation, _ in messages})
    named = Message.of(user_id).filter(session__in=sessions, client_id__in=keys)
    # Who changes a message's metadata has locked its session: they are read under this lock.
    unused = {
        each.pk: each for each in unused_sessions(user_id, set(named.values_list("session", flat=True)))
    }
    rows = list(named.order_by("session", "number"))
    count, is_refused, is_full = 0, False, False
    for row in rows:
        held, session = _documents_of(row), unused.get(row.session_id)
        if document_id in held:
            continue
        if session is None or len(held) >= MAX_LINKED:
            is_refused, is_full = is_refused or session is None, is_full or session is not None
            continue
        is_earlier = session.metadata.get(IMPORT_KEY) != import_id
        count += is_earlier
        if import_id is not None and document_id is not None:
            _link(row, session, import_id, document_id, is_earlier=is_earlier)
    return Linked(count=count, is_refused=is_refused, is_full=is_full)


def unlink(session: Session, import_id: int) -> None:
    """Take back what an import has linked in a session of another. The caller has locked it."""
    linked = Message.within(session).filter(**{f"metadata__{LINKED_KEY}__has_key": str(import_id)})
    for row in linked:
        gone = row.metadata[LINKED_KEY].pop(str(import_id))
        row.metadata[DOCUMENTS_KEY] = [each for each in _documents_of(row) if each not in gone]
        for key in (LINKED_KEY, DOCUMENTS_KEY):
            if not row.metadata[key]:
                del row.metadata[key]
        row.save(update_fields=["metadata"])


def _documents_of(row: Message) -> list[int]:
    return list(row.metadata.get(DOCUMENTS_KEY, ()))


def _link(row: Message, session: Session, import_id: int, document_id: int, *, is_earlier: bool) -> None:
    row.metadata[DOCUMENTS_KEY] = [*_documents_of(row), document_id]
    if is_earlier:
        linked = row.metadata.setdefault(LINKED_KEY, {})
        linked.setdefault(str(import_id), []).append(document_id)
        completed = session.metadata.setdefault(COMPLETED_KEY, {})
        completed[str(import_id)] = completed.get(str(import_id), 0) + 1
        session.save(update_fields=["metadata"])
    row.save(update_fields=["metadata"])
