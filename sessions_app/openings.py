"""Sessions in which Sage speaks first, and how the user's own words replace what it is saying.

The turn's message is the session's first, hidden, of fixed text and with a fixed client id. Until the user
has said something, the session counts as unused.
"""

import uuid

from sessions_app.models import USED, Session, SessionKind, TurnStatus
from sessions_app.turn_endings import Ending, end_turn


def is_opened_by_sage(session: Session) -> bool:
    """Return whether Sage speaks first in a session without messages: an arc, or a user's first one."""
    if session.kind != SessionKind.OPEN_CONVERSATION:
        return True
    return not Session.of(session.user_id).filter(USED).exists()


def withdraw_opening(session: Session) -> uuid.UUID:
    """Withdraw the turn in which Sage is speaking first, so that its runner writes nothing; return its id.

    The caller has locked the session's row.
    """
    turn = session.turns.select_for_update(no_key=True).get(status=TurnStatus.RUNNING)
    turn.is_withdrawn = True
    end_turn(session, turn, Ending(status=TurnStatus.SUPERSEDED, stop_reason=TurnStatus.SUPERSEDED))
    return turn.id
