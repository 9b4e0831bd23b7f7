"""All requests that a person's conversations can lead to, through the practice model's strict checks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.conf import settings
from django.utils import timezone

from coaching.context.history import stored_message
from coaching.context.window import windowed
from coaching.engine.messages import build_api_messages
from coaching.practice.api.errors import ApiError
from coaching.practice.api.validation import check_request, parse_body
from coaching.tools import CHAT_TOOLS
from coaching.turns.preview import NEXT_WORDS, preview_request
from sessions_app.models import Message, MessageRole, Session

MAX_REFUSALS = 20


@dataclass(slots=True)
class Checked:
    """How many requests were checked, whole and by prefix of a history, and those that were refused."""

    whole: int = 0
    prefixes: int = 0
    refused: int = 0
    refusals: list[str] = field(default_factory=list)

    def check(self, name: str, body: dict[str, Any]) -> None:
        """Check a request as the practice model does, from its bytes on."""
        try:
            check_request(parse_body(orjson.dumps(body)))
        except ApiError as error:
            self.refused += 1
            if len(self.refusals) < MAX_REFUSALS:
                self.refusals.append(f"{name}: {error}")


def check_every_request(user_id: int) -> Checked:
    """Check what the next message of each session would send, and what each message so far would have.

    The next message's request is the real one, with opening, context and cache marks; the others have the
    window that a turn at this message would have had, and the same system and tools.
    """
    checked = Checked()
    for session in Session.of(user_id).order_by("started_at").iterator(chunk_size=100):
        messages = list(Message.within(session).order_by("number"))
        request = preview_request(user_id=user_id, now=timezone.now(), session=session).request
        body = {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "system": request.system,
            "tools": request.tools,
            "messages": request.messages,
            "cache_control": request.cache_control,
        }
        checked.check(f"{session.pk}, the next message", body)
        checked.whole += 1
        for history in _prefixes(messages):
            window = windowed(history, minimum=settings.SAGE_WINDOW_MESSAGES, step=settings.SAGE_WINDOW_STEP)
            sent = build_api_messages(list(map(stored_message, window)), CHAT_TOOLS.saved_fields)
            checked.check(f"{session.pk}, message {len(history)}", {**body, "messages": sent})
            checked.prefixes += 1
    return checked


def _prefixes(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Yield each history with which a turn could start: with a user's message, or a new one after Sage's."""
    new = Message(role=MessageRole.USER, content=NEXT_WORDS)
    for end, message in enumerate(messages, start=1):
        yield messages[:end] if message.role == MessageRole.USER else [*messages[:end], new]
