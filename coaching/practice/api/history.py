"""Strict validation of the conversation: roles, and a result in the right place for every call.

Consecutive messages of one role count as one, as in the API.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from coaching.practice.api.blocks import check_block, check_text, refuse_extra_keys, require_object
from coaching.practice.api.errors import invalid
from coaching.practice.api.prefix import THINKING_TYPES, Json, content_blocks

MAX_MESSAGES = 100_000
_ASSISTANT_ONLY = THINKING_TYPES | {"tool_use"}
_USER_ONLY = frozenset({"tool_result", "image", "document"})


@dataclass(slots=True)
class _Group:
    """Consecutive messages of one role, with the position of each block in the request."""

    role: str
    first_index: int
    blocks: list[tuple[str, Json]] = field(default_factory=list)

    def of_type(self, kind: str) -> list[tuple[str, Json]]:
        return [(path, block) for path, block in self.blocks if block["type"] == kind]


def check_messages(messages: Any, *, is_continuation_allowed: bool) -> None:
    """Validate a request's `messages`.

    `is_continuation_allowed`: the last message may be the assistant's, because this server paused during it.
    """
    if not isinstance(messages, list):
        raise invalid("messages: Input should be a valid list")
    if not messages:
        raise invalid("messages: at least one message is required")
    if len(messages) > MAX_MESSAGES:
        raise invalid(f"messages: at most {MAX_MESSAGES} messages are allowed")
    for index, message in enumerate(messages):
        _check_message(message, index)
    if messages[0]["role"] != "user":
        raise invalid('messages: first message must use the "user" role')
    if messages[-1]["role"] == "assistant" and not is_continuation_allowed:
        raise invalid(
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )
    groups = _group(messages)
    _check_unique_ids(groups)
    _check_pairs(groups)


def _check_message(value: Any, index: int) -> None:
    path = f"messages.{index}"
    message = require_object(value, path)
    refuse_extra_keys(message, frozenset({"role", "content"}), path)
    for key in ("role", "content"):
        if key not in message:
            raise invalid(f"{path}.{key}: Field required")
    if message["role"] not in {"user", "assistant"}:
        raise invalid(f"{path}.role: Input should be 'user' or 'assistant'")
    content = message["content"]
    if not isinstance(content, str | list):
        raise invalid(f"{path}.content: Input should be a valid string or list")
    if not content:
        raise invalid(
            f"{path}: all messages must have non-empty content "
            "except for the optional final assistant message"
        )
    if isinstance(content, str):
        check_text(content, "messages")
        return
    for position, block in enumerate(content):
        checked = check_block(block, f"{path}.content.{position}")
        _check_role(checked["type"], message["role"], f"{path}.content.{position}")
    if content[-1]["type"] in THINKING_TYPES:
        raise invalid(f"{path}: The final block in an assistant message cannot be `thinking`.")


def _check_role(kind: str, role: str, path: str) -> None:
    if kind in _ASSISTANT_ONLY and role != "assistant":
        raise invalid(f"{path}: `{kind}` blocks can only be in `assistant` messages")
    if kind in _USER_ONLY and role != "user":
        raise invalid(f"{path}: `{kind}` blocks can only be in `user` messages")


def _group(messages: Sequence[Json]) -> list[_Group]:
    groups: list[_Group] = []
    for index, message in enumerate(messages):
        if not groups or groups[-1].role != message["role"]:
            groups.append(_Group(message["role"], index))
        groups[-1].blocks += [
            (f"messages.{index}.content.{position}", block)
            for position, block in enumerate(content_blocks(message["content"]))
        ]
    return groups


def _check_unique_ids(groups: Sequence[_Group]) -> None:
    seen: set[str] = set()
    for group in groups:
        for path, block in group.of_type("tool_use"):
            if block["id"] in seen:
                raise invalid(f"{path}: `tool_use` ids must be unique")
            seen.add(block["id"])


def _check_pairs(groups: Sequence[_Group]) -> None:
    for number, group in enumerate(groups):
        if group.role == "user":
            before = groups[number - 1] if number else None
            _check_results(group, before)
        else:
            after = groups[number + 1] if number + 1 < len(groups) else None
            _check_calls_answered(group, after)


def _check_calls_answered(group: _Group, after: _Group | None) -> None:
    """Refuse a call whose result is missing or isn't first in the next user message."""
    calls = [block["id"] for _, block in group.of_type("tool_use")]
    answered: set[str] = set()
    if after is not None:
        for _, block in after.blocks:
            if block["type"] != "tool_result":
                break
            answered.add(block["tool_use_id"])
    missing = [call for call in calls if call not in answered]
    if missing:
        index = group.first_index if after is None else after.first_index
        raise invalid(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately "
            f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding "
            "`tool_result` block in the next message."
        )


def _check_results(group: _Group, before: _Group | None) -> None:
    calls = {block["id"] for _, block in before.of_type("tool_use")} if before else set()
    seen: set[str] = set()
    for path, block in group.of_type("tool_result"):
        tool_use_id = block["tool_use_id"]
        if tool_use_id not in calls:
            raise invalid(
                f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {tool_use_id}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the "
                "previous message."
            )
        if tool_use_id in seen:
            raise invalid(
                f"{path}: each tool_use must have a single result. "
                f"Found multiple `tool_result` blocks with id: {tool_use_id}"
            )
        seen.add(tool_use_id)
