"""Locks a session for a new message and reads what the message depends on, in one round trip.

As in `selectors.accessible_session`, a session is found only through its user.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from sessions_app.limits import USER_LOCK, OpenTurn, TurnsAsked, lock_key, turns_asked, turns_queries
from sessions_app.models import Message, Session, SessionStatus, Turn
from sessions_app.queries import Columns, parameter, prepared, run_queries
from sessions_app.rate import RateLimit

_SESSION, _MESSAGE, _TURN = Columns(Session), Columns(Message), Columns(Turn, "turn__")


# Each statement sees what was committed by the time the locks before it were granted. The user's lock comes
# after the session's, and only for an active session: one order everywhere.
@prepared
def _locked_session() -> QuerySet[Any, Any]:
    return _session().select_for_update(no_key=True).values_list(*_SESSION.lookups)


@prepared
def _user_lock() -> QuerySet[Any, Any]:
    return _session().filter(status=SessionStatus.ACTIVE).values_list(USER_LOCK)


@prepared
def _known_message() -> QuerySet[Any, Any]:
    messages = Message.of(parameter("user")).filter(session=parameter("session"))
    known = messages.filter(client_id=parameter("client_id")).order_by()
    return known.values_list(*_MESSAGE.lookups, *_TURN.lookups)


def _session() -> QuerySet[Session]:
    return Session.of(parameter("user")).filter(id=parameter("session")).order_by()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedSession:
    """A user's session with its row locked, and what a message to it depends on.

    `known` is an earlier message with the same client id. `asked` was counted under the user's lock, unless
    the session has ended.
    """

    session: Session
    known: Message | None
    asked: TurnsAsked

    @property
    def open_turn(self) -> OpenTurn | None:
        """The session's open turn, None where there is none."""
        return self.asked.open.get(self.session.id)

    @property
    def is_being_opened(self) -> bool:
        """Whether Sage is speaking first in it now."""
        return self.open_turn is not None and self.open_turn.is_running and self.open_turn.is_opening

    @property
    def is_answering(self) -> bool:
        """Whether Sage is answering its user in it now."""
        return self.open_turn is not None and self.open_turn.is_running and not self.open_turn.is_opening


def lock_session(
    *, user_id: int, session_id: uuid.UUID, client_id: str | None, rate_limit: RateLimit
) -> LockedSession:
    """Lock the user's session, then count the user's turns under their lock.

    Raises `Session.DoesNotExist` for a missing session and for another user's alike.
    """
    values = {"user": user_id, "session": session_id}
    queries = [
        _locked_session(**values),
        _user_lock(**values, person=lock_key(user_id)),
        *turns_queries(user_id, rate_limit),
    ]
    if client_id:
        queries.append(_known_message(**values, client_id=client_id))
    sessions, _, turns, too_many, *known = run_queries(queries)
    if not sessions:
        raise Session.DoesNotExist
    return LockedSession(
        session=_SESSION.object_of(sessions[0]),
        known=_known(known[0][0]) if known and known[0] else None,
        asked=turns_asked(turns, too_many),
    )


def _known(row: tuple[Any, ...]) -> Message:
    message = _MESSAGE.object_of(row[: len(_MESSAGE)])
    message.turn = _TURN.object_of(row[len(_MESSAGE) :])
    return message
