"""Turns a reply into the content blocks that a model with these settings would write.

Decides how thinking is shown, turns text between calls into notes, applies token limits, and signs thinking
blocks. `wire.py` sends them.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from coaching.practice.api.cache import CacheShare
from coaching.practice.api.prefix import Json, Unit, extend_digest
from coaching.practice.api.signatures import Binding, SignatureBook, count_thinking, prefix_name
from coaching.practice.api.tokens import CHARACTERS_PER_TOKEN, count_text
from coaching.practice.script import Block, Hold, Note, Reply, StopReason, Text, Thinking, ToolUse

ThinkingMode = Literal["hidden", "summarized", "between_tools", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSettings:
    """The request's settings for its answer.

    `prefix_digest` identifies everything before the answer; `has_called_before`: the turn already contains a
    call; `effort` is empty unless thinking is `between_tools`.
    """

    model: str
    mode: ThinkingMode
    effort: str
    max_tokens: int
    stop_sequences: tuple[str, ...]
    prefix_digest: bytes
    has_called_before: bool
    share: CacheShare


@dataclass(slots=True)
class ReplyBlock:
    """A content block, its streamed text, and where in it the stream waits."""

    block: dict[str, Any]
    streamed: str
    is_whole: bool = True
    gates: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Answer:
    """A reply as content blocks. `last_gate` is a wait after the last block."""

    message_id: str
    model: str
    parts: list[ReplyBlock]
    stop_reason: StopReason
    stop_sequence: str | None
    share: CacheShare
    last_gate: str = ""

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Return the blocks as the next request will contain them."""
        return [part.block for part in self.parts]

    @property
    def thinking_tokens(self) -> int:
        """Estimate the tokens that went into thinking."""
        return sum(_count(part) for part in self.parts if part.block["type"] == "thinking")

    @property
    def output_tokens(self) -> int:
        """Estimate all tokens of the answer; at least one."""
        return max(1, sum(map(_count, self.parts)))


def thinking_mode(body: Json, default: str) -> ThinkingMode:
    """Return how thinking shows in the answer; `default` is the model's own kind."""
    thinking: Mapping[str, Any] = body.get("thinking") or {"type": default}
    match thinking["type"]:
        case "between_tools":
            return "between_tools"
        case "adaptive":
            return "summarized" if thinking.get("display") == "summarized" else "hidden"
        case "enabled":
            return "hidden" if thinking.get("display") == "omitted" else "summarized"
        case _:
            return "off"


def compose_answer(reply: Reply, settings: AnswerSettings, book: SignatureBook) -> Answer:
    """Compose a reply under a request's settings, sign its thinking, and remember it."""
    parts, last_gate = _shape(reply, settings)
    parts, stop_sequence = _cut_at_stop_sequence(parts, settings.stop_sequences)
    parts, is_over = _cut_at_limit(parts, settings.max_tokens)
    _sign(parts, settings, book)
    answer = Answer(
        message_id=f"msg_{_new_id()}",
        model=settings.model,
        parts=parts,
        stop_reason=_stop_reason(reply, parts, stop_sequence, is_over=is_over),
        stop_sequence=stop_sequence,
        share=settings.share,
        last_gate=last_gate,
    )
    book.remember_answer(answer.blocks)
    return answer


def _new_id() -> str:
    return "01" + secrets.token_hex(11)


def _count(part: ReplyBlock) -> int:
    return count_text(part.streamed) + 1


def _stop_reason(
    reply: Reply, parts: Sequence[ReplyBlock], stop_sequence: str | None, *, is_over: bool
) -> StopReason:
    if stop_sequence is not None:
        return "stop_sequence"
    if is_over:
        return "max_tokens"
    if reply.stop_reason is not None:
        return reply.stop_reason
    if any(not part.is_whole for part in parts):
        return "max_tokens"
    return "tool_use" if reply.calls else "end_turn"


def _shape(reply: Reply, settings: AnswerSettings) -> tuple[list[ReplyBlock], str]:
    """Make a part of each block; a wait between two texts stays inside one text block."""
    parts: list[ReplyBlock] = []
    has_called = settings.has_called_before
    gate = ""
    for position, block in enumerate(reply.blocks):
        if isinstance(block, Hold):
            gate = block.gate
            continue
        is_between = has_called and any(isinstance(later, ToolUse) for later in reply.blocks[position + 1 :])
        part = _shape_block(block, settings.mode, is_between_calls=is_between)
        has_called = has_called or isinstance(block, ToolUse)
        if part is None:
            continue
        if gate and parts and parts[-1].block["type"] == part.block["type"] == "text":
            _join_text(parts[-1], part, gate)
        else:
            if gate:
                part.gates.append((0, gate))
            parts.append(part)
        gate = ""
        if not part.is_whole:
            break
    return parts, gate


def _join_text(part: ReplyBlock, more: ReplyBlock, gate: str) -> None:
    part.gates.append((len(part.streamed), gate))
    part.streamed += more.streamed
    part.block["text"] = part.streamed


def _shape_block(
    block: Text | Thinking | Note | ToolUse, mode: ThinkingMode, *, is_between_calls: bool
) -> ReplyBlock | None:
    match block:
        case ToolUse():
            return _call_part(block)
        case Thinking(text):
            return _thinking_part(text, mode) if mode in {"hidden", "summarized"} else None
        case Note(text):
            return _text_part(text) if mode == "off" else _thinking_part(text, mode)
        case Text(text):
            if is_between_calls and mode != "off":
                return _thinking_part(text, mode)
            return _text_part(text) if text else None


def _text_part(text: str) -> ReplyBlock:
    return ReplyBlock({"type": "text", "text": text}, text)


def _thinking_part(text: str, mode: ThinkingMode) -> ReplyBlock:
    shown = "" if mode == "hidden" else text
    return ReplyBlock({"type": "thinking", "thinking": shown, "signature": ""}, shown)


def _call_part(call: ToolUse) -> ReplyBlock:
    streamed = call.input_json
    if streamed is None:
        streamed = orjson.dumps(dict(call.input)).decode()
    block = {
        "type": "tool_use",
        "id": call.id or f"toolu_{_new_id()}",
        "name": call.name,
        "input": _read_input(streamed),
        "caller": {"type": "direct"},
    }
    if call.is_cut:
        return ReplyBlock(block, streamed[: max(1, len(streamed) // 2)], is_whole=False)
    return ReplyBlock(block, streamed)


def _read_input(streamed: str) -> dict[str, Any]:
    """Return the call's input as an object, empty for broken JSON."""
    try:
        value = orjson.loads(streamed or "{}")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _cut_at_stop_sequence(
    parts: list[ReplyBlock], sequences: Iterable[str]
) -> tuple[list[ReplyBlock], str | None]:
    for index, part in enumerate(parts):
        if part.block["type"] != "text":
            continue
        hits = [(part.streamed.find(s), s) for s in sequences if s in part.streamed]
        if hits:
            offset, sequence = min(hits)
            kept = _shortened(part, offset)
            return parts[:index] + ([kept] if offset else []), sequence
    return parts, None


def _cut_at_limit(parts: list[ReplyBlock], max_tokens: int) -> tuple[list[ReplyBlock], bool]:
    left = max_tokens
    for index, part in enumerate(parts):
        if _count(part) > left:
            kept = _shortened(part, max(0, left - 1) * CHARACTERS_PER_TOKEN)
            return parts[:index] + ([kept] if kept.streamed else []), True
        left -= _count(part)
    return parts, False


def _shortened(part: ReplyBlock, characters: int) -> ReplyBlock:
    streamed = part.streamed[:characters]
    block = dict(part.block)
    if block["type"] in {"text", "thinking"}:
        block[block["type"]] = streamed
    gates = [(offset, gate) for offset, gate in part.gates if offset <= characters]
    return ReplyBlock(block, streamed, is_whole=False, gates=gates)


def _sign(parts: Sequence[ReplyBlock], settings: AnswerSettings, book: SignatureBook) -> None:
    """Sign each complete thinking block together with everything before it."""
    siblings = count_thinking(part.block for part in parts)
    digest = settings.prefix_digest
    position = 0
    for part in parts:
        block = part.block
        if block["type"] == "thinking" and part.is_whole:
            binding = Binding(
                model=settings.model,
                prefix=prefix_name(digest),
                position=position,
                siblings=siblings,
                effort=settings.effort,
            )
            block["signature"] = book.sign(block["thinking"], binding)
            position += 1
        unit = Unit(section="messages", role="assistant", block=block)
        digest = extend_digest(digest, unit.content)


__all__ = [
    "Answer",
    "AnswerSettings",
    "Block",
    "ReplyBlock",
    "ThinkingMode",
    "compose_answer",
    "thinking_mode",
]
