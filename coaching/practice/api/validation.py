"""Validates requests as strictly as the real API, so that tests catch wrong ones.

This module parses the body and checks the top level. It must stay stateless: what depends on earlier answers
(thinking signatures, paused turns) is passed in or checked elsewhere.
"""

import hmac
from collections.abc import Mapping
from typing import Any

import orjson

from coaching.practice.api.blocks import (
    check_cache_control,
    check_text,
    refuse_extra_keys,
    require_object,
    require_string,
)
from coaching.practice.api.errors import ApiError, invalid
from coaching.practice.api.history import check_messages
from coaching.practice.api.model_rules import ModelRules, rules_for
from coaching.practice.api.prefix import Json, walk_units
from coaching.practice.api.tool_checks import check_tool_choice, check_tools

MAX_REQUEST_BYTES = 32 * 1024 * 1024
MAX_BREAKPOINTS = 4
EFFORTS = ("low", "medium", "high", "xhigh", "max")
BINDING_BETA = "thinking-binding-controls-2026-08-01"

_COUNTED_KEYS = frozenset(
    {"model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control"}
)
_CREATE_KEYS = _COUNTED_KEYS | {
    "max_tokens",
    "stream",
    "stop_sequences",
    "metadata",
    "service_tier",
    "inference_geo",
}
_SAMPLING_KEYS = ("temperature", "top_p", "top_k")


def check_headers(headers: Mapping[str, str], api_key: str = "") -> str:
    """Validate a request's headers and return its API key, which must equal `api_key` if one is set."""
    key = headers.get("x-api-key") or headers.get("Authorization", "").removeprefix("Bearer ")
    if not key.strip():
        raise ApiError(401, "x-api-key header is required")
    if api_key and not hmac.compare_digest(key.strip().encode(), api_key.encode()):
        raise ApiError(401, "invalid x-api-key")
    if not headers.get("anthropic-version"):
        raise invalid("anthropic-version: header is required")
    return key.strip()


def parse_body(raw: bytes) -> dict[str, Any]:
    """Parse a request's JSON strictly; refuse lone surrogates and excessive nesting."""
    if len(raw) > MAX_REQUEST_BYTES:
        raise ApiError(413, "Request exceeds the maximum size")
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise invalid(f"The request body is not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise invalid("Input should be an object")
    try:
        orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise invalid("The request body is nested too deeply.") from error
    return body


def check_request(
    body: Json,
    *,
    betas: frozenset[str] = frozenset(),
    is_count: bool = False,
    is_continuation_allowed: bool = False,
) -> ModelRules:
    """Validate a request and return the rules of its model; raises `ApiError`."""
    rules = _check_model(body)
    _check_top_level(body, is_count=is_count)
    if not is_count:
        _check_max_tokens(body, rules)
        _check_create_options(body)
    check_system(body.get("system"))
    check_tools(body.get("tools"))
    check_tool_choice(body)
    effort = _check_output_config(body.get("output_config"), rules)
    _check_thinking(body, rules, effort, betas)
    check_messages(body["messages"], is_continuation_allowed=is_continuation_allowed)
    check_cache_control(body.get("cache_control"), "cache_control")
    _check_breakpoints(body)
    return rules


def check_system(system: Any) -> None:
    """Validate the system prompt: a string, or non-empty text blocks."""
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        raise invalid("system: Input should be a valid string or list")
    for index, value in enumerate(system):
        path = f"system.{index}"
        block = require_object(value, path)
        if block.get("type") != "text":
            raise invalid(f"{path}.type: Input should be 'text'")
        refuse_extra_keys(block, frozenset({"type", "text", "cache_control", "citations"}), path)
        check_text(require_string(block.get("text"), f"{path}.text"), "system")
        check_cache_control(block.get("cache_control"), f"{path}.cache_control")


def _check_model(body: Json) -> ModelRules:
    if "model" not in body:
        raise invalid("model: Field required")
    return rules_for(require_string(body["model"], "model"))


def _check_top_level(body: Json, *, is_count: bool) -> None:
    for key in _SAMPLING_KEYS:
        if key in body:
            raise invalid(f"`{key}` is not supported on this model.")
    allowed = _COUNTED_KEYS if is_count else _CREATE_KEYS
    for key in body:
        if key not in allowed:
            raise invalid(f"{key}: Extra inputs are not permitted")
    for key in ("messages",) if is_count else ("max_tokens", "messages"):
        if key not in body:
            raise invalid(f"{key}: Field required")


def _check_max_tokens(body: Json, rules: ModelRules) -> None:
    value = body["max_tokens"]
    if not isinstance(value, int) or isinstance(value, bool):
        raise invalid("max_tokens: Input should be a valid integer")
    if value < 1:
        raise invalid("max_tokens: Input should be greater than or equal to 1")
    if value > rules.max_output_tokens:
        raise invalid(
            f"max_tokens: {value} > {rules.max_output_tokens}, which is the maximum allowed number "
            f"of output tokens for {body['model']}"
        )


def _check_create_options(body: Json) -> None:
    if not isinstance(body.get("stream", False), bool):
        raise invalid("stream: Input should be a valid boolean")
    sequences = body.get("stop_sequences")
    if sequences is not None:
        if not isinstance(sequences, list) or not all(isinstance(s, str) for s in sequences):
            raise invalid("stop_sequences: Input should be a valid list of strings")
        if any(not sequence.strip() for sequence in sequences):
            raise invalid("stop_sequences: each stop sequence must contain non-whitespace")
    metadata = body.get("metadata")
    if metadata is not None:
        checked = require_object(metadata, "metadata")
        refuse_extra_keys(checked, frozenset({"user_id"}), "metadata")
    if body.get("service_tier", "auto") not in {"auto", "standard_only"}:
        raise invalid("service_tier: Input should be 'auto' or 'standard_only'")


def _check_output_config(value: Any, rules: ModelRules) -> str:
    """Validate `output_config` and return the effort, `high` by default."""
    if value is None:
        return "high"
    config = require_object(value, "output_config")
    refuse_extra_keys(config, frozenset({"effort", "format"}), "output_config")
    effort = config.get("effort")
    if effort is not None:
        if effort not in EFFORTS:
            raise invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
        if not rules.accepts_effort:
            raise invalid("This model does not support the effort parameter.")
    if config.get("format") is not None:
        shape = require_object(config["format"], "output_config.format")
        if shape.get("type") != "json_schema":
            raise invalid("output_config.format.type: Input should be 'json_schema'")
        require_object(shape.get("schema"), "output_config.format.schema")
    return effort or "high"


def _check_thinking(body: Json, rules: ModelRules, effort: str, betas: frozenset[str]) -> None:
    if body.get("thinking") is None:
        return
    thinking = require_object(body["thinking"], "thinking")
    kind = thinking.get("type")
    if kind not in {"adaptive", "between_tools", "enabled", "disabled"}:
        raise invalid("thinking.type: Input should be 'adaptive', 'between_tools', 'enabled' or 'disabled'")
    if kind not in rules.accepts_thinking:
        raise invalid(
            f'"thinking.type.{kind}" is not supported for this model. Use '
            f"{_accepted_thinking(rules)} to control thinking behavior."
        )
    allowed = {"type"}
    if kind in {"adaptive", "enabled"}:
        allowed.add("display")
        if thinking.get("display", "omitted") not in {"summarized", "omitted", None}:
            raise invalid(f"thinking.{kind}.display: Input should be 'summarized' or 'omitted'")
    if kind == "enabled":
        allowed.add("budget_tokens")
        _check_budget(thinking, body)
    if BINDING_BETA in betas:
        allowed.add("block_binding")
    refuse_extra_keys(thinking, frozenset(allowed), f"thinking.{kind}")
    if kind == "between_tools" and effort not in {"low", "medium", "high"}:
        raise invalid(
            f"output_config.effort: '{effort}' is not supported with "
            "\"thinking.type.between_tools\". Use 'low', 'medium' or 'high'."
        )


def _accepted_thinking(rules: ModelRules) -> str:
    kinds = [f'"thinking.type.{kind}"' for kind in sorted(rules.accepts_thinking)]
    advice = " or ".join(kinds)
    return f'{advice} and "output_config.effort"' if rules.accepts_effort else advice


def _check_budget(thinking: Json, body: Json) -> None:
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or budget < 1024:
        raise invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if budget >= body.get("max_tokens", budget + 1):
        raise invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")


def _check_breakpoints(body: Json) -> None:
    """Refuse more than four breakpoints, and a one-hour one after a five-minute one."""
    markers: list[tuple[str, str]] = []
    for unit in walk_units(body):
        path = (
            f"messages.{unit.message_index}.content.{unit.block_index}"
            if unit.section == "messages"
            else unit.section
        )
        content = unit.block.get("content")
        inner = content if isinstance(content, list) else []
        for block in (unit.block, *inner):
            control = block.get("cache_control")
            if control:
                markers.append((path, control.get("ttl", "5m")))
    if body.get("cache_control"):
        markers.append(("cache_control", body["cache_control"].get("ttl", "5m")))
    if len(markers) > MAX_BREAKPOINTS:
        raise invalid(f"A maximum of 4 blocks with cache_control may be provided. Found {len(markers)}.")
    has_short = False
    for path, ttl in markers:
        if ttl == "1h" and has_short:
            raise invalid(
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following "
                "order: `tools`, `system`, `messages`."
            )
        has_short = has_short or ttl == "5m"
