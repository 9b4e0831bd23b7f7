"""Appends to a session's history: the one place where a message gets its number."""

from django.utils import timezone

from sessions_app.models import Message, MessageRole, Session, Turn

_TITLE_CHARACTERS = 80


def append_message(
    *,
    session: Session,
    turn: Turn,
    role: MessageRole,
    content: str,
    client_id: str | None = None,
    metadata: dict[str, object] | None = None,
) -> Message:
    """Append a message under the next number. The caller holds the lock of the session's row."""
    session.last_message_number += 1
    session.last_active_at = timezone.now()
    if role == MessageRole.USER and not session.title:
        session.title = _title_from(content)
    session.save(update_fields=["last_message_number", "last_active_at", "title"])
    return Message.objects.create(
        session=session,
        turn=turn,
        number=session.last_message_number,
        role=role,
        content=content,
        client_id=client_id,
        metadata=metadata or {},
    )


def _title_from(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _TITLE_CHARACTERS:
        return line
    return line[:_TITLE_CHARACTERS].rsplit(" ", 1)[0] + "…"
