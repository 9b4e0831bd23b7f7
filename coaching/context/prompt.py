"""Builds the request that a turn begins with: tools, system, window, in that order of caching.

`system` and tools are the same for everybody and hold no clock, id or random value. What a person
or a document wrote stands in messages only.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings

from coaching.arcs import ARCS, arc_skill_text
from coaching.context.window import windowed
from coaching.engine.messages import ModelRequest, StoredCall, StoredMessage, build_api_messages
from coaching.skills.loader import read_library, skills_moment
from sessions_app.arcs import CurrentArc, current_arc
from sessions_app.models import Message, Session


def base_prompt(session: Session) -> str:
    """Return the base skill with the directory of skills, as they held when the session began."""
    return read_library(moment=skills_moment(session)).base_prompt()


def build_request(
    session: Session, history: Sequence[Message], *, tools: list[dict[str, Any]]
) -> ModelRequest:
    """Build the request for a session's history, which ends with a user's message."""
    window = windowed(history, minimum=settings.SAGE_WINDOW_MESSAGES, step=settings.SAGE_WINDOW_STEP)
    messages = build_api_messages([stored_message(message) for message in window])
    _open_with_skill(messages, session, window)
    _mark_for_cache(messages[-1])
    return ModelRequest(
        model=settings.SAGE_MODEL,
        system=[
            {
                "type": "text",
                "text": base_prompt(session),
                "cache_control": {"type": "ephemeral", "ttl": "1h"},
            },
        ],
        tools=tools,
        messages=messages,
        max_tokens=settings.SAGE_MAX_TOKENS,
    )


def stored_message(message: Message) -> StoredMessage:
    """Return a row of history as the engine reads it."""
    calls = tuple(
        StoredCall(
            tool_use_id=call["id"],
            name=call["name"],
            input=call["input"],
            result=call["result"],
            is_error=call["is_error"],
            round_number=call["round"],
        )
        for call in message.metadata.get("tool_calls", ())
    )
    return StoredMessage(
        role="user" if message.role == "user" else "assistant",
        content=message.content,
        calls=calls,
        round_ends=tuple(message.metadata.get("round_ends", ())),
    )


def _open_with_skill(messages: list[dict[str, Any]], session: Session, window: Sequence[Message]) -> None:
    """Put the skill of the session's arc before the window.

    An arc that was entered inside the window has its skill there already, in the call's result.
    """
    arc = current_arc(session)
    if arc is None or _is_entered_in(arc, window):
        return
    skill = ARCS[arc.arc].skill
    section = f'<skill name="{skill}">\n{arc_skill_text(session, arc.arc)}</skill>'
    content = messages[0]["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    messages[0] = {**messages[0], "content": [{"type": "text", "text": section}, *content]}


def _is_entered_in(arc: CurrentArc, window: Sequence[Message]) -> bool:
    return bool(arc.entered_by) and any(
        call["id"] == arc.entered_by for message in window for call in message.metadata.get("tool_calls", ())
    )


def _mark_for_cache(message: dict[str, Any]) -> None:
    """Put a breakpoint on the newest user message: a part's later rounds look back to it."""
    content = message["content"]
    if isinstance(content, str):
        content = message["content"] = [{"type": "text", "text": content}]
    content[-1]["cache_control"] = {"type": "ephemeral"}
