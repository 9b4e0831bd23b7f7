"""Locks a running turn at its runner's fencing number, and its session.

The session is locked before the turn, everywhere. A runner that was replaced gets `StaleFence`.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from sessions_app.errors import StaleFence
from sessions_app.models import Session, Turn, TurnStatus
from sessions_app.queries import Columns, Rows, parameter, prepared, run_queries, run_query


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnKey:
    """A turn and the fencing number under which this runner may write to it."""

    turn_id: uuid.UUID
    fence: int


# The prefix and the opening are the longest columns, and the end of a round or a turn doesn't need them.
_TURN, _SESSION = Columns(Turn, without=("prefix",)), Columns(Session, without=("opening",))


@prepared
def locked_turn() -> QuerySet[Any, Any]:
    """Read and lock a `turn` at its `fence`."""
    turns = Turn.unscoped.filter(id=parameter("turn"), fence=parameter("fence")).order_by()
    return turns.select_for_update(no_key=True).values_list(*_TURN.lookups)


@prepared
def _session_of_turn() -> QuerySet[Any, Any]:
    return _session().values_list(*_SESSION.lookups)


@prepared
def locked_session_of_turn() -> QuerySet[Any, Any]:
    """Read and lock the session of a `turn`."""
    return _session().select_for_update(no_key=True).values_list(*_SESSION.lookups)


def _session() -> QuerySet[Session]:
    # Through a subquery: a lock would include the row of a joined turn.
    turns = Turn.unscoped.filter(id=parameter("turn")).order_by()
    return Session.unscoped.filter(id__in=turns.values("session")).order_by()


def lock_turn(key: TurnKey) -> Turn:
    """Lock and return the running turn, with its session read but not locked.

    To write to the session too, lock its row first with `lock_session_of`.
    Raises `StaleFence` where the fencing number has moved on or the turn isn't running any more.
    """
    turns, sessions = run_queries(
        [locked_turn(turn=key.turn_id, fence=key.fence), _session_of_turn(turn=key.turn_id)]
    )
    return running_turn(turns, sessions, key)


def running_turn(turns: Rows, sessions: Rows, key: TurnKey) -> Turn:
    """Return the turn, with its session, if it is running. Raises `StaleFence`."""
    turn = _TURN.object_of(turns[0]) if turns else None
    if turn is None or turn.status != TurnStatus.RUNNING:
        raise StaleFence(str(key.turn_id))
    turn.session = _SESSION.object_of(sessions[0])
    return turn


def lock_session_of(turn_id: uuid.UUID) -> Session:
    """Lock and return the session of a turn. It is locked before the turn, everywhere.

    Raises `StaleFence` where the turn is gone.
    """
    sessions = run_query(locked_session_of_turn(turn=turn_id))
    if not sessions:
        raise StaleFence(str(turn_id))
    return _SESSION.object_of(sessions[0])
