"""Appends messages to a session's history and numbers them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Model
from django.utils import timezone

from sessions_app.models import Message, MessageRole, Session, Turn
from sessions_app.queries import write_together
from sessions_app.text import title_from

DOCUMENTS_KEY = "documents"
"""In a user message's metadata: the ids of its documents."""
FOREIGN_KEY = "foreign"
"""With a call: the names of the texts in its result that others wrote. Missing where there are none."""
PROGRAM_KEY = "program"
"""In a user message's metadata: the name of the program that sent it for the user."""
TAINT_KEY = "taint"
"""In a turn's metadata: the names of the texts of others that its first request has. In a call's metadata:
what was decided about it because of such texts."""


def next_message(
    *,
    session: Session,
    role: MessageRole,
    content: str,
    client_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """Return an unsaved message with the next number. The caller has locked the session's row.

    A user's message becomes the title of a session without one, unless it has metadata other than documents
    and the program that sent it: hidden messages aren't the user's words, and words of danger may not appear
    in lists.
    """
    session.last_message_number += 1
    session.last_active_at = timezone.now()
    is_plain = not metadata or metadata.keys() <= {DOCUMENTS_KEY, PROGRAM_KEY}
    if role == MessageRole.USER and is_plain and not session.title:
        session.title, session.title_covers = title_from(content), session.last_message_number
    return Message(
        session=session,
        number=session.last_message_number,
        role=role,
        content=content,
        client_id=client_id,
        metadata=dict(metadata or {}),
    )


def store_message(
    message: Message,
    *,
    turn: Turn,
    session_fields: Sequence[str] = (),
    turn_fields: Sequence[str] = (),
    added: Sequence[Model] = (),
) -> None:
    """Store a message of `next_message`, its turn if that is new, and changed fields of session and turn."""
    message.turn = turn
    changed: dict[Model, Sequence[str]] = {
        message.session: ["last_message_number", "last_active_at", "title", "title_covers", *session_fields]
    }
    if turn_fields:
        changed[turn] = turn_fields
    is_new_turn = turn._state.adding
    write_together(changed=changed, added=[*([turn] if is_new_turn else []), *added, message])
