"""Which requests this process is answering: how many of each person, and how many are worked on at once.

A request that waits for something other than the database (an answer, a feed) gives up its place at work, and
others are worked on meanwhile. Counted in this process and kept nowhere. No page is made here.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

EACH = 10
"""Requests in flight of one person, or of one browser that nobody has signed in with."""
STRANGERS_EACH = 20
"""The same of one address: many people may be behind it."""
AT_WORK = 16
"""Requests of all people that may hold a database connection; the pool is larger (`sage.settings`)."""
WAITING_EACH = 4
"""Of one person's requests, those that may wait for an answer or a feed: the others are for pages."""
QUEUE_SECONDS = 3.0


class TooManyInFlight(Exception):
    """One person has as many requests in flight as they may have."""


class TooBusy(Exception):
    """No place at work became free in time."""


class InFlight:
    """The requests in flight. Counting is for any thread, places at work belong to the event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._at_work = asyncio.Semaphore(AT_WORK)

    def count(self, key: str, most: int) -> bool:
        """Count one more under a key, unless there are `most`; return whether it was counted."""
        with self._lock:
            is_counted = self._counts[key] < most
            if is_counted:
                self._counts[key] += 1
            return is_counted

    def discount(self, key: str) -> None:
        """Count one less under a key."""
        with self._lock:
            self._counts[key] -= 1
            if self._counts[key] <= 0:
                del self._counts[key]

    async def take_place(self) -> None:
        """Wait for a place at work. Raises `TooBusy` after `QUEUE_SECONDS`."""
        try:
            async with asyncio.timeout(QUEUE_SECONDS):
                await self._at_work.acquire()
        except TimeoutError:
            raise TooBusy from None

    async def take_place_again(self) -> None:
        """Wait for a place at work, however long that takes: the request is half done."""
        await self._at_work.acquire()

    def give_place(self) -> None:
        """Give a place at work back."""
        self._at_work.release()


class Ticket:
    """One request in flight: under which keys it counts, and whether it has a place at work."""

    def __init__(self, in_flight: InFlight) -> None:
        self._in_flight = in_flight
        self._keys: list[str] = []
        self._is_at_work = False

    def count(self, key: str, most: int) -> None:
        """Count under one more key. Raises `TooManyInFlight`."""
        if not self._in_flight.count(key, most):
            raise TooManyInFlight
        self._keys.append(key)

    async def begin(self) -> None:
        """Wait for a place at work. Raises `TooBusy`."""
        await self._in_flight.take_place()
        self._is_at_work = True

    def end(self) -> None:
        """Give everything back."""
        if self._is_at_work:
            self._is_at_work = False
            self._in_flight.give_place()
        while self._keys:
            self._in_flight.discount(self._keys.pop())

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[bool]:
        """Do without a place at work. Yields False where the person has enough requests waiting."""
        waits = f"{self._keys[-1]} waits"
        if not self._in_flight.count(waits, WAITING_EACH):
            yield False
            return
        self._is_at_work = False
        self._in_flight.give_place()
        try:
            yield True
        finally:
            self._in_flight.discount(waits)
            await self._in_flight.take_place_again()
            self._is_at_work = True


in_flight = InFlight()
current_ticket: ContextVar[Ticket | None] = ContextVar("current_ticket", default=None)


@asynccontextmanager
async def waiting() -> AsyncIterator[bool]:
    """Wrap what an async view awaits that isn't the database: others are worked on meanwhile.

    Yields False where the person has enough requests waiting already; then don't wait.
    """
    ticket = current_ticket.get()
    if ticket is None:  # not behind the middleware
        yield True
        return
    async with ticket.waiting() as may_wait:
        yield may_wait
