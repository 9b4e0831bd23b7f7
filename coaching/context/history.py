"""Converts a row of history for the engine, and estimates its size in a request. Nothing is read here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coaching.context.budget import count_json_tokens, count_tokens, is_short, shorten_middle
from coaching.context.fences import fence_words
from coaching.context.help_lines import danger_of
from coaching.context.opening import CONTEXT_KEY
from coaching.context.pictures import pictures_of
from coaching.engine.messages import (
    StoredCall,
    StoredMessage,
    canonical_json,
    excerpt_result,
    shorten_saved,
)
from coaching.engine.request_size import IMAGE_TOKENS
from coaching.engine.tools import SavedFields
from coaching.legacy_text.blocks import strip_block_tags
from coaching.safety.danger import find_danger
from sessions_app.models import Message, MessageRole


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLimits:
    """How much of one message is sent: tokens of what the user wrote, bytes of each result; None for all.

    Whatever is set here, the engine sends long results as excerpts.
    """

    words: int | None = None
    result_bytes: int | None = None

    def words_of(self, message: Message) -> str:
        if self.words is None or message.role != MessageRole.USER or is_short(message.content, self.words):
            return message.content
        matters = _is_dangerous if danger_of(message) else None
        return shorten_middle(message.content, self.words, matters=matters)

    def result_of(self, call: Mapping[str, Any]) -> str:
        result = call["result"] or ""
        if self.result_bytes is None:
            return result
        return excerpt_result(call["name"], call["id"], result, most=self.result_bytes)


def _is_dangerous(sentence: str) -> bool:
    return find_danger(sentence) is not None


WHOLE = HistoryLimits()


def stored_message(
    message: Message, pictures: Sequence[dict[str, Any]] = (), *, limits: HistoryLimits = WHOLE
) -> StoredMessage:
    """Convert a row of history for the engine, without tags of old blocks; `pictures` are its blocks."""
    calls = tuple(stored_call(call, limits=limits) for call in message.metadata.get("tool_calls", ()))
    if message.role == MessageRole.USER:
        context = message.metadata.get(CONTEXT_KEY, "")
        words = fence_words(limits.words_of(message))
        return StoredMessage(role="user", content=words, context=context, blocks=tuple(pictures))
    content, ends = _without_block_tags(message.content, message.metadata.get("round_ends", ()))
    return StoredMessage(role="assistant", content=content, calls=calls, round_ends=ends)


def stored_call(call: Mapping[str, Any], *, limits: HistoryLimits = WHOLE) -> StoredCall:
    """Convert a call of a message's metadata for the engine."""
    result = limits.result_of(call)
    return StoredCall(
        tool_use_id=call["id"],
        name=call["name"],
        input=_values_without_tags(call["input"]),
        result=strip_block_tags(result) if result else call["result"],
        is_error=call["is_error"],
        round_number=call["round"],
    )


def _values_without_tags(value: Any) -> Any:
    match value:
        case str():
            return strip_block_tags(value)
        case list():
            return [_values_without_tags(item) for item in value]
        case dict():
            return {key: _values_without_tags(item) for key, item in value.items()}
    return value


def count_message(
    message: Message,
    *,
    saved_fields: SavedFields,
    pictures_since: int = 0,
    limits: HistoryLimits = WHOLE,
) -> int:
    """Estimate the tokens of a row of history in a request.

    It has the pictures of messages from number `pictures_since` on.
    """
    is_shown = message.number >= pictures_since
    tokens = IMAGE_TOKENS * len(pictures_of(message)) if is_shown else 0
    tokens += count_tokens(limits.words_of(message)) + count_tokens(message.metadata.get(CONTEXT_KEY, ""))
    for call in message.metadata.get("tool_calls", ()):
        values = call["input"] if isinstance(call["input"], dict) else {}
        tokens += count_json_tokens(
            canonical_json(shorten_saved(call["name"], values, saved_fields, is_error=False))
        )
        tokens += count_tokens(excerpt_result(call["name"], call["id"], limits.result_of(call)))
    return tokens


def _without_block_tags(content: str, round_ends: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    if "[" not in content or strip_block_tags(content) == content:
        return content, tuple(round_ends)
    text, ends, start = "", [], 0
    for end in round_ends:
        text += strip_block_tags(content[start:end])
        ends.append(len(text))
        start = max(start, end)
    return text + strip_block_tags(content[start:]), tuple(ends)
