"""The requests that the server has received, for tests."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class ReceivedRequest:
    """A request and its outcome. Times are seconds of the monotonic clock.

    `body` is empty unless bodies are kept; `size` is a kept one's size in bytes. `closed_by_client_at` is set
    when the client disconnected before the answer was complete.
    """

    number: int
    path: str
    received_at: float
    body: dict[str, Any] = field(default_factory=dict)
    size: int = 0
    betas: tuple[str, ...] = ()
    fault: str = ""
    status: int = 0
    error: str = ""
    stop_reason: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    answered_at: float | None = None
    finished_at: float | None = None
    closed_by_client_at: float | None = None


class RequestLog:
    """The newest requests, oldest first, and a way to wait for changes.

    At most `kept` of them with `kept_bytes` of bodies in total; with 0 bytes no body is kept.
    """

    def __init__(self, *, kept: int, kept_bytes: int) -> None:
        self._kept = kept
        self._kept_bytes = kept_bytes
        self._records: deque[ReceivedRequest] = deque()
        self._bytes = 0
        self._count = 0
        self._waiters: set[asyncio.Future[None]] = set()

    def open(self, path: str) -> ReceivedRequest:
        self._count += 1
        record = ReceivedRequest(number=self._count, path=path, received_at=time.monotonic())
        self._records.append(record)
        self._forget_oldest()
        self.notify()
        return record

    def keep_body(self, record: ReceivedRequest, body: dict[str, Any], size: int) -> None:
        """Store a request's body of that size in its record, if bodies are kept."""
        if self._kept_bytes:
            record.body = body
            record.size = size
            self._bytes += size
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        while len(self._records) > self._kept or (self._bytes > self._kept_bytes and len(self._records) > 1):
            self._bytes -= self._records.popleft().size

    def all(self) -> list[ReceivedRequest]:
        """Return the kept records, oldest first."""
        return list(self._records)

    def clear(self) -> None:
        """Delete the records; numbering continues."""
        self._records.clear()
        self._bytes = 0

    def notify(self) -> None:
        """Wake everything that waits for a change."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

    async def wait_until(
        self, condition: Callable[[list[ReceivedRequest]], bool], seconds: float
    ) -> list[ReceivedRequest]:
        """Return the records as soon as `condition` holds for them; raises `TimeoutError`."""
        async with asyncio.timeout(seconds):
            while not condition(self.all()):
                waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiters.add(waiter)
                try:
                    await waiter
                finally:
                    self._waiters.discard(waiter)
        return self.all()
