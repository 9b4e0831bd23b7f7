"""Encodes an answer as the Messages API sends it: server-sent events, or one JSON message.

The only module with the wire format.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from coaching.practice.api.compose import Answer, ReplyBlock
from coaching.practice.api.tokens import CHARACTERS_PER_TOKEN

FrameKind = Literal[
    "message_start",
    "block_start",
    "ping",
    "text",
    "thinking",
    "signature",
    "json",
    "block_stop",
    "message_delta",
    "message_stop",
    "other",
]

_DELTAS: dict[str, tuple[FrameKind, str, str]] = {
    "text": ("text", "text_delta", "text"),
    "thinking": ("thinking", "thinking_delta", "thinking"),
    "tool_use": ("json", "input_json_delta", "partial_json"),
}
_WORDS = re.compile(r"\s*\S+\s*|\s+")
_PADDING = " " * 16


@dataclass(frozen=True, slots=True)
class Frame:
    """A server-sent event as bytes, with its tokens for pacing."""

    kind: FrameKind
    data: bytes
    tokens: float = 0.0


@dataclass(frozen=True, slots=True)
class Gate:
    """A point in the stream that waits until it is released."""

    name: str


def event_bytes(name: str, payload: Mapping[str, Any], padding: int = 0) -> bytes:
    """Encode an event; like the real API it pads lines with blanks, which readers must accept."""
    data = orjson.dumps(payload)
    return b"event: %s\ndata: %s%s\n\n" % (name.encode(), data, _PADDING[:padding].encode())


def stream_frames(answer: Answer, chunk_characters: int) -> list[Frame | Gate]:
    """Encode an answer as stream events, with a ping where the API sends its first."""
    frames: list[Frame | Gate] = [message_start(answer, answer.message_id)]
    for index, part in enumerate(answer.parts):
        frames += _block_frames(index, part, chunk_characters)
        if index == 0:
            first_start = next(i for i, f in enumerate(frames) if _is_block_start(f))
            frames.insert(first_start + 1, Frame("ping", event_bytes("ping", {"type": "ping"})))
    if answer.last_gate:
        frames.append(Gate(answer.last_gate))
    frames.append(_message_delta(answer))
    frames.append(Frame("message_stop", event_bytes("message_stop", {"type": "message_stop"}, padding=6)))
    return frames


def message_start(answer: Answer, message_id: str) -> Frame:
    """Encode the event that opens a stream."""
    message = _message_head(answer, message_id) | {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": _usage(answer, output_tokens=1),
    }
    return Frame(
        "message_start",
        event_bytes("message_start", {"type": "message_start", "message": message}, padding=4),
    )


def whole_message(answer: Answer) -> dict[str, Any]:
    """Return the answer as the JSON message of a request without streaming."""
    usage = _usage(answer, output_tokens=answer.output_tokens)
    usage["output_tokens_details"] = {"thinking_tokens": answer.thinking_tokens}
    return _message_head(answer, answer.message_id) | {
        "content": answer.blocks,
        "stop_reason": answer.stop_reason,
        "stop_sequence": answer.stop_sequence,
        "stop_details": _stop_details(answer),
        "usage": usage,
    }


def _is_block_start(frame: Frame | Gate) -> bool:
    return isinstance(frame, Frame) and frame.kind == "block_start"


def _message_head(answer: Answer, message_id: str) -> dict[str, Any]:
    return {"model": answer.model, "id": message_id, "type": "message", "role": "assistant"}


def _usage(answer: Answer, output_tokens: int) -> dict[str, Any]:
    return answer.share.usage() | {
        "output_tokens": output_tokens,
        "service_tier": "standard",
        "inference_geo": "not_available",
    }


def _stop_details(answer: Answer) -> dict[str, Any] | None:
    if answer.stop_reason != "refusal":
        return None
    return {"type": "refusal", "category": None, "explanation": None}


def _message_delta(answer: Answer) -> Frame:
    share = answer.share
    payload = {
        "type": "message_delta",
        "delta": {
            "stop_reason": answer.stop_reason,
            "stop_sequence": answer.stop_sequence,
            "stop_details": _stop_details(answer),
        },
        "usage": {
            "input_tokens": share.input_tokens,
            "cache_creation_input_tokens": share.cache_5m_tokens + share.cache_1h_tokens,
            "cache_read_input_tokens": share.cache_read_tokens,
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"thinking_tokens": answer.thinking_tokens},
        },
    }
    return Frame("message_delta", event_bytes("message_delta", payload, padding=3))


def _block_frames(index: int, part: ReplyBlock, chunk_characters: int) -> list[Frame | Gate]:
    kind = part.block["type"]
    start = {"type": "content_block_start", "index": index, "content_block": _empty(part.block)}
    frames: list[Frame | Gate] = [
        Frame("block_start", event_bytes("content_block_start", start, padding=index % 9))
    ]
    if kind == "tool_use":
        frames.append(_delta(index, "tool_use", ""))
    if part.streamed != "{}" or kind != "tool_use":
        frames += _delta_frames(index, kind, part, chunk_characters)
    if part.block.get("signature"):
        delta = {"type": "signature_delta", "signature": part.block["signature"]}
        payload = {"type": "content_block_delta", "index": index, "delta": delta}
        frames.append(Frame("signature", event_bytes("content_block_delta", payload)))
    stop = {"type": "content_block_stop", "index": index}
    frames.append(Frame("block_stop", event_bytes("content_block_stop", stop, padding=7)))
    return frames


def _empty(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block as it opens: typed, without content."""
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case _:
            return {**block, "input": {}}


def _delta_frames(index: int, kind: str, part: ReplyBlock, chunk_characters: int) -> Iterator[Frame | Gate]:
    done = 0
    for offset, gate in [*part.gates, (len(part.streamed), "")]:
        for piece in split_text(part.streamed[done:offset], chunk_characters):
            yield _delta(index, kind, piece)
        if gate:
            yield Gate(gate)
        done = offset


def _delta(index: int, kind: str, piece: str) -> Frame:
    frame_kind, delta_type, key = _DELTAS[kind]
    payload = {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": delta_type, key: piece},
    }
    data = event_bytes("content_block_delta", payload, padding=len(piece) % 11)
    return Frame(frame_kind, data, len(piece) / CHARACTERS_PER_TOKEN)


def split_text(text: str, characters: int) -> Iterator[str]:
    """Split text into pieces of about `characters`, between words where possible."""
    piece = ""
    for match in _WORDS.finditer(text):
        word = match.group()
        if piece and len(piece) + len(word) > characters:
            yield piece
            piece = ""
        while len(word) > 2 * characters:
            yield word[:characters]
            word = word[characters:]
        piece += word
    if piece:
        yield piece
