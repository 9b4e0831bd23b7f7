"""Completes messages that an earlier import stored without a part of their text, and takes it back.

Only where a message is still as that import stored it, and nothing was said in its session since. A session
notes in its metadata which import completed which messages, and each of these how it was before.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from sessions_app.import_additions import in_use
from sessions_app.imports import COMPLETED_KEY, RecordedMessage, message_id_of, shortened
from sessions_app.models import Message, Session

SHORTER_KEY = "imported_shorter"
"""In a message's metadata: how it was before it was completed, as in `RecordedMessage.shorter`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Messages of a session that are stored without a part of their text."""

    session_id: uuid.UUID
    messages: Sequence[RecordedMessage]


@transaction.atomic
def complete_recorded(
    *, user_id: int, import_id: int, completions: Sequence[Completion]
) -> Mapping[uuid.UUID, int]:
    """Complete messages; return how many by session, without the sessions that are in use."""
    wanted = {each.session_id: each for each in completions}
    done = {}
    for session in _unused(user_id, wanted):
        recorded = {message_id_of(each.imported_id): each for each in wanted[session.pk].messages}
        rows = [
            row
            for row in Message.within(session).filter(client_id__in=recorded).order_by("number")
            if row.content == recorded[row.client_id or ""].shorter_content
        ]
        for row in rows:
            whole = recorded[row.client_id or ""]
            row.content, row.metadata = whole.content, {**row.metadata, SHORTER_KEY: whole.shorter}
        Message.within(session).bulk_update(rows, ["content", "metadata"])
        _note(session, import_id, [row.number for row in rows])
        done[session.pk] = len(rows)
    return done


def sessions_completed_by(*, user_id: int, import_id: int) -> QuerySet[Session]:
    """Return the sessions in which an import has completed messages."""
    named = {f"metadata__{COMPLETED_KEY}__has_key": str(import_id)}
    return Session.of(user_id).filter(metadata__has_key="imported_id", **named)


@transaction.atomic
def remove_completions(
    *, user_id: int, import_id: int, session_ids: Collection[uuid.UUID]
) -> Collection[uuid.UUID]:
    """Take back what an import has completed; return the sessions that are in use, where it stays."""
    kept = set(session_ids)
    for session in _unused(user_id, session_ids):
        numbers = session.metadata[COMPLETED_KEY][str(import_id)]
        rows = list(Message.within(session).filter(number__in=numbers, metadata__has_key=SHORTER_KEY))
        for row in rows:
            row.content = shortened(row.content, row.metadata.pop(SHORTER_KEY))
        Message.within(session).bulk_update(rows, ["content", "metadata"])
        del session.metadata[COMPLETED_KEY][str(import_id)]
        session.save(update_fields=["metadata"])
        kept.discard(session.pk)
    return kept


def _unused(user_id: int, session_ids: Collection[uuid.UUID]) -> Sequence[Session]:
    """Lock sessions; return those in which nothing was said since they were imported."""
    locked = Session.of(user_id).filter(pk__in=session_ids).select_for_update(no_key=True).order_by("pk")
    sessions = list(locked.defer("opening", "summary"))
    used = in_use(user_id, session_ids)
    return [
        session
        for session in sessions
        if session.pk not in used and session.last_message_number == session.imported_until
    ]


def _note(session: Session, import_id: int, numbers: Sequence[int]) -> None:
    noted = session.metadata.get(COMPLETED_KEY, {})
    numbers = [*noted.get(str(import_id), ()), *numbers]
    session.metadata[COMPLETED_KEY] = {**noted, str(import_id): numbers}
    session.save(update_fields=["metadata"])
