"""Turns and rounds written straight to the database, as a runner without a model would."""

import json
from collections.abc import Sequence

from django.contrib.auth.models import User

from sessions_app import services, session_services, turn_records
from sessions_app.limits import RateLimit
from sessions_app.models import Round, Session, SessionKind
from sessions_app.opened_turns import NewTurn
from sessions_app.turn_locks import TurnKey
from sessions_app.turn_records import NewCall

GENEROUS = RateLimit(turns=1000, seconds=60)


def open_conversation(user: User) -> Session:
    return session_services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION)


def new_turn(
    session: Session, *, owner: str = "me", rate_limit: RateLimit = GENEROUS, user_id: int | None = None
) -> NewTurn:
    """Return what opens a turn of the session, for its own user unless another one is named."""
    return NewTurn(
        user_id=session.user_id if user_id is None else user_id,
        session_id=session.id,
        owner=owner,
        rate_limit=rate_limit,
    )


def open_turn(session: Session, *, owner: str = "me") -> TurnKey:
    """Send a message, and open the turn that answers it."""
    opened = services.open_turn(new_turn(session, owner=owner), text="Good morning", client_id=None)
    return TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence)


def running_call(name: str) -> NewCall:
    """Return the call `t1`."""
    return NewCall(tool_use_id="t1", name=name, position=0, input={}, is_interactive=False)


def store_round(
    key: TurnKey,
    *,
    number: int = 1,
    text: str = "",
    notes: str = "",
    calls: Sequence[NewCall] = (),
    stop_reason: str = "",
) -> None:
    """Store a finished round. Without a stop reason it has the one that fits its calls."""
    turn_records.store_round(
        key,
        Round(
            number=number,
            blocks=json.dumps([{"type": "text", "text": text}] if text else []),
            text=text,
            notes=notes,
            stop_reason=stop_reason or ("tool_use" if calls else "end_turn"),
            is_partial=False,
            upstream_id="msg",
            model="m",
        ),
        calls=calls,
    )
