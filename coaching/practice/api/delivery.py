"""Sends the steps of a stream to a socket at a given pace, cheaply.

Benchmarks run hundreds of streams at once, so a paced stream isn't a task with sleeps: one timer callback
writes the next bytes, already framed as HTTP chunks, directly to the transport. Without a pace, aiohttp's
writer is used, which waits for slow readers.
"""

import asyncio
import socket
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aiohttp import web

from coaching.practice.api.faulty_stream import Ending, Silence, Step
from coaching.practice.api.wire import Frame, Gate

_BATCH_BYTES = 64 * 1024
_RESET_LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A stream's speed. `tokens_per_second` 0: as fast as the socket accepts."""

    tokens_per_second: float = 0.0
    first_token_seconds: float = 0.0


class Gates:
    """Named points where streams wait until a test releases them."""

    def __init__(self) -> None:
        self._released: dict[str, asyncio.Event] = {}
        self._reached: dict[str, asyncio.Event] = {}

    def release(self, name: str) -> None:
        """Release every stream that waits, or will wait, at this gate."""
        self._event(self._released, name).set()

    async def reached(self, name: str) -> None:
        """Return when a stream has reached this gate and everything before it has been written."""
        await self._event(self._reached, name).wait()

    async def wait_at(self, name: str) -> None:
        """Wait at a gate until it is released."""
        self._event(self._reached, name).set()
        await self._event(self._released, name).wait()

    @staticmethod
    def _event(events: dict[str, asyncio.Event], name: str) -> asyncio.Event:
        return events.setdefault(name, asyncio.Event())


def http_chunk(data: bytes) -> bytes:
    """Frame bytes as one chunk of a chunked HTTP body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def break_connection(request: web.BaseRequest, *, is_reset: bool) -> None:
    """Close the connection during a response: with FIN after the written data, or with an RST."""
    transport = request.transport
    if transport is None:
        return
    if is_reset:
        connection = transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_LINGER)
        transport.abort()
    else:
        transport.close()


class Pump:
    """Writes prepared chunks to one transport, each at its due time.

    `due` are seconds after the start, in order. Late chunks are sent together.
    """

    __slots__ = ("_chunks", "_done", "_due", "_handle", "_loop", "_next", "_start", "_transport")

    def __init__(
        self, transport: asyncio.WriteTransport, chunks: Sequence[bytes], due: Sequence[float]
    ) -> None:
        self._transport = transport
        self._chunks = chunks
        self._due = due
        self._next = 0
        self._start = 0.0
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] = self._loop.create_future()
        self._handle: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Write everything and return; cancelling stops it at once."""
        if not self._chunks:
            return
        self._start = self._loop.time()
        self._handle = self._loop.call_at(self._start + self._due[0], self._tick)
        try:
            await self._done
        finally:
            self._handle.cancel()

    def _tick(self) -> None:
        if self._done.done():
            return
        if self._transport.is_closing():
            self._done.set_result(None)
            return
        first = self._next
        elapsed = self._loop.time() - self._start
        after = first + 1
        while after < len(self._due) and self._due[after] <= elapsed:
            after += 1
        if after == first + 1:
            self._transport.write(self._chunks[first])
        else:
            self._transport.write(b"".join(self._chunks[first:after]))
        self._next = after
        if after == len(self._chunks):
            self._done.set_result(None)
        else:
            self._handle = self._loop.call_at(self._start + self._due[after], self._tick)


def due_times(frames: Iterable[Frame], pace: Pace) -> list[float]:
    """Return when each event of a stream is due, in seconds after the first byte."""
    times: list[float] = []
    elapsed = 0.0
    has_first_token = False
    for frame in frames:
        if frame.tokens:
            if not has_first_token:
                has_first_token = True
                elapsed += pace.first_token_seconds
            elif pace.tokens_per_second > 0:
                elapsed += frame.tokens / pace.tokens_per_second
        times.append(elapsed)
    return times


class Delivery:
    """Sends one response to the socket. `is_over` becomes true after its last byte."""

    def __init__(self, request: web.Request, response: web.StreamResponse, gates: Gates, pace: Pace) -> None:
        self._request = request
        self._response = response
        self._gates = gates
        self._pace = pace
        self.is_over = False

    async def open(self) -> None:
        """Send the headers."""
        writer = await self._response.prepare(self._request)
        if writer is not None:
            writer.send_headers()

    async def run(self, steps: Sequence[Step]) -> None:
        """Write the stream to its end, or to the end that a fault defines."""
        pending: list[Frame] = []
        for step in steps:
            if isinstance(step, Frame):
                pending.append(step)
                continue
            await self._write(pending)
            pending = []
            match step:
                case Gate(name):
                    await self._gates.wait_at(name)
                case Silence(seconds):
                    await stay_silent(seconds)
                case Ending(how):
                    await self._end(how)
                    return
        await self._write(pending)
        await self._end("proper")

    async def _write(self, frames: Sequence[Frame]) -> None:
        if not frames:
            return
        if self._pace.tokens_per_second <= 0 and self._pace.first_token_seconds <= 0:
            await self._write_at_once(frames)
            return
        transport = self._request.transport
        if transport is not None:
            chunks = [http_chunk(frame.data) for frame in frames]
            await Pump(transport, chunks, due_times(frames, self._pace)).run()

    async def _write_at_once(self, frames: Sequence[Frame]) -> None:
        batch = bytearray()
        for frame in frames:
            batch += frame.data
            if len(batch) >= _BATCH_BYTES:
                await self._response.write(bytes(batch))
                batch.clear()
        if batch:
            await self._response.write(bytes(batch))

    async def _end(self, how: str) -> None:
        self.is_over = True
        if how == "proper":
            await self._response.write_eof()
        else:
            break_connection(self._request, is_reset=how == "reset")


async def stay_silent(seconds: float | None) -> None:
    """Wait for `seconds`, or until cancelled if None."""
    if seconds is None:
        await asyncio.get_running_loop().create_future()
    else:
        await asyncio.sleep(seconds)
