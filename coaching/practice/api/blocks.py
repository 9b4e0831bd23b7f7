"""Strict validation of single content blocks: keys and types.

`history.py` validates them in context (roles, pairing of calls and results).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from coaching.practice.api.errors import invalid
from coaching.practice.api.prefix import Json

NAME_PATTERN = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
ID_PATTERN = re.compile(r"[a-zA-Z0-9_-]+\Z")

_KEYS: dict[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "document": frozenset({"type", "source", "cache_control", "citations", "context", "title"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
}
_REQUIRED: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("source",),
    "document": ("source",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
}
_RESULT_PARTS = frozenset({"text", "image", "document"})


def require_object(value: Any, path: str) -> Json:
    """Return `value` as a JSON object or refuse it under `path`."""
    if not isinstance(value, Mapping):
        raise invalid(f"{path}: Input should be an object")
    return value


def require_string(value: Any, path: str) -> str:
    """Return `value` as a string or refuse it under `path`."""
    if not isinstance(value, str):
        raise invalid(f"{path}: Input should be a valid string")
    return value


def refuse_extra_keys(value: Json, allowed: frozenset[str], path: str) -> None:
    """Refuse the first key that the API doesn't know."""
    for key in value:
        if key not in allowed:
            raise invalid(f"{path}.{key}: Extra inputs are not permitted")


def check_block(value: Any, path: str) -> Json:
    """Validate a content block out of context."""
    block = require_object(value, path)
    kind = block.get("type")
    if kind is None:
        raise invalid(f"{path}.type: Field required")
    if kind not in _KEYS:
        expected = ", ".join(f"'{name}'" for name in _KEYS)
        raise invalid(
            f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected "
            f"tags: {expected}"
        )
    refuse_extra_keys(block, _KEYS[kind], f"{path}.{kind}")
    for key in _REQUIRED[kind]:
        if key not in block:
            raise invalid(f"{path}.{kind}.{key}: Field required")
    check_cache_control(block.get("cache_control"), f"{path}.cache_control")
    check = _CHECKS.get(kind)
    if check is not None:
        check(block, f"{path}.{kind}")
    return block


def check_text(text: str, where: str) -> None:
    """Refuse empty and blank text, as the API does; `where` is `messages` or `system`."""
    if text == "":
        raise invalid(f"{where}: text content blocks must be non-empty")
    if not text.strip():
        raise invalid(f"{where}: text content blocks must contain non-whitespace text")


def check_cache_control(value: Any, path: str) -> None:
    """Validate a cache marker: `ephemeral`, with a TTL of 5m or 1h."""
    if value is None:
        return
    control = require_object(value, path)
    if control.get("type") != "ephemeral":
        raise invalid(f"{path}.type: Input should be 'ephemeral'")
    refuse_extra_keys(control, frozenset({"type", "ttl"}), f"{path}.ephemeral")
    if control.get("ttl", "5m") not in {"5m", "1h"}:
        raise invalid(f"{path}.ephemeral.ttl: Input should be '5m' or '1h'")


def _check_text_block(block: Json, path: str) -> None:
    check_text(require_string(block["text"], f"{path}.text"), "messages")


def _check_source(block: Json, path: str) -> None:
    source = require_object(block["source"], f"{path}.source")
    if source.get("type") not in {"base64", "url", "file", "text", "content"}:
        raise invalid(f"{path}.source.type: Input should be 'base64', 'url' or 'file'")


def _check_tool_use(block: Json, path: str) -> None:
    if not ID_PATTERN.match(require_string(block["id"], f"{path}.id")):
        raise invalid(f"{path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not NAME_PATTERN.match(require_string(block["name"], f"{path}.name")):
        raise invalid(f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    require_object(block["input"], f"{path}.input")


def _check_tool_result(block: Json, path: str) -> None:
    tool_use_id = require_string(block["tool_use_id"], f"{path}.tool_use_id")
    if not ID_PATTERN.match(tool_use_id):
        raise invalid(f"{path}.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    is_error = block.get("is_error")
    if is_error is not None and not isinstance(is_error, bool):
        raise invalid(f"{path}.is_error: Input should be a valid boolean")
    content = block.get("content")
    if is_error and not content:
        raise invalid(f"{path}: content cannot be empty if `is_error` is true")
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        raise invalid(f"{path}.content: Input should be a valid string or list")
    for index, part in enumerate(content):
        checked = check_block(part, f"{path}.content.{index}")
        if checked["type"] not in _RESULT_PARTS:
            raise invalid(f"{path}.content.{index}: Input tag '{checked['type']}' is not allowed here")


def _check_thinking(block: Json, path: str) -> None:
    require_string(block["thinking"], f"{path}.thinking")
    require_string(block["signature"], f"{path}.signature")


_CHECKS: dict[str, Callable[[Json, str], None]] = {
    "text": _check_text_block,
    "image": _check_source,
    "document": _check_source,
    "tool_use": _check_tool_use,
    "tool_result": _check_tool_result,
    "thinking": _check_thinking,
}
