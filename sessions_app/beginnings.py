"""How a turn begins: the request it was asked with, what was said with its message, the session's opening.

It is committed with the message and the turn, in the one transaction that a user waits for. A turn whose
request couldn't be built then gets it before its first round: what was sent must be there to be sent again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from sessions_app.models import Message, MessageRole, Session, Turn
from sessions_app.turn_records import TurnKey, locked_session_of, locked_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """What a turn begins with.

    `opening` is the session's new one, None where it stays; `session_metadata` is joined to the session's
    own then. `message_metadata` replaces that of the turn's message, `turn_metadata` is joined to the turn's.
    """

    model: str
    prefix: str
    message_metadata: dict[str, Any]
    turn_metadata: dict[str, Any]
    opening: str | None = None
    session_metadata: dict[str, Any] = field(default_factory=dict)


Begin = Callable[[Session, Message], Beginning | None]
"""Builds what a turn begins with: for a session whose row is locked, and its newest message, numbered but not
yet stored. None where that can't be built."""


def put_beginning(beginning: Beginning, *, session: Session, turn: Turn, message: Message) -> None:
    """Put what a turn begins with into its rows. Nothing is written."""
    turn.model = beginning.model
    turn.prefix = beginning.prefix
    turn.metadata = {**turn.metadata, **beginning.turn_metadata}
    message.metadata = beginning.message_metadata
    if beginning.opening is not None:
        session.opening = beginning.opening
        session.metadata = {**session.metadata, **beginning.session_metadata}


@transaction.atomic
def store_beginning(key: TurnKey, beginning: Beginning) -> None:
    """Store what an open turn begins with. Raises `StaleFence`."""
    session = locked_session_of(key.turn_id)
    turn = locked_turn(key)
    message = turn.messages.get(role=MessageRole.USER)
    put_beginning(beginning, session=session, turn=turn, message=message)
    turn.save(update_fields=["model", "prefix", "metadata"])
    message.save(update_fields=["metadata"])
    session.save(update_fields=["opening", "metadata"])
