"""The measurement's upstream: a Messages API that stamps each delta with its time.

It accepts everything and is as cheap as possible, so that it isn't the bottleneck. The newest
`bench:RATE:TOKENS` in a request defines the answer: that many deltas per second, or at rate 0 as fast as the
reader accepts. Each event is its own HTTP chunk, as from a real model. With `formatted` for TOKENS the answer
is the markdown of `formatted.py`, repeated for a longer one (`formatted2000`). A second look finds no danger:
any other answer would be nonsense, and Sage would send the request again.
"""

import argparse
import asyncio
import itertools
import json
import re
import time
from collections.abc import Callable, Coroutine
from typing import Any, cast

from coaching.safety.second_look import answer_for
from tests.bench.relay.formatted import pieces

STAMP_MODULUS = 10**12
"""Stamps are microseconds of the monotonic clock, the same for all processes of a machine."""

_ORDER = re.compile(rb"bench:(\d+):(\d+|formatted\d*)")
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n"
    b"request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n"
)
_END_OF_A_LOOK = b'</newest>"'
_BATCH = 100
_GOLDEN = 0.618033988749895

_streams = itertools.count()


def _event(name: str, data: str) -> bytes:
    body = f"event: {name}\ndata: {data}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(body), body)


_DELTA = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}'
_TOKEN = _event("content_block_delta", _DELTA % ("0" * 12 + "~ ")).replace(b"0" * 12, b"%012d")
_NO_DANGER = _event("content_block_delta", _DELTA % json.dumps(answer_for(None))[1:-1])
_FORMATTED = [_event("content_block_delta", _DELTA % json.dumps(piece)[1:-1]) for piece in pieces()]
_BEGIN = _event(
    "message_start",
    '{"type":"message_start","message":{"id":"msg_bench","type":"message","role":"assistant",'
    '"model":"claude-sonnet-5-5","content":[],"stop_reason":null,"stop_sequence":null,'
    '"usage":{"input_tokens":100,"output_tokens":1}}}',
) + _event(
    "content_block_start",
    '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
)
_STOP = (
    _event("content_block_stop", '{"type":"content_block_stop","index":0}')
    + _event(
        "message_delta",
        '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},'
        '"usage":{"output_tokens":500}}',
    )
    + _event("message_stop", '{"type":"message_stop"}')
    + b"0\r\n\r\n"
)


def _formatted(count: bytes) -> list[bytes]:
    repeats = -(-int(count.removeprefix(b"formatted") or len(_FORMATTED)) // len(_FORMATTED))
    return _FORMATTED * repeats


def stamp() -> int:
    """Return the time in a delta."""
    return time.monotonic_ns() // 1000 % STAMP_MODULUS


class Upstream(asyncio.Protocol):
    """One connection: requests in sequence, each answered by a stream."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._timer: asyncio.TimerHandle | None = None
        self._left = 0
        self._pieces: list[bytes] = []
        self._is_writable = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop writing."""
        if self._timer is not None:
            self._timer.cancel()
        self._left = 0

    def data_received(self, data: bytes) -> None:
        """Buffer a request, and answer it once it is complete."""
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator:
            return
        length = _LENGTH.search(head)
        if length is None or len(body) >= int(length[1]):
            self._received = b""
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        if _END_OF_A_LOOK in body:
            self._transport.write(_HEAD + _BEGIN + _NO_DANGER + _STOP)
            return
        orders = _ORDER.findall(body)
        rate, count = orders[-1] if orders else (b"0", b"1")
        rate = int(rate)
        self._pieces = _formatted(count) if count.startswith(b"formatted") else []
        self._left = len(self._pieces) or int(count)
        self._transport.write(_HEAD + _BEGIN)
        if rate == 0:
            self._pour()
            return
        # Streams that start together are staggered within the interval.
        self._interval = 1 / rate
        phase = next(_streams) * _GOLDEN % 1 * self._interval if self._left > 50 else 0.0
        self._due = self._loop.time() + phase
        self._timer = self._loop.call_at(self._due, self._tick)

    def _tick(self) -> None:
        now = self._loop.time()
        late = min(self._left, 1 + int((now - self._due) / self._interval))
        tokens = self._take(late)
        self._left -= late
        if self._left:
            self._transport.write(tokens)
            self._due += late * self._interval
            self._timer = self._loop.call_at(self._due, self._tick)
        else:
            self._transport.write(tokens + _STOP)

    def _take(self, count: int) -> bytes:
        if not self._pieces:
            return _TOKEN % stamp() * count
        taken, self._pieces = self._pieces[:count], self._pieces[count:]
        return b"".join(taken)

    def _pour(self) -> None:
        """Write as much as the reader accepts, in turns with the other streams."""
        if not self._is_writable or not self._left:
            return
        count = min(_BATCH, self._left)
        self._left -= count
        self._transport.write(_TOKEN % stamp() * count + (b"" if self._left else _STOP))
        if self._left:
            self._loop.call_soon(self._pour)

    def pause_writing(self) -> None:
        """The reader is slower than we are."""
        self._is_writable = False

    def resume_writing(self) -> None:
        """Go on."""
        self._is_writable = True
        self._pour()


async def serve(port: int) -> None:
    """Serve on 127.0.0.1 until the process is ended."""
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


def fast_run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Return a function that runs a coroutine, on uvloop if it is installed, for a cheap load."""
    return asyncio.run if uvloop is None else uvloop.run


try:
    import uvloop
except ImportError:
    uvloop = None

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    fast_run()(serve(parser.parse_args().port))
