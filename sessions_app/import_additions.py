"""Appends what a newer export has to sessions that an older one has brought, and takes it back.

Only where nothing was said since the import: then the session is as its newer recording, message by message.
A session notes in its metadata which import appended which messages.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max, QuerySet

from sessions_app.briefs import withdraw_briefs
from sessions_app.import_metadata import ADDED_KEY, CHOSEN_KEY
from sessions_app.imports import continuing
from sessions_app.models import OPEN_TURN_STATUSES, Message, MessageRole, Session, SessionStatus, Turn
from sessions_app.recorded import RecordedMessage, message_row, rows_of
from sessions_app.summaries import withdraw_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """Messages to append to a session after its message `after`, and the status of its newer recording."""

    session_id: uuid.UUID
    after: int
    status: SessionStatus
    messages: Sequence[RecordedMessage]


@transaction.atomic
def append_recorded(*, user_id: int, import_id: int, additions: Sequence[Addition]) -> Collection[uuid.UUID]:
    """Append messages to sessions in which nothing was said since; return the sessions that got them."""
    wanted = {each.session_id: each for each in additions}
    locked = Session.of(user_id).filter(pk__in=wanted).select_for_update(no_key=True).order_by("pk")
    sessions = list(locked.defer("opening", "summary"))
    used = in_use(user_id, wanted)
    done = []
    for session in sessions:
        each = wanted[session.pk]
        if session.pk not in used and each.after == session.imported_until == session.last_message_number:
            _append(session, import_id, each)
            done.append(session.pk)
    return done


def sessions_added_to(*, user_id: int, import_id: int) -> QuerySet[Session]:
    """Return the sessions that an import has appended messages to, also those that were just deleted."""
    named = {f"metadata__{ADDED_KEY}__has_key": str(import_id)}
    return Session.stored_of(user_id).filter(metadata__has_key="imported_id", **named)


@transaction.atomic
def remove_additions(
    *, user_id: int, import_id: int, session_ids: Collection[uuid.UUID]
) -> Collection[uuid.UUID]:
    """Remove what an import has appended; return the sessions that stay, since something was said after it.

    A session that ended with it stays ended: a status never moves back.
    """
    named = Session.stored_of(user_id).filter(pk__in=session_ids)
    locked = named.select_for_update(no_key=True).order_by("pk")
    sessions = list(locked.defer("opening", "summary"))
    used = in_use(user_id, session_ids)
    kept = []
    for session in sessions:
        first, last = session.metadata[ADDED_KEY][str(import_id)]
        if session.last_message_number > last or session.pk in used:
            kept.append(session.pk)
        else:
            _cut(session, import_id, first)
    return kept


def unused_sessions(
    user_id: int, session_ids: Collection[uuid.UUID], *, with_deleted: bool = False
) -> Sequence[Session]:
    """Lock sessions; return those in which nothing was said since they were imported."""
    sessions_of = Session.stored_of if with_deleted else Session.of
    locked = sessions_of(user_id).filter(pk__in=session_ids).select_for_update(no_key=True).order_by("pk")
    sessions = list(locked.defer("opening", "summary"))
    used = in_use(user_id, session_ids)
    return [
        session
        for session in sessions
        if session.pk not in used and session.last_message_number == session.imported_until
    ]


def in_use(user_id: int, session_ids: Collection[uuid.UUID]) -> Collection[uuid.UUID]:
    """Return the sessions that another continues, whose turn is open, or in which an answer was chosen."""
    chosen = Session.stored_of(user_id).filter(pk__in=session_ids, metadata__has_key=CHOSEN_KEY)
    others = continuing(user_id).filter(continues__in=session_ids)
    turns = Turn.of(user_id).filter(session__in=session_ids, status__in=OPEN_TURN_STATUSES)
    return {
        *others.values_list("continues_id", flat=True),
        *turns.values_list("session_id", flat=True),
        *chosen.values_list("pk", flat=True),
    }


def _append(session: Session, import_id: int, added: Addition) -> None:
    first, messages = added.after + 1, list(added.messages)
    last = max(message.created_at for message in messages)
    _append_answer(session, first, messages)
    rows = list(rows_of(session, messages, first=first + len(added.messages) - len(messages)))
    Turn.of(session.user_id).bulk_create([turn for turn, _ in rows])
    Message.of(session.user_id).bulk_create([message for _, said in rows for message in said])
    until = added.after + len(added.messages)
    session.last_message_number = session.imported_until = until
    session.last_active_at = max(session.last_active_at, last)
    if session.status == SessionStatus.ACTIVE:
        session.status = added.status
    if session.status != SessionStatus.ACTIVE:
        session.ended_at = max(session.ended_at or last, last)
    session.metadata[ADDED_KEY] = {
        **session.metadata.get(ADDED_KEY, {}),
        str(import_id): [first, until],
    }
    _save(session)


def _append_answer(session: Session, number: int, messages: list[RecordedMessage]) -> None:
    """Take the answer to the last stored message out of `messages` and store it in that message's turn."""
    if messages[0].role != MessageRole.ASSISTANT:
        return
    shown = Message.within(session).filter(number__lt=number, turn__is_withdrawn=False)
    asked = shown.select_related("turn").latest("number")
    if asked.role == MessageRole.USER:
        answer = messages.pop(0)
        message_row(asked.turn, number, answer).save(force_insert=True)
        asked.turn.ended_at = max(asked.turn.ended_at or answer.created_at, answer.created_at)
        asked.turn.save(update_fields=["ended_at"])


def _cut(session: Session, import_id: int, first: int) -> None:
    """Remove the messages from `first` on."""
    withdraw_briefs(session, since=first)
    withdraw_summary(session, since=first)
    added = Message.within(session).filter(number__gte=first)
    turns = list(added.values_list("turn_id", flat=True))
    added.delete()
    Turn.within(session).filter(pk__in=turns, messages=None).delete()
    said = Message.within(session).filter(turn__is_withdrawn=False)
    last = said.select_related("turn").latest("number")
    last.turn.ended_at = said.filter(turn=last.turn).aggregate(last=Max("created_at"))["last"]
    last.turn.save(update_fields=["ended_at"])
    session.last_message_number = session.imported_until = first - 1
    session.last_active_at = said.aggregate(last=Max("created_at"))["last"]
    if session.status != SessionStatus.ACTIVE:
        session.ended_at = session.last_active_at
    del session.metadata[ADDED_KEY][str(import_id)]
    _save(session)


def _save(session: Session) -> None:
    session.save(
        update_fields=[
            "last_message_number", "imported_until", "last_active_at", "status", "ended_at", "metadata",
        ]
    )  # fmt: skip
