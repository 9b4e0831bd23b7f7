"""Back-pressure for a WebSocket's incoming frames: a client that sends faster than it is served has to wait.

Daphne queues every frame at once. What waits here is bounded: over that, nothing is read from the client.
"""
# ruff: noqa: N802, N803 - autobahn's names

import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from daphne.ws_protocol import WebSocketProtocol

MAX_WAITING_BYTES = 2 << 20
FRAME_BYTES = 512
"""What a queued frame takes beyond its text, about."""
PONG_SECONDS = 1.0


class BoundedSocket(WebSocketProtocol):  # type: ignore[misc]  # Daphne has no types
    """A WebSocket whose waiting frames are bounded; its `repr`, which is logged, leaves out the path."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes: deque[int] = deque()
        self._waiting = 0
        self._is_paused = False
        self._ponged_at = -PONG_SECONDS

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        """Queue a frame, and read no more while too much waits."""
        size = len(payload) + FRAME_BYTES
        self._sizes.append(size)
        self._waiting += size
        super().onMessage(payload, isBinary)
        if self._waiting > MAX_WAITING_BYTES and not self._is_paused:
            self._is_paused = True
            self.transport.pauseProducing()

    def onPing(self, payload: bytes) -> None:
        """Answer the pings of a client now and then: one that reads no answers would pile them up here."""
        now = time.monotonic()
        if now - self._ponged_at >= PONG_SECONDS:
            self._ponged_at = now
            self.sendPong(payload)

    async def receive(self, receive: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """Return the application's next message, and read on once there is room."""
        message = await receive()
        if message["type"] == "websocket.receive":
            self._waiting -= self._sizes.popleft()
            if self._is_paused and self._waiting <= MAX_WAITING_BYTES // 2:
                self._is_paused = False
                self.transport.resumeProducing()
        return message
