"""Adds other answers to messages of imported sessions, and takes them back.

They stand after all messages, as answers that weren't chosen, so nothing that is shown or sent changes. What
an import brings to sessions of its own is stored with them.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence

from django.db import transaction
from django.db.models import Max, Q

from sessions_app.import_additions import unused_sessions
from sessions_app.import_metadata import ANSWERED_KEY, BROUGHT_BY_KEY, COMPLETED_BY_KEY, SHORTER_KEY
from sessions_app.models import Message, Session, Turn
from sessions_app.recorded import RecordedMessage, answer_rows, answered_among, message_id_of


@transaction.atomic
def add_answers(
    *, user_id: int, import_id: int, answers: Mapping[uuid.UUID, Sequence[RecordedMessage]]
) -> Mapping[uuid.UUID, int]:
    """Add answers to sessions in which nothing was said since; return how many each of these got."""
    done = {}
    for session in unused_sessions(user_id, answers.keys()):
        rows = _add(session, import_id, answers[session.pk])
        done[session.pk] = len(rows)
        if rows:
            noted = session.metadata.get(ANSWERED_KEY, {})
            count = noted.get(str(import_id), 0) + len(rows)
            session.metadata[ANSWERED_KEY] = {**noted, str(import_id): count}
            session.save(update_fields=["metadata", "last_message_number", "imported_until"])
    return done


def remove_answers(session: Session, import_id: int) -> None:
    """Remove the answers that an import has brought; none was chosen, or the session would be in use.

    The caller has locked the session and saves its metadata and numbers.
    """
    is_brought = Q(metadata__contains={COMPLETED_BY_KEY: import_id}) & ~Q(metadata__has_key=SHORTER_KEY)
    is_completed = Q(metadata__contains={BROUGHT_BY_KEY: import_id})
    brought = Message.within(session).filter(is_brought | is_completed)
    turns = Turn.within(session).filter(is_withdrawn=True, message_number__isnull=False, messages__in=brought)
    ids, asked = list[uuid.UUID](), set[int]()
    for turn_id, number in turns.values_list("id", "message_number"):
        ids.append(turn_id)
        asked.add(number or 0)
    Turn.within(session).filter(id__in=ids).delete()
    _forget_sharing(session, asked)
    last = Message.within(session).aggregate(last=Max("number"))["last"] or 0
    session.last_message_number = session.imported_until = last


def _add(session: Session, import_id: int, recorded: Sequence[RecordedMessage]) -> Sequence[Message]:
    shown = Message.within(session).filter(turn__is_withdrawn=False).select_related("turn")
    asked = answered_among(list(shown.order_by("number")))
    keys = {message_id_of(each.imported_id) for each in recorded}
    known = set(Message.within(session).filter(client_id__in=keys).values_list("client_id", flat=True))
    new = [each for each in recorded if message_id_of(each.imported_id) not in known]
    rows = answer_rows(session, new, asked=asked)
    for row in rows:
        row.metadata[COMPLETED_BY_KEY] = import_id
    numbers = {row.turn.message_number for row in rows}
    shared = [message.turn for message in asked.values() if message.number in numbers]
    Turn.within(session).bulk_update(shared, ["message_number"])
    Turn.of(session.user_id).bulk_create([row.turn for row in rows])
    Message.of(session.user_id).bulk_create(rows)
    return rows


def _forget_sharing(session: Session, numbers: Collection[int]) -> None:
    """Note that messages have one answer, where no other is left."""
    turns = Turn.within(session)
    others = turns.filter(message_number__in=numbers, is_withdrawn=True)
    left = set(others.values_list("message_number", flat=True))
    turns.filter(message_number__in=set(numbers) - left).update(message_number=None)
