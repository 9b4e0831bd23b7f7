"""Reads. `accessible_session` is the only door to a session: another's looks like a missing one."""

import uuid
from collections.abc import Sequence

from sessions_app.models import OPEN_TURN_STATUSES, Message, Session, SessionStatus, Turn


def accessible_session(*, user_id: int, session_id: uuid.UUID, is_locked: bool = False) -> Session:
    """Return the user's session; with `is_locked` its row is locked until the transaction ends.

    A session's row is locked before its turn's, everywhere: one order, so that two can't wait for each
    other. Its key stays free, for a row that only refers to it must never wait.

    Raises `Session.DoesNotExist` for a missing session and for another user's alike.
    """
    sessions = Session.objects.select_for_update(no_key=True) if is_locked else Session.objects.all()
    return sessions.get(user_id=user_id, id=session_id)


def recent_sessions(*, user_id: int, limit: int) -> Sequence[Session]:
    """Return the user's sessions, the last active first."""
    sessions = Session.objects.filter(user_id=user_id).defer("opening")
    return list(sessions.order_by("-last_active_at")[:limit])


def session_to_go_on_with(*, user_id: int, kind: str) -> Session | None:
    """Return the user's session of that kind that is active and has begun, the last active first, or None."""
    sessions = Session.objects.filter(
        user_id=user_id, kind=kind, status=SessionStatus.ACTIVE, last_message_number__gt=0
    )
    return sessions.defer("opening").order_by("-last_active_at").first()


def was_begun_by(*, user_id: int, client_id: str) -> bool:
    """Return whether the form of that id has begun a session of the user's."""
    return bool(client_id) and Session.objects.filter(user_id=user_id, client_id=client_id).exists()


def history(session: Session) -> Sequence[Message]:
    """Return the session's messages in order, each with its turn, without those of withdrawn turns."""
    return list(session.messages.filter(turn__is_withdrawn=False).select_related("turn").order_by("number"))


def history_tail(session: Session, *, limit: int) -> tuple[Sequence[Message], int]:
    """Return the last `limit` messages of the history in order, and how many there are before them."""
    messages = session.messages.filter(turn__is_withdrawn=False)
    tail = list(messages.order_by("-number")[: limit + 1])[::-1]
    if len(tail) <= limit:
        return tail, 0
    return tail[1:], messages.count() - limit


def transcript(session: Session) -> Sequence[Message]:
    """Return the history as a page shows it: without the messages that the user never wrote."""
    return [message for message in history(session) if not message.metadata.get("is_hidden")]


def open_turn(session: Session) -> Turn | None:
    """Return the session's open turn with its rounds and calls loaded, or None."""
    return (
        session.turns.filter(status__in=OPEN_TURN_STATUSES)
        .prefetch_related("rounds", "calls")
        .order_by("-started_at")
        .first()
    )


def last_turn(session: Session) -> Turn | None:
    """Return the newest turn of the session, open or not."""
    return session.turns.order_by("-started_at").first()
