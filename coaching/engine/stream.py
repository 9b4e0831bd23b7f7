"""Reads a reply from the bytes of its event stream, one network read at a time.

It replaces the SDK's decoder and event models, which cost more per delta than the rest of a relay together.
`reply` interprets the events.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import aiohttp
import httpx2
import orjson

from coaching.engine.errors import UpstreamError
from coaching.engine.failures import failure_in_stream
from coaching.engine.json_text import scrub_surrogates
from coaching.engine.reply import Reply, ReplyBuilder, ReplyDelta
from coaching.engine.server_words import error_text

DRAIN_SECONDS = 0.25
MAX_EVENT_BYTES = 8 * 1024 * 1024

TRANSPORT_ERRORS = (
    httpx2.HTTPError,
    httpx2.StreamError,
    aiohttp.ClientError,
    OSError,  # TimeoutError too
    EOFError,
    AssertionError,  # what the transport raises for an empty body
)
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError)

_log = logging.getLogger(__name__)


class SSEReplyStream:
    """A reply being read. Iterating yields the deltas of each network read.

    `words_of` returns what of a server's error text may be logged.
    """

    def __init__(
        self,
        chunks: AsyncIterator[bytes],
        headers: Mapping[str, str],
        started: float,
        *,
        words_of: Callable[[object], str] = lambda _text: "",
    ) -> None:
        self._chunks = chunks
        self._words_of = words_of
        self._headers = headers
        self._started = started
        self._first_token_ms: int | None = None
        self._failure: UpstreamError | None = None
        self._parser = SSEParser()
        self._builder = ReplyBuilder()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Sequence[ReplyDelta]:
        while not self._builder.is_whole:
            if self._failure is not None:
                raise self._failure
            if deltas := self._take(await self._read()):
                if self._first_token_ms is None:
                    self._first_token_ms = self._elapsed_ms()
                return deltas
        await self._drain()
        raise StopAsyncIteration

    def reply(self) -> Reply:
        return replace(
            self._builder.reply(), first_token_ms=self._first_token_ms, duration_ms=self._elapsed_ms()
        )

    async def _read(self) -> bytes | None:
        """Return the next bytes; None at the end of the body or after an error."""
        try:
            return await anext(self._chunks, None)
        except TRANSPORT_ERRORS as error:
            self._failure = _broken(error)
            return None

    def _take(self, chunk: bytes | None) -> list[ReplyDelta]:
        """Return the deltas of a read. A failure is raised after they were passed on."""
        deltas: list[ReplyDelta] = []
        try:
            for event in self._parser.close() if chunk is None else self._parser.feed(chunk):
                if event.get("type", "error" if "error" in event else "") == "error":
                    words = self._words_of(error_text(event))
                    self._failure = failure_in_stream(event, self._headers, words=words)
                    return deltas
                self._builder.feed(event, deltas)
                if self._builder.is_whole:
                    return deltas
        except _MALFORMED as error:
            self._failure = _broken(error)
        if chunk is None and self._failure is None:
            self._failure = UpstreamError("broken_stream", detail="no message_stop", is_retryable=True)
        return deltas

    async def _drain(self) -> None:
        """Read to the end of the body, so that the connection can serve the next round."""
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                while await anext(self._chunks, None) is not None:
                    pass
        except TRANSPORT_ERRORS:
            _log.debug("the stream didn't end after its message")

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._started) * 1000)


class SSEParser:
    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """Yield the events that `chunk` completes; exhaust the iterator. Raises `ValueError`."""
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
        """Return the last event if only its blank line is missing; drop an incomplete one."""
        try:
            event = _decode(self._rest.replace(b"\r", b"\n"))
        except ValueError:
            event = None
        self._rest = b""
        return [] if event is None else [event]


def _broken(error: Exception) -> UpstreamError:
    is_slow = isinstance(error, (httpx2.TimeoutException, TimeoutError))
    failure = UpstreamError(
        "broken_stream",
        detail=type(error).__name__,
        is_retryable=True,
        cause="slow" if is_slow else "server",
    )
    failure.__cause__ = error
    return failure


def _with_plain_newlines(buffer: bytes) -> bytes:
    """Turn CRLF and CR into LF; a CR at the end is kept, since an LF may follow."""
    held = b"\r" if buffer.endswith(b"\r") else b""
    plain = buffer.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return plain + held


def _decode(block: bytes) -> dict[str, Any] | None:
    """Decode one event; None for comments and events without data."""
    head, found, rest = block.partition(b"\ndata:")
    if found and b"\n" not in rest and b"\n" not in head and head.startswith(b"event:"):
        name, data = head[6:], rest  # the usual form
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
    """Return an event's name and data, for any order and number of lines."""
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
        # orjson rejects escaped lone surrogates and numbers over 64 bits.
        return scrub_surrogates(json.loads(data))
