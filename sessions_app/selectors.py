"""Reads. `accessible_session` is the only door to a session: another's looks like a missing one."""

import uuid
from collections.abc import Sequence

from django.db import connection

from sessions_app.models import OPEN_TURN_STATUSES, Message, Session, SessionStatus, Turn
from sessions_app.queries import Columns, Query, run_query

_NO_NUMBER = 2**31 - 1
"""No message has it."""

# Written out: a user waits for it before the first word.
_MESSAGE = Columns(Message, "message")
_TAIL_SQL = f"""
    SELECT {_MESSAGE.sql} FROM sessions_app_message AS message
    JOIN sessions_app_turn AS turn ON turn.id = message.turn_id
    WHERE message.session_id = %(session)s AND message.number < %(before)s AND NOT turn.is_withdrawn
    ORDER BY message.number DESC LIMIT %(limit)s
"""  # noqa: S608 - names of columns alone


def accessible_session(*, user_id: int, session_id: uuid.UUID, is_locked: bool = False) -> Session:
    """Return the user's session; with `is_locked` its row is locked until the transaction ends.

    A session's row is locked before its turn's, everywhere: one order, so that two can't wait for each
    other. Its key stays free, for a row that only refers to it must never wait.

    Raises `Session.DoesNotExist` for a missing session and for another user's alike.
    """
    sessions = Session.of(user_id)
    return (sessions.select_for_update(no_key=True) if is_locked else sessions).get(id=session_id)


def recent_sessions(*, user_id: int, limit: int) -> Sequence[Session]:
    """Return the user's sessions in which something was said, the last active first."""
    sessions = Session.of(user_id).filter(last_message_number__gt=0).defer("opening")
    return list(sessions.order_by("-last_active_at")[:limit])


def session_to_go_on_with(*, user_id: int, kind: str) -> Session | None:
    """Return the user's session of that kind that is active and has begun, the last active first, or None."""
    sessions = Session.of(user_id).filter(kind=kind, status=SessionStatus.ACTIVE, last_message_number__gt=0)
    return sessions.defer("opening").order_by("-last_active_at").first()


def was_begun_by(*, user_id: int, client_id: str) -> bool:
    """Return whether the form of that id has begun a session of the user's."""
    return bool(client_id) and Session.of(user_id).filter(client_id=client_id).exists()


def history(session: Session) -> Sequence[Message]:
    """Return the session's messages in order, each with its turn, without those of withdrawn turns."""
    return list(session.messages.filter(turn__is_withdrawn=False).select_related("turn").order_by("number"))


def history_page(session: Session, *, before: int | None, limit: int) -> tuple[Sequence[Message], bool]:
    """Return the last messages of the history in order, each with its turn, and whether there are earlier.

    At most `limit`, of those before the number `before` where it is given. A turn that doesn't fit whole is
    left out, where it isn't all there is.
    """
    messages = session.messages.filter(turn__is_withdrawn=False).select_related("turn")
    if before is not None:
        messages = messages.filter(number__lt=before)
    page = list(messages.order_by("-number")[: limit + 1])[::-1]
    if len(page) <= limit:
        return page, False
    cut_turn = page[0].turn_id
    whole = [message for message in page[1:] if message.turn_id != cut_turn]
    return whole or page[1:], True


def number_after(session: Session, number: int, *, count: int) -> int | None:
    """Return the number of the message that stands behind `count` more than `number`; None near the end."""
    later = session.messages.filter(turn__is_withdrawn=False, number__gt=number)
    return later.order_by("number").values_list("number", flat=True)[count : count + 1].first()


def history_tail(
    session: Session, *, limit: int, newest: Message | None = None
) -> tuple[Sequence[Message], int]:
    """Return the last `limit` messages of the history in order, and how many there are before them.

    `newest` is the last of them where it isn't stored yet; what has a higher number isn't history then.
    """
    if newest is None:
        return _tail(session, before=_NO_NUMBER, limit=limit)
    if newest.number == 1:  # the user waits for no query that can't find anything
        return [newest], 0
    before, left_out = _tail(session, before=newest.number, limit=limit - 1)
    return [*before, newest], left_out


def _tail(session: Session, *, before: int, limit: int) -> tuple[Sequence[Message], int]:
    """Return the last messages before a number in order, and how many there are before them."""
    values = {"session": session.id, "before": before, "limit": limit + 1}
    rows = run_query(Query(_TAIL_SQL, values))[::-1]
    left_out = 0
    if len(rows) > limit:
        messages = session.messages.filter(turn__is_withdrawn=False, number__lt=before)
        rows, left_out = rows[1:], messages.count() - limit
    found = [_MESSAGE.object_of(row) for row in rows]
    for message in found:
        message.session = session
    return found, left_out


def transcript(session: Session) -> Sequence[Message]:
    """Return the history as a page shows it: without the messages that the user never wrote."""
    return [message for message in history(session) if not message.metadata.get("is_hidden")]


def read_open_turn_status(session_id: uuid.UUID) -> str | None:
    """Return the status of the session's open turn, None where there is none. A user waits for it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT status FROM sessions_app_turn WHERE session_id = %s AND status = ANY(%s)",
            [session_id, list(OPEN_TURN_STATUSES)],
        )
        row = cursor.fetchone()
    return row and str(row[0])


def read_open_turn(session: Session) -> Turn | None:
    """Return the session's open turn with its rounds and calls loaded, or None."""
    return (
        session.turns.filter(status__in=OPEN_TURN_STATUSES)
        .prefetch_related("rounds", "calls")
        .order_by("-started_at")
        .first()
    )
