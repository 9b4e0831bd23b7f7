"""Back-pressure for incoming WebSocket frames: Daphne would queue them without limit."""
# ruff: noqa: N802, N803 - autobahn's names

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from daphne.ws_protocol import WebSocketProtocol

MAX_WAITING_BYTES = 2 << 20
FRAME_BYTES = 512
"""Approximate overhead of a queued frame."""
PONG_SECONDS = 1.0


class BoundedSocket(WebSocketProtocol):  # type: ignore[misc]  # Daphne has no types
    """A WebSocket with a bounded inbox; its logged `repr` leaves out the path."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes: deque[int] = deque()
        self._waiting = 0
        self._is_paused = False
        self._ponged_at = -PONG_SECONDS
        self._pong = asyncio.Event()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        """Queue a frame; stop reading while too many wait."""
        size = len(payload) + FRAME_BYTES
        self._sizes.append(size)
        self._waiting += size
        super().onMessage(payload, isBinary)
        if self._waiting > MAX_WAITING_BYTES and not self._is_paused:
            self._is_paused = True
            self.transport.pauseProducing()

    def onPing(self, payload: bytes) -> None:
        """Answer pings at most once a second: a client that reads no pongs would pile them up here."""
        now = time.monotonic()
        if now - self._ponged_at >= PONG_SECONDS:
            self._ponged_at = now
            self.sendPong(payload)

    def onPong(self, payload: bytes) -> None:
        self._pong.set()

    async def answers_ping(self, seconds: float) -> bool:
        """Ask the client for a sign of life; return whether it comes in time, or couldn't be read."""
        if self._is_paused:
            return True
        self._pong.clear()
        self.sendPing()
        try:
            await asyncio.wait_for(self._pong.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def receive(self, receive: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """Return the application's next message; resume reading once there is room."""
        message = await receive()
        if message["type"] == "websocket.receive":
            self._waiting -= self._sizes.popleft()
            if self._is_paused and self._waiting <= MAX_WAITING_BYTES // 2:
                self._is_paused = False
                self.transport.resumeProducing()
        return message
