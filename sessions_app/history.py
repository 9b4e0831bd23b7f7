"""Appends to a session's history: the one place where a message gets its number."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from sessions_app.models import Message, MessageRole, Session, Turn
from sessions_app.queries import write_together

_TITLE_CHARACTERS = 80


def append_message(
    *,
    session: Session,
    turn: Turn,
    role: MessageRole,
    content: str,
    client_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """Append a message under the next number. The caller holds the lock of the session's row."""
    message = next_message(
        session=session, role=role, content=content, client_id=client_id, metadata=metadata
    )
    store_message(message, turn=turn)
    return message


def next_message(
    *,
    session: Session,
    role: MessageRole,
    content: str,
    client_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """Return a message under the next number, not yet stored. The caller holds the session's lock.

    The user's words name a session that has no title, unless something is noted beside them: hidden ones are
    not theirs, and words of danger stand on no list.
    """
    session.last_message_number += 1
    session.last_active_at = timezone.now()
    if role == MessageRole.USER and not metadata and not session.title:
        session.title = _title_from(content)
    return Message(
        session=session,
        number=session.last_message_number,
        role=role,
        content=content,
        client_id=client_id,
        metadata=dict(metadata or {}),
    )


def store_message(message: Message, *, turn: Turn, session_fields: Sequence[str] = ()) -> None:
    """Store a message of `next_message`, and what it changed of its session, with other fields of it.

    Its turn is stored with it where it is a new one.
    """
    message.turn = turn
    fields = ["last_message_number", "last_active_at", "title", *session_fields]
    is_new_turn = turn._state.adding  # noqa: SLF001 - a documented flag in spite of its name
    write_together(changed={message.session: fields}, added=[*([turn] if is_new_turn else []), message])


def _title_from(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _TITLE_CHARACTERS:
        return line
    return line[:_TITLE_CHARACTERS].rsplit(" ", 1)[0] + "…"
