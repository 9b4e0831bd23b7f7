"""Locks a session for a new message and reads what decides about it, in one round trip: a user waits for it.

The access check is that of `selectors.accessible_session`: a session is found through its user alone.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.limits import USER_LOCK, TurnsAsked, lock_values, turns_asked, turns_query
from sessions_app.models import OPEN_TURN_STATUSES, Message, Session, SessionStatus, Turn
from sessions_app.queries import Columns, Query, run_queries
from sessions_app.rate import RateLimit

_SESSION, _MESSAGE, _TURN = Columns(Session, "session"), Columns(Message, "message"), Columns(Turn, "turn")

# Each statement sees what was committed when the locks of those before it were given. The user's lock comes
# after the session's, and only where the session is one that can be spoken in: one order for all.
# Put together of literals and of names of columns; every value is a parameter.
_SESSION_SQL = f"""
    SELECT {_SESSION.sql} FROM sessions_app_session AS session
    WHERE id = %(session)s AND user_id = %(user)s FOR NO KEY UPDATE
"""  # noqa: S608 - names of ours alone
_LOCK_SQL = f"""
    SELECT {USER_LOCK} FROM sessions_app_session
    WHERE id = %(session)s AND user_id = %(user)s AND status = %(active)s
"""  # noqa: S608 - names of ours alone
_OPEN_SQL = "SELECT status FROM sessions_app_turn WHERE session_id = %(session)s AND status = ANY(%(open)s)"
_KNOWN_SQL = f"""
    SELECT {_MESSAGE.sql}, {_TURN.sql} FROM sessions_app_message AS message
    JOIN sessions_app_turn AS turn ON turn.id = message.turn_id
    WHERE message.session_id = %(session)s AND message.client_id = %(client_id)s
"""  # noqa: S608 - names of ours alone


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedSession:
    """A user's session, its row locked, and what counts for a message to it.

    `known` is the message that came with the same client id before. `asked` was counted under the user's
    lock, except where the session has ended.
    """

    session: Session
    known: Message | None
    open_status: str | None
    asked: TurnsAsked


def lock_session(
    *, user_id: int, session_id: uuid.UUID, client_id: str | None, rate_limit: RateLimit
) -> LockedSession:
    """Lock the user's session, then what the user asks for; return what is there.

    Raises `Session.DoesNotExist` for a missing session and for another user's alike.
    """
    values: Mapping[str, Any] = {
        "session": session_id,
        "user": user_id,
        "active": SessionStatus.ACTIVE.value,
        "open": list(OPEN_TURN_STATUSES),
        "client_id": client_id,
        **lock_values(user_id),
    }
    statements = [_SESSION_SQL, _LOCK_SQL, _OPEN_SQL, *([_KNOWN_SQL] if client_id else [])]
    queries = [Query(sql, values) for sql in statements]
    sessions, _, turns, *known, counted = run_queries([*queries, turns_query(user_id, rate_limit)])
    if not sessions:
        raise Session.DoesNotExist
    return LockedSession(
        session=_SESSION.object_of(sessions[0]),
        known=_known(known[0][0]) if known and known[0] else None,
        open_status=turns[0][0] if turns else None,
        asked=turns_asked(counted),
    )


def _known(row: tuple[Any, ...]) -> Message:
    message = _MESSAGE.object_of(row[: len(_MESSAGE)])
    message.turn = _TURN.object_of(row[len(_MESSAGE) :])
    return message
