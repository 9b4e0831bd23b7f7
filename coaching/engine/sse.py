"""Splits server-sent events out of the bytes of a stream, one network read at a time.

It stands in for the SDK's own decoder and models because those cost more per delta than all the
rest of a relay. It parses and keeps no meaning; broken JSON raises `ValueError`.
"""

import json
from collections.abc import Iterator
from typing import Any

import orjson

from coaching.engine.json_text import scrub_surrogates

MAX_EVENT_BYTES = 8 * 1024 * 1024


class SSEParser:
    """Takes bytes as they come and returns the events that they complete."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """Yield the events that `chunk` completes, decoded; to be read to its end. Raises `ValueError`."""
        buffer = self._rest + chunk if self._rest else chunk
        if b"\r" in buffer:
            buffer = _with_plain_newlines(buffer)
        *blocks, self._rest = buffer.split(b"\n\n")
        for block in blocks:
            if (event := _decode(block)) is not None:
                yield event
        if len(self._rest) > MAX_EVENT_BYTES:
            raise ValueError("an event is too large")

    def close(self) -> list[dict[str, Any]]:
        """Return the last event if the stream ended behind it without the blank line.

        What was cut inside an event is dropped: it proves nothing.
        """
        try:
            event = _decode(self._rest.replace(b"\r", b"\n"))
        except ValueError:
            event = None
        self._rest = b""
        return [] if event is None else [event]


def _with_plain_newlines(buffer: bytes) -> bytes:
    """Turn CRLF and CR into LF; a CR at the very end waits for what follows it."""
    held = b"\r" if buffer.endswith(b"\r") else b""
    plain = buffer.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return plain + held


def _decode(block: bytes) -> dict[str, Any] | None:
    """Decode one event; None for comments and events without data."""
    head, found, rest = block.partition(b"\ndata:")
    if found and b"\n" not in rest and b"\n" not in head and head.startswith(b"event:"):
        name, data = head[6:], rest  # as every server writes it
    else:
        name, data = _fields(block)
    if not data.strip():
        return None
    event = _loads(data)
    if not isinstance(event, dict):
        raise ValueError("an event is not an object")
    if name.strip() == b"error":
        event["type"] = "error"
    return event


def _fields(block: bytes) -> tuple[bytes, bytes]:
    """Return an event's name and its data, whatever the order and number of its lines."""
    name = b""
    data: list[bytes] = []
    for line in block.split(b"\n"):
        if line.startswith(b"data:"):
            data.append(line[5:])
        elif line.startswith(b"event:"):
            name = line[6:]
    return name, b"\n".join(data)


def _loads(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # Escaped lone surrogates and numbers over 64 bits are JSON too.
        return scrub_surrogates(json.loads(data))
