"""The measurement's clients: many WebSockets in one process, as cheap as possible.

They implement just enough of RFC 6455 for a server that sends whole, unmasked text frames, without
compression. Data, JSON or HTML, is counted and timed, not parsed.
"""

import asyncio
import base64
import json
import os
import re
import struct
from dataclasses import dataclass, field
from typing import cast

from tests.bench.relay.upstream import STAMP_MODULUS, stamp

_STAMP = re.compile(rb"(\d{12})~")
_CLOSE, _PING, _TEXT = 0x8, 0x9, 0x1
_LIVE_TEXT = b'<div hx-swap-oob="beforeend:#live-text">'
_JSON_KINDS = {"done": b'{"done"', "error": b'{"error"', "sync": b'{"sync"'}
_HTML_KINDS = {"done": b'data-event="done"', "error": b'data-event="error"', "sync": b'data-event="sync"'}


@dataclass(frozen=True, slots=True)
class Address:
    """A chat: its socket's path, its user's cookie, and the rendering of its events."""

    port: int
    path: str
    cookie: str = ""
    is_html: bool = False

    def handshake(self) -> bytes:
        """Return the opening request."""
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {self.path} HTTP/1.1",
            f"Host: localhost:{self.port}",
            f"Origin: http://localhost:{self.port}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
            *([] if self.is_html else ["Sec-WebSocket-Protocol: sage.json"]),
            *([f"Cookie: {self.cookie}"] if self.cookie else []),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


@dataclass(slots=True)
class Tally:
    """What all chats of a run have received in total."""

    tokens: int = 0
    frames: int = 0
    delays_us: list[int] = field(default_factory=list)
    has_delays: bool = False


class Chat(asyncio.Protocol):
    """One socket to one session."""

    def __init__(self, address: Address, tally: Tally) -> None:
        loop = asyncio.get_running_loop()
        self._address = address
        self._tally = tally
        self._buffer = bytearray()
        self._is_open = False
        self.tokens = 0
        self.errors: list[str] = []
        self.first_at: int | None = None
        self.sent_at = 0
        self.ready: asyncio.Future[None] = loop.create_future()
        self.first: asyncio.Future[None] = loop.create_future()
        self.done: asyncio.Future[None] = loop.create_future()

    @classmethod
    async def open(cls, address: Address, tally: Tally) -> "Chat":
        """Connect and wait for the first snapshot. Raises `ConnectionError`."""
        loop = asyncio.get_running_loop()
        _, chat = await loop.create_connection(lambda: cls(address, tally), "127.0.0.1", address.port)
        async with asyncio.timeout(30):
            await chat.ready
        return chat

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for a WebSocket."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._transport.write(self._address.handshake())

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake everybody who waits for the socket."""
        for future in (self.ready, self.first, self.done):
            if not future.done():
                future.set_exception(ConnectionError(f"the socket was closed: {self.errors}"))
                future.exception()

    def ask(self, text: str) -> None:
        """Send a message and reset the counters."""
        loop = asyncio.get_running_loop()
        self.tokens, self.first_at = 0, None
        self.first, self.done = loop.create_future(), loop.create_future()
        frame = json.dumps({"type": "message", "text": text}).encode()
        self.sent_at = stamp()
        self._write(_TEXT, frame)

    def close(self) -> None:
        """Close the socket properly."""
        if not self._transport.is_closing():
            self._write(_CLOSE, struct.pack("!H", 1000))
            self._transport.close()

    def _write(self, opcode: int, payload: bytes) -> None:
        if len(payload) > 125:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, len(payload))
        else:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | len(payload))
        # A mask of zeros leaves the payload as it is.
        self._transport.write(head + b"\0\0\0\0" + payload)

    def data_received(self, data: bytes) -> None:
        """Take in what arrived and handle the frames that it completes."""
        buffer = self._buffer
        buffer += data
        if not self._is_open:
            end = buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            if not buffer.startswith(b"HTTP/1.1 101"):
                self.errors.append(bytes(buffer[:200]).decode(errors="replace"))
                self._transport.close()
                return
            self._is_open = True
            del buffer[: end + 4]
        start = 0
        while (frame := _frame_at(buffer, start)) is not None:
            opcode, payload, start = frame
            self._handle(opcode, payload)
        if start:
            del buffer[:start]

    def _handle(self, opcode: int, payload: bytes) -> None:
        if opcode == _PING:
            self._write(0xA, payload)
            return
        if opcode == _CLOSE:
            self.errors.append(f"closed with {payload[:2].hex()}")
            self._transport.close()
            return
        kind = _kind_of_html(payload) if self._address.is_html else _kind_of_json(payload)
        if (count := payload.count(b"~")) and kind in ("text", "sync"):
            self._count(payload, count, is_sync=kind == "sync")
        elif kind == "done":
            if not self.done.done():
                self.done.set_result(None)
        elif kind == "error":
            self.errors.append(payload.decode(errors="replace"))
        elif kind == "sync" and not self.ready.done():
            self.ready.set_result(None)

    def _count(self, payload: bytes, count: int, *, is_sync: bool) -> None:
        tally = self._tally
        if is_sync:  # it replaces everything before
            tally.tokens -= self.tokens
            self.tokens = 0
        self.tokens += count
        tally.tokens += count
        tally.frames += 1
        if self.first_at is None:
            self.first_at = stamp()
            if not self.first.done():
                self.first.set_result(None)
        if tally.has_delays:
            now = stamp()
            tally.delays_us += [(now - int(sent)) % STAMP_MODULUS for sent in _STAMP.findall(payload)]


def _kind_of_json(payload: bytes) -> str:
    """Return a frame's kind; anything else with tokens is text, like all that the byte relay sends."""
    for kind, beginning in _JSON_KINDS.items():
        if payload.startswith(beginning):
            return kind
    return "text"


def _kind_of_html(payload: bytes) -> str:
    """Return a fragment's kind. Finished rounds and turns contain their tokens a second time."""
    if payload.startswith(_LIVE_TEXT):
        return "text"
    for kind, mark in _HTML_KINDS.items():
        if mark in payload:
            return kind
    return "other"


def _frame_at(buffer: bytearray, start: int) -> tuple[int, bytes, int] | None:
    """Return opcode, payload and end of the frame at `start`, if it is whole."""
    available = len(buffer) - start
    if available < 2:
        return None
    length = buffer[start + 1] & 0x7F
    head = 2
    if length == 126:
        if available < 4:
            return None
        length, head = int.from_bytes(buffer[start + 2 : start + 4]), 4
    elif length == 127:
        if available < 10:
            return None
        length, head = int.from_bytes(buffer[start + 2 : start + 10]), 10
    end = start + head + length
    if end > len(buffer):
        return None
    return buffer[start] & 0x0F, bytes(buffer[start + head : end]), end
