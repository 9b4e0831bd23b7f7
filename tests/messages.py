"""Messages that tests append to a session's history."""

from collections.abc import Mapping
from typing import Any

from sessions_app.history import next_message, store_message
from sessions_app.models import Message, MessageRole, Session, Turn


def append_message(
    *,
    session: Session,
    turn: Turn,
    role: MessageRole,
    content: str,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    message = next_message(session=session, role=role, content=content, metadata=metadata)
    store_message(message, turn=turn)
    return message
