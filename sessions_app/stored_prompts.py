"""Stores a turn's prompt: the exact request, the message's metadata, the session's opening.

It is committed with the message and the turn. If the request couldn't be built then, it is stored before the
turn's first round: a resumed turn must send the same request again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from sessions_app.models import Message, MessageRole, Session, Turn
from sessions_app.turn_locks import TurnKey, lock_session_of, lock_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPrompt:
    """A turn's prompt as it is stored: `prefix` is the request's canonical JSON.

    `opening` is the session's new one, None where it stays; `session_metadata` is joined to the session's
    own then. `message_metadata` replaces that of the turn's message, `turn_metadata` is joined to the turn's.
    `place` says when the message before was said, and in which zone: fields of `session_events.Said`.
    """

    model: str
    prefix: str
    message_metadata: dict[str, Any]
    turn_metadata: dict[str, Any]
    opening: str | None = None
    session_metadata: dict[str, Any] = field(default_factory=dict)
    place: Mapping[str, str] = field(default_factory=dict)


BuildPrompt = Callable[[Session, Message], StoredPrompt | None]
"""Builds a turn's prompt: for a session whose row is locked, and its newest message, numbered but not
yet stored. None where that can't be built."""


def put_prompt(prompt: StoredPrompt, *, session: Session, turn: Turn, message: Message) -> None:
    """Set a turn's prompt on its rows, without saving them."""
    turn.model = prompt.model
    turn.prefix = prompt.prefix
    turn.metadata = {**turn.metadata, **prompt.turn_metadata}
    message.metadata = prompt.message_metadata
    if prompt.opening is not None:
        session.opening = prompt.opening
        session.metadata = {**session.metadata, **prompt.session_metadata}


@transaction.atomic
def store_prompt(key: TurnKey, prompt: StoredPrompt) -> None:
    """Store an open turn's prompt. Raises `StaleFence`."""
    session = lock_session_of(key.turn_id)
    turn = lock_turn(key)
    message = turn.messages.get(role=MessageRole.USER)
    put_prompt(prompt, session=session, turn=turn, message=message)
    turn.save(update_fields=["model", "prefix", "metadata"])
    message.save(update_fields=["metadata"])
    session.save(update_fields=["opening", "metadata"])
