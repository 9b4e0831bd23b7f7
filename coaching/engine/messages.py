"""Requests, rounds and stored history as values, and history as API messages. No I/O.

`build_api_messages` repairs any history, so that a call without a result never blocks a conversation.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from coaching.engine.json_text import escape_surrogates, scrub_surrogates
from coaching.engine.tools import SavedFields, ToolCall, ToolResult

MAX_RESULT_BYTES = 10_000
EXCERPT_HEAD, EXCERPT_TAIL = 0.6, 0.15
"""The shares of its limit that the beginning and the end of a longer result take."""
INTERRUPTED = "interrupted: it may or may not have taken effect. Check before you repeat it."
OPENING_STUB = "(The conversation begins.)"
NO_TEXT = "(no text)"

_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request of the Messages API, in plain JSON values.

    Fields that depend on the model alone (thinking, effort) are added from its profile on sending.
    `cache_control` is the top-level breakpoint, which applies to the last block. Of a result of a tool at
    most `most_result_bytes` are appended, None for all. `written_calls` isn't sent: the tools that a call may
    name which a model without a profile writes as text.
    """

    model: str
    max_tokens: int
    messages: list[dict[str, Any]]
    system: list[dict[str, Any]] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: dict[str, Any] | None = None
    cache_control: dict[str, Any] | None = None
    output_format: dict[str, Any] | None = None
    most_result_bytes: int | None = None
    written_calls: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRound:
    """One round as it is recorded.

    `blocks` are the assistant's content blocks verbatim, `blocks_json` the same as canonical JSON
    text. If a round was cut after visible text, `is_partial` is set and `blocks` holds only that
    text. `text` and `notes` are what the reader saw. `is_last`: the part ends with it.
    """

    number: int
    blocks: tuple[dict[str, Any], ...]
    blocks_json: str
    text: str
    notes: str
    calls: tuple[ToolCall, ...]
    stop_reason: str
    message_id: str
    model: str
    is_partial: bool = False
    is_last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCall:
    """A tool call in stored history; `result` is None if it never got one."""

    tool_use_id: str
    name: str
    input: dict[str, Any]
    result: str | None
    is_error: bool
    round_number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message in stored history.

    `round_ends` are the offsets in `content` at which the text of each round ends. `context` is the
    block that was sent before the user's own text, and `blocks` are content blocks between the two.
    """

    role: Literal["user", "assistant"]
    content: str
    context: str = ""
    blocks: tuple[dict[str, Any], ...] = ()
    calls: tuple[StoredCall, ...] = ()
    round_ends: tuple[int, ...] = ()


def canonical_json(value: Any) -> str:
    """Return `value` as compact JSON text, with keys in the order given and lone surrogates escaped."""
    return escape_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def build_tool_result(tool_use_id: str, result: ToolResult) -> dict[str, Any]:
    """Build the content block that answers a call: never empty, without lone surrogates."""
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": tool_use_id,
        "content": scrub_surrogates(result.content) or "(empty)",
    }
    if result.is_error:
        block["is_error"] = True
    return block


def append_round(
    messages: Sequence[dict[str, Any]],
    blocks: Sequence[dict[str, Any]],
    results: Sequence[tuple[str, ToolResult]] = (),
) -> list[dict[str, Any]]:
    """Return `messages` with one finished round appended: its blocks verbatim, then all results.

    `results` are pairs of `tool_use_id` and result, in the order of the calls.
    """
    extended = list(messages)
    if blocks:
        extend_role(extended, "assistant", list(blocks))
    if results:
        extend_role(extended, "user", [build_tool_result(key, result) for key, result in results])
    return extended


def with_format_in_words(request: ModelRequest) -> ModelRequest:
    """Return a request for structured output that says so in words, too: some servers ignore the field."""
    schema = canonical_json((request.output_format or {}).get("schema", {}))
    return with_text(
        request,
        f"Answer with one JSON object and nothing else: no other words. It fits this schema:\n{schema}",
    )


def with_text(request: ModelRequest, text: str) -> ModelRequest:
    """Return a request with a text at the end of its newest message, or after it as the user's."""
    messages = list(request.messages)
    extend_role(messages, "user", [{"type": "text", "text": text}])
    return replace(request, messages=messages)


def extend_role(messages: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """Append `blocks` as a message of `role`, or to the last message if that has the same role."""
    if messages and messages[-1]["role"] == role:
        before = messages[-1]["content"]
        if isinstance(before, str):
            before = [{"type": "text", "text": before}]
        messages[-1] = {**messages[-1], "content": [*before, *blocks]}
    else:
        messages.append({"role": role, "content": blocks})


def shorten_saved(
    name: str, values: Mapping[str, Any], saved_fields: SavedFields, *, is_error: bool
) -> dict[str, Any]:
    """Return a call's input with a placeholder for text that the call has saved elsewhere."""
    word = "not saved" if is_error else "saved"
    return {
        key: f"[{word}: {len(value)} chars]"
        if isinstance(value, str) and key in saved_fields.get(name, ())
        else value
        for key, value in values.items()
    }


def excerpt_result(name: str, tool_use_id: str, content: str, *, most: int = MAX_RESULT_BYTES) -> str:
    """Return a result as later turns send it: complete up to `most` bytes, longer ones as head and tail.

    The first line names the call and what is shown of it, so that a tool can read the rest.
    """
    encoded = content.encode("utf-8", "replace")
    if len(encoded) <= most:
        return content
    head = encoded[: int(most * EXCERPT_HEAD)].decode("utf-8", "ignore")
    tail = encoded[-int(most * EXCERPT_TAIL) :].decode("utf-8", "ignore")
    shown = f"the first {len(head)} and the last {len(tail)} of {len(content)} characters"
    reference = f"[excerpt of the result of {name} {tool_use_id}: {shown}]"
    return f"{reference}\n{head}\n[…]\n{tail}"


def build_api_messages(
    history: Sequence[StoredMessage], saved_fields: SavedFields, *, after: Sequence[dict[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Build the API's messages from stored history, after those of the history before it.

    Valid for the API for every prefix of history that ends with a user message: roles alternate
    and begin with the user, every call has its result in the next message, ids are unique, no text
    is empty. Finished turns carry no thinking.
    """
    messages, used_ids = list(after), call_ids_in(after)
    for message in history:
        if message.role == "user":
            _append_user(messages, message)
        else:
            _append_assistant(messages, message, used_ids, saved_fields)
    return messages


def _append_user(messages: list[dict[str, Any]], message: StoredMessage) -> None:
    before, words = (
        [{"type": "text", "text": scrub_surrogates(text)}] if text.strip() else []
        for text in (message.context, message.content)
    )
    blocks: list[dict[str, Any]] = [*before, *message.blocks, *words]
    if not blocks and messages and messages[-1]["role"] == "user":
        return
    extend_role(messages, "user", blocks or [{"type": "text", "text": NO_TEXT}])


def _append_assistant(
    messages: list[dict[str, Any]], message: StoredMessage, used_ids: set[str], saved_fields: SavedFields
) -> None:
    for text, calls in _rounds_of(message):
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        results: list[dict[str, Any]] = []
        for call in calls:
            key = _unique_id(call.tool_use_id, used_ids)
            blocks.append(_call_block(key, call, saved_fields))
            results.append(_stored_result(key, call))
        if blocks and not messages:
            extend_role(messages, "user", [{"type": "text", "text": OPENING_STUB}])
        if blocks:
            extend_role(messages, "assistant", blocks)
        if results:
            extend_role(messages, "user", results)


def _rounds_of(message: StoredMessage) -> list[tuple[str, list[StoredCall]]]:
    texts: list[str] = []
    start = 0
    for end in message.round_ends:
        texts.append(message.content[start : max(start, end)])
        start = max(start, end)
    last = max((call.round_number for call in message.calls), default=0)
    texts += [""] * (last - len(texts))
    rest = message.content[start:]
    if rest.strip() or (message.calls and not texts):
        texts.append(rest)
    return [
        (
            scrub_surrogates(text).strip(),
            [call for call in message.calls if max(call.round_number, 1) == number],
        )
        for number, text in enumerate(texts, start=1)
    ]


def _call_block(key: str, call: StoredCall, saved_fields: SavedFields) -> dict[str, Any]:
    values = shorten_saved(call.name, call.input, saved_fields, is_error=call.is_error or call.result is None)
    return {
        "type": "tool_use",
        "id": key,
        "name": _NOT_IN_IDS.sub("_", call.name)[:128] or "unknown",
        "input": scrub_surrogates(values),
    }


def _stored_result(key: str, call: StoredCall) -> dict[str, Any]:
    if call.result is None:
        return build_tool_result(key, ToolResult.error(INTERRUPTED))
    content = excerpt_result(call.name, call.tool_use_id, call.result)
    return build_tool_result(key, ToolResult(content=content, is_error=call.is_error))


def call_ids_in(messages: Sequence[Mapping[str, Any]]) -> set[str]:
    return {
        str(block["id"])
        for message in messages
        for block in message["content"]
        if isinstance(block, Mapping) and block.get("type") == "tool_use"
    }


def unique_ids(ids: Sequence[str], used: Iterable[str]) -> dict[str, str]:
    """Map each of `ids` to an unused id: itself, or itself with a number."""
    used_ids = set(used)
    return {tool_use_id: _unique_id(tool_use_id, used_ids) for tool_use_id in ids}


def with_call_ids(blocks: Sequence[dict[str, Any]], ids: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return content blocks with the ids of their calls replaced."""
    return [
        {**block, "id": ids.get(block["id"], block["id"])} if block["type"] == "tool_use" else block
        for block in blocks
    ]


def _unique_id(tool_use_id: str, used_ids: set[str]) -> str:
    base = _NOT_IN_IDS.sub("_", tool_use_id) or "call"
    key, number = base, 2
    while key in used_ids:
        key, number = f"{base}_{number}", number + 1
    used_ids.add(key)
    return key
