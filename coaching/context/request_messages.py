"""The messages of a request, made of the opening and the window, with the breakpoints of the cache."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coaching.context.attached import without_withheld
from coaching.context.frame import LONG_CACHE, SHORT_CACHE
from coaching.context.history import HistoryLimits, stored_message
from coaching.context.library import SeenDocument
from coaching.context.life import Life, Unknown
from coaching.context.pictures import picture_blocks, pictures_since
from coaching.context.prompt_tools import PromptTools
from coaching.engine.messages import StoredMessage, build_api_messages
from coaching.engine.profiles import profile_for
from sessions_app.models import Message, MessageRole

LOOK_BACK_BLOCKS = 20
"""How many blocks before a breakpoint the cache searches for an earlier one."""


def attached_in(life: Life) -> Mapping[int, SeenDocument]:
    """Return the documents that messages have, by their keys."""
    return {} if isinstance(life.library, Unknown) else life.library.attached


def build_request_messages(
    window: Sequence[Message],
    *,
    opening: Sequence[str],
    life: Life,
    tools: PromptTools[Any],
    model: str,
    limits_of: Callable[[Message], HistoryLimits],
) -> list[dict[str, Any]]:
    """Build the messages of a window, the texts of the opening before its first."""
    stored = _stored_messages(window, life=life, tools=tools, model=model, limits_of=limits_of)
    last_users = [number for number, message in enumerate(window) if message.role == MessageRole.USER][-2:]
    since_before = last_users[0] + 1
    before = build_api_messages(stored[:since_before], tools.saved_fields)
    messages = build_api_messages(stored[since_before:], tools.saved_fields, after=before)
    _mark_tail(messages, before)
    if opening:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in opening]
        blocks[-1]["cache_control"] = LONG_CACHE
        messages[0] = {**messages[0], "content": [*blocks, *messages[0]["content"]]}
    return messages


def _stored_messages(
    window: Sequence[Message],
    *,
    life: Life,
    tools: PromptTools[Any],
    model: str,
    limits_of: Callable[[Message], HistoryLimits],
) -> Sequence[StoredMessage]:
    """Return the messages for the engine, with their pictures."""
    since, attached = pictures_since(window), attached_in(life)
    has_sight = profile_for(model).has_sight
    withheld = frozenset[int]() if isinstance(life.library, Unknown) else life.library.withheld
    stored = [
        stored_message(
            message,
            picture_blocks(message, since=since, attached=attached, has_sight=has_sight),
            limits=limits_of(message),
        )
        for message in window
    ]
    if not withheld:
        return stored
    return [without_withheld(each, withheld, tools=tools.late_tools) for each in stored]


def _mark_tail(messages: list[dict[str, Any]], before: Sequence[dict[str, Any]]) -> None:
    """Put a breakpoint where a later request searches for this one: on the newest user message.

    The search covers 20 blocks. If the turn before took more, the breakpoint goes on that turn's own message,
    whose end was a breakpoint then; the newest block has the request's own.
    """
    place, position = len(before) - 1, len(before[-1]["content"]) - 1
    blocks_since = sum(len(message["content"]) for message in messages[place:]) - position
    is_far = blocks_since > LOOK_BACK_BLOCKS
    content = list(messages[place if is_far else -1]["content"])
    index = position if is_far else -1
    content[index] = {**content[index], "cache_control": SHORT_CACHE}
    target = place if is_far else len(messages) - 1
    messages[target] = {**messages[target], "content": content}
