"""Strict validation of tool definitions and tool choice."""

from typing import Any

from coaching.practice.api.blocks import (
    NAME_PATTERN,
    check_cache_control,
    refuse_extra_keys,
    require_object,
    require_string,
)
from coaching.practice.api.errors import invalid
from coaching.practice.api.prefix import Json

_TOOL_KEYS = frozenset(
    {
        "type",
        "name",
        "description",
        "input_schema",
        "cache_control",
        "strict",
        "eager_input_streaming",
        "input_examples",
        "allowed_callers",
        "defer_loading",
    }
)


def check_tools(tools: Any) -> None:
    """Check a request's tool definitions."""
    if tools is None:
        return
    if not isinstance(tools, list):
        raise invalid("tools: Input should be a valid list")
    names: set[str] = set()
    for index, value in enumerate(tools):
        path = f"tools.{index}.custom"
        tool = require_object(value, path)
        if tool.get("type", "custom") not in {"custom", None}:
            raise invalid(f"tools.{index}: Input tag '{tool['type']}' is not served here")
        refuse_extra_keys(tool, _TOOL_KEYS, path)
        for key in ("name", "input_schema"):
            if key not in tool:
                raise invalid(f"{path}.{key}: Field required")
        name = require_string(tool["name"], f"{path}.name")
        if not NAME_PATTERN.match(name):
            raise invalid(f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if name in names:
            raise invalid("tools: Tool names must be unique.")
        names.add(name)
        schema = require_object(tool["input_schema"], f"{path}.input_schema")
        if schema.get("type") != "object":
            raise invalid(f"{path}.input_schema.type: Input should be 'object'")
        check_cache_control(tool.get("cache_control"), f"{path}.cache_control")


def check_tool_choice(body: Json) -> None:
    """Validate the tool choice; forced calls are refused, as by current models."""
    if body.get("tool_choice") is None:
        return
    choice = require_object(body["tool_choice"], "tool_choice")
    kind = choice.get("type")
    if kind not in {"auto", "none", "any", "tool"}:
        raise invalid("tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'")
    if kind in {"any", "tool"}:
        raise invalid(
            f'"tool_choice.type.{kind}" is not supported for this model. '
            'Use "tool_choice.type.auto" or "tool_choice.type.none".'
        )
    allowed = {"type", "disable_parallel_tool_use"} if kind == "auto" else {"type"}
    refuse_extra_keys(choice, frozenset(allowed), f"tool_choice.{kind}")
    if not body.get("tools"):
        raise invalid("tool_choice may only be specified while providing tools.")
