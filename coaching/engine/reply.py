"""Builds one reply from the decoded events of a stream, with as little work per delta as possible.

A reply is complete only after `message_stop`. Unknown events are ignored, unknown blocks kept. No I/O.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from coaching.engine.events import TextDelta
from coaching.engine.json_text import parse_object
from coaching.engine.usage import RoundUsage, TokenCounts

MAX_ID_CHARACTERS = 100
MAX_TOKENS = 2**31 - 1
_COMPLETE_WITHOUT_UNKNOWN_DELTAS = frozenset({"text", "thinking", "tool_use"})


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """Streamed text of a thinking block. The model's profile decides whether it is shown."""

    text: str


@dataclass(frozen=True, slots=True)
class MessageRestarted:
    """The stream started its message again: all earlier deltas are void."""


ReplyDelta = TextDelta | ThinkingDelta | MessageRestarted


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCall:
    """A `tool_use` block; `is_closed` after its own `content_block_stop`."""

    tool_use_id: str
    name: str
    input_json: str
    is_closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply to one request. `blocks` are the content blocks verbatim, without empty texts."""

    message_id: str
    model: str
    blocks: tuple[dict[str, Any], ...]
    text: str
    calls: tuple[ReplyCall, ...]
    ends_in: str  # type of the last block that was begun, "" if none
    stop_reason: str | None
    stop_details: dict[str, Any] | None
    tokens: TokenCounts
    has_started: bool
    is_whole: bool
    first_token_ms: int | None = None
    duration_ms: int = 0

    def usage(self, model: str, round_number: int | None = None) -> RoundUsage:
        """Return its usage under the requested model: a server may answer under a dated name."""
        return RoundUsage(
            model=model,
            tokens=self.tokens,
            first_token_ms=self.first_token_ms,
            duration_ms=self.duration_ms,
            round_number=round_number,
        )


@dataclass(slots=True)
class _Block:
    start: dict[str, Any]
    parts: list[str] = field(default_factory=list)  # text, thinking or input JSON
    citations: list[Any] = field(default_factory=list)
    signature: str = ""
    compaction: dict[str, Any] = field(default_factory=dict)
    is_closed: bool = False
    is_incomplete: bool = False  # it lost deltas of an unknown type: the API would refuse the rest


class ReplyBuilder:
    """Collects events, in order, into a reply."""

    def __init__(self) -> None:
        self.is_whole = False
        self._clear({})

    def _clear(self, message: dict[str, Any]) -> None:
        self._message = message
        self._blocks: dict[int, _Block] = {}
        self._stop_reason: str | None = None
        self._stop_details: dict[str, Any] | None = None
        self._usage: dict[str, Any] = {}

    def _begin(self, message: dict[str, Any], deltas: list[ReplyDelta]) -> None:
        """Start a message, with the complete blocks and the stop reason that it may already have."""
        if self._message:
            deltas.append(MessageRestarted())
        self._clear(message)
        self._take_usage(message.get("usage"))
        self._feed_end(message)
        for index, block in enumerate(_list(message.get("content") or [])):
            self._open_block(index, block, deltas)
            self._blocks[index].is_closed = True

    def feed(self, event: dict[str, Any], deltas: list[ReplyDelta]) -> None:
        """Add one event, and append its deltas to `deltas`.

        Raises `ValueError`, `KeyError`, `TypeError` or `AttributeError` for a malformed one.
        """
        kind = event.get("type")
        if kind == "content_block_delta":
            self._feed_delta(self._blocks[event["index"]], event["delta"], deltas)
        elif kind == "content_block_start":
            self._open_block(event["index"], event["content_block"], deltas)
        elif kind == "content_block_stop":
            self._blocks[event["index"]].is_closed = True
        elif kind == "message_start":
            self._begin(_object(event["message"]), deltas)
        elif kind == "message_delta":
            self._feed_end(_object(event["delta"]))
            self._take_usage(event.get("usage"))
        elif kind == "message_stop":
            if not self._message:
                raise ValueError("message_stop without message_start")
            self.is_whole = True

    def _feed_end(self, delta: dict[str, Any]) -> None:
        self._stop_reason = _text(delta.get("stop_reason") or self._stop_reason or "") or None
        details = delta.get("stop_details")
        self._stop_details = None if details is None else _object(details)

    def _take_usage(self, usage: object) -> None:
        # Needed for billing only: unreadable numbers are no reason to lose an answer.
        if isinstance(usage, dict):
            self._usage.update((key, value) for key, value in usage.items() if value is not None)

    def _open_block(self, index: int, start: dict[str, Any], deltas: list[ReplyDelta]) -> None:
        if not isinstance(index, int):
            raise TypeError("a block's index must be a number")
        if index != len(self._blocks):  # one that is missing may be a call, or thinking that must go back
            raise ValueError("blocks come one after another")
        _text(_object(start)["type"])
        if start["type"] == "tool_use":
            _check_call(start)
        block = self._blocks[index] = _Block(dict(start))
        if start["type"] == "text" and start.get("text"):
            self._feed_delta(block, {"type": "text_delta", "text": start["text"]}, deltas)
        elif start["type"] == "thinking" and start.get("thinking"):
            self._feed_delta(block, {"type": "thinking_delta", "thinking": start["thinking"]}, deltas)

    def _feed_delta(self, block: _Block, delta: dict[str, Any], deltas: list[ReplyDelta]) -> None:
        kind = delta["type"]
        if kind == "text_delta":
            text = _showable(_text(delta["text"]))
            block.parts.append(text)
            _show(deltas, TextDelta(text))
        elif kind == "input_json_delta":
            block.parts.append(_text(delta["partial_json"]))
        elif kind == "thinking_delta":
            block.parts.append(_text(delta["thinking"]))
            _show(deltas, ThinkingDelta(_showable(delta["thinking"])))
        elif kind == "signature_delta":
            block.signature += delta["signature"]
        elif kind == "citations_delta":
            block.citations.append(delta["citation"])
        elif kind == "compaction_delta":
            block.compaction.update((key, value) for key, value in delta.items() if key != "type")
        else:
            block.is_incomplete = block.start["type"] not in _COMPLETE_WITHOUT_UNKNOWN_DELTAS

    def reply(self) -> Reply:
        ordered = [self._blocks[index] for index in sorted(self._blocks)]
        finished = [_finish(block) for block in ordered if not block.is_incomplete]
        texts = ["".join(block.parts) for block in ordered if block.start["type"] == "text"]
        return Reply(
            message_id=str(self._message.get("id") or ""),
            model=str(self._message.get("model") or ""),
            blocks=tuple(block for block in finished if not _is_empty_text(block)),
            text="".join(texts),
            calls=tuple(_call(block) for block in ordered if block.start["type"] == "tool_use"),
            ends_in=str(ordered[-1].start["type"]) if ordered else "",
            stop_reason=self._stop_reason,
            stop_details=self._stop_details,
            tokens=_token_counts(self._usage),
            has_started=bool(self._message),
            is_whole=self.is_whole,
        )


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list was expected")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a string was expected")
    return value


def _check_call(start: dict[str, Any]) -> None:
    """Raise `ValueError`, `KeyError` or `TypeError` for a call that can't be stored or answered."""
    tool_use_id, name = _text(start["id"]), _text(start["name"])
    if not 0 < len(tool_use_id) <= MAX_ID_CHARACTERS or not tool_use_id.isprintable() or not name:
        raise ValueError("a call without an id or a name")


def _showable(text: str) -> str:
    """Replace NUL, which no database stores: what is shown and what is kept are the same."""
    return text.replace("\x00", "\ufffd") if "\x00" in text else text


def _show(deltas: list[ReplyDelta], delta: TextDelta | ThinkingDelta) -> None:
    """Append a delta, merged with the previous one if that has the same type."""
    if not delta.text:
        return
    if deltas and isinstance(last := deltas[-1], type(delta)):
        deltas[-1] = type(delta)(last.text + delta.text)
    else:
        deltas.append(delta)


def _finish(block: _Block) -> dict[str, Any]:
    kind = block.start["type"]
    whole = dict(block.start)
    if kind == "text":
        whole["text"] = "".join(block.parts)
    elif kind == "thinking":
        whole["thinking"] = "".join(block.parts)
        whole["signature"] = block.signature or whole.get("signature", "")
    elif block.parts:
        whole["input"] = _parsed_input("".join(block.parts))
    elif kind == "tool_use" and not isinstance(whole.get("input"), dict):
        whole["input"] = {}
    whole.update(block.compaction)
    if block.citations:
        whole["citations"] = [*(whole.get("citations") or ()), *block.citations]
    return whole


def _parsed_input(input_json: str) -> dict[str, Any]:
    """Parse the input for sending it back to the model: always an object, empty if it is broken."""
    try:
        return parse_object(input_json)
    except (ValueError, RecursionError):
        return {}


def _call(block: _Block) -> ReplyCall:
    input_json = "".join(block.parts) or json.dumps(block.start.get("input") or {})
    return ReplyCall(
        tool_use_id=str(block.start["id"]),
        name=str(block.start["name"]),
        input_json=input_json,
        is_closed=block.is_closed,
    )


def _is_empty_text(block: dict[str, Any]) -> bool:
    return block["type"] == "text" and not str(block["text"]).strip()


def _token_counts(raw: dict[str, Any]) -> TokenCounts:
    written = raw.get("cache_creation")
    written = written if isinstance(written, dict) else {}
    one_hour = _count(written.get("ephemeral_1h_input_tokens"))
    total = _count(raw.get("cache_creation_input_tokens"))
    five_minutes = written.get("ephemeral_5m_input_tokens")
    return TokenCounts(
        input_tokens=_count(raw.get("input_tokens")),
        output_tokens=_count(raw.get("output_tokens")),
        cache_creation_5m_tokens=max(0, total - one_hour) if five_minutes is None else _count(five_minutes),
        cache_creation_1h_tokens=one_hour,
        cache_read_tokens=_count(raw.get("cache_read_input_tokens")),
    )


def _count(value: object) -> int:
    """Return a number of tokens; an invalid value counts as 0."""
    return int(value) if isinstance(value, int | float) and 0 <= value <= MAX_TOKENS else 0
