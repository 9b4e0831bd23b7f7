"""Opens and closes sessions and turns through the services."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from sessions_app import retries, services, session_services, turn_endings
from sessions_app.limits import RateLimit
from sessions_app.models import (
    Message,
    Session,
    SessionKind,
    TurnStatus,
)
from sessions_app.opened_turns import OpenedTurn
from sessions_app.turn_endings import Ending
from sessions_app.turn_locks import TurnKey
from sessions_app.turn_records import NewCall
from tests.stored_turns import GENEROUS, new_turn, store_round


def begin(user: User, client_id: object = "form", *, text: str = "") -> Session:
    return session_services.begin_session(
        user_id=user.pk,
        kind=SessionKind.OPEN_CONVERSATION,
        client_id=client_id,
        rate_limit=GENEROUS,
        text=text,
    )


def say(
    session: Session,
    text: object = "hello",
    *,
    client_id: object = None,
    limit: RateLimit = GENEROUS,
    metadata: Mapping[str, Any] | None = None,
) -> OpenedTurn:
    return services.open_turn(
        new_turn(session, rate_limit=limit), text=text, client_id=client_id, metadata=metadata
    )


def close(
    opened: OpenedTurn, *, status: TurnStatus = TurnStatus.COMPLETED, text: str = "", reason: str = "end_turn"
) -> Message | None:
    key = TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence)
    if text:
        store_round(key, text=text)
    return turn_endings.close_turn(key, Ending(status=status, stop_reason=reason))


def call(tool_use_id: str) -> NewCall:
    return NewCall(tool_use_id=tool_use_id, name="save_file", position=0, input={}, is_interactive=False)


def ask_question(opened: OpenedTurn) -> None:
    """Have a turn wait for the answer to a question with a fixed id."""
    key = TurnKey(turn_id=opened.turn.id, fence=1)
    pending = NewCall(tool_use_id="q", name="show_options", position=0, input={}, is_interactive=True)
    store_round(key, text="Which?", calls=(pending,))
    turn_endings.pause_turn(key, stop_reason="tool_use")


def ask_again(session: Session) -> OpenedTurn:
    """Ask for another answer to the last message."""
    return retries.answer_again(new_turn(session))
