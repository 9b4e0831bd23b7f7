"""A request and its answer: validation, fault, script or coach, cache, signatures.

Everything between a parsed body and bytes on the wire; no sockets.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coaching.practice.api.cache import CacheShare, PromptCache
from coaching.practice.api.compose import Answer, AnswerSettings, compose_answer, thinking_mode
from coaching.practice.api.errors import invalid
from coaching.practice.api.model_rules import ModelRules
from coaching.practice.api.prefix import (
    Json,
    Unit,
    content_blocks,
    extend_digest,
    opens_turn,
    walk_units,
)
from coaching.practice.api.signatures import SignatureBook
from coaching.practice.api.tokens import count_unit
from coaching.practice.api.validation import check_request
from coaching.practice.faults.fault import HTTP_KINDS, Fault, FaultBook, reshape_reply
from coaching.practice.script import Reply, ScriptBook, Text, ToolUse

_MAX_PAUSED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An accepted request with its answer, as meant and as written."""

    reply: Reply
    answer: Answer
    fault: Fault | None


class Exchanges:
    """Opens exchanges and keeps the state that later requests are checked against."""

    def __init__(
        self,
        *,
        scripts: ScriptBook,
        faults: FaultBook,
        cache: PromptCache,
        signatures: SignatureBook,
        answer: Callable[[dict[str, Any]], Reply],
        answer_aside: Callable[[dict[str, Any]], tuple[Reply, Fault | None] | None],
    ) -> None:
        self._answer_aside = answer_aside
        self._scripts = scripts
        self._faults = faults
        self._cache = cache
        self._signatures = signatures
        self._answer = answer
        self._paused: dict[bytes, Reply | None] = {}

    def open(self, body: dict[str, Any], *, betas: frozenset[str], api_key: str) -> Exchange:
        """Validate a request and compose its answer; raises `ApiError`."""
        is_paused, rest = self._find_paused(body)
        rules = check_request(body, betas=betas, is_continuation_allowed=is_paused)
        units = list(walk_units(body))
        effort = _bound_effort(body)
        digest = self._signatures.check(body, units, effort=effort, is_bound=rules.is_thinking_bound)
        tokens = list(map(count_unit, units))
        _check_length(sum(tokens), rules)
        aside = self._answer_aside(body)
        if aside is None:
            fault = self._faults.take(model=body["model"], last_user_text=last_user_text(body))
            reply, left = reshape_reply(fault, self._next_reply(body, fault, rest))
        else:
            fault = aside[1]
            reply, left = reshape_reply(fault, aside[0])
        if fault is not None and fault.kind in HTTP_KINDS - {"slow_start"}:
            share = CacheShare(input_tokens=0)
        else:
            share = self._cache.account(body, units, tokens, api_key)
        settings = AnswerSettings(
            model=body["model"],
            mode=thinking_mode(body, rules.default_thinking),
            effort=effort,
            max_tokens=body["max_tokens"],
            stop_sequences=tuple(body.get("stop_sequences") or ()),
            prefix_digest=digest,
            has_called_before=_has_called_in_turn(body["messages"]),
            share=share,
        )
        answer = compose_answer(reply, settings, self._signatures)
        # An answer that goes on after a pause is sent back with everything that was said before.
        said = content_blocks(body["messages"][-1]["content"]) if is_paused else []
        if said:
            self._signatures.remember_answer([*said, *answer.blocks])
        if answer.stop_reason == "pause_turn":
            self._remember_pause([*said, *answer.blocks], left)
        return Exchange(reply=reply, answer=answer, fault=fault)

    def _next_reply(self, body: dict[str, Any], fault: Fault | None, rest: Reply | None) -> Reply:
        is_kept = fault is not None and fault.keeps_reply
        reply = rest or self._scripts.next_reply(last_user_text(body), is_kept=is_kept)
        return _obey_tool_choice(body, reply or self._answer(body))

    def _find_paused(self, body: Json) -> tuple[bool, Reply | None]:
        """Return the paused answer of this server that the request continues, if any."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not isinstance(messages[-1], dict):
            return False, None
        if messages[-1].get("role") != "assistant":
            return False, None
        content = messages[-1].get("content")
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            return False, None
        key = _content_digest(content)
        return key in self._paused, self._paused.get(key)

    def _remember_pause(self, blocks: Sequence[Json], left: Reply | None) -> None:
        self._paused[_content_digest(blocks)] = left
        while len(self._paused) > _MAX_PAUSED:
            self._paused.pop(next(iter(self._paused)))


def last_user_text(body: Json) -> str:
    """Return the user's newest text; tool results have none."""
    for message in reversed(body["messages"]):
        if message["role"] == "user":
            texts = [block["text"] for block in content_blocks(message["content"]) if block["type"] == "text"]
            if texts:
                return "\n".join(texts)
    return ""


def _obey_tool_choice(body: Json, reply: Reply) -> Reply:
    """Drop calls that the tool choice doesn't allow, which a model would never make."""
    choice = body.get("tool_choice") or {"type": "auto"}
    if choice["type"] == "none" or not body.get("tools"):
        return _with_calls(reply, 0)
    if choice.get("disable_parallel_tool_use"):
        return _with_calls(reply, 1)
    return reply


def _with_calls(reply: Reply, allowed: int) -> Reply:
    if len(reply.calls) <= allowed:
        return reply
    kept = set(map(id, reply.calls[:allowed]))
    blocks = tuple(block for block in reply.blocks if not isinstance(block, ToolUse) or id(block) in kept)
    if not allowed and not any(isinstance(block, Text) for block in blocks):
        blocks = (*blocks, Text("That is as far as I get without tools."))
    stop_reason = None if reply.stop_reason == "tool_use" and not allowed else reply.stop_reason
    return replace(reply, blocks=blocks, stop_reason=stop_reason)


def _bound_effort(body: Json) -> str:
    """Return the effort if it may not change within the conversation, otherwise an empty string."""
    if (body.get("thinking") or {}).get("type") != "between_tools":
        return ""
    return (body.get("output_config") or {}).get("effort") or "high"


def _has_called_in_turn(messages: Sequence[Json]) -> bool:
    for message in reversed(messages):
        if opens_turn(message):
            return False
        blocks = content_blocks(message["content"])
        if message["role"] == "assistant" and any(b["type"] == "tool_use" for b in blocks):
            return True
    return False


def _check_length(tokens: int, rules: ModelRules) -> None:
    if tokens > rules.context_tokens:
        raise invalid(f"prompt is too long: {tokens} tokens > {rules.context_tokens} maximum")


def _content_digest(blocks: Sequence[Json]) -> bytes:
    digest = b""
    for block in blocks:
        unit = Unit(section="messages", role="assistant", block=block)
        digest = extend_digest(digest, unit.content)
    return digest
