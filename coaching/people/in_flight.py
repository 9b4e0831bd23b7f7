"""Limits on requests in flight: per person, and for this process.

A request that waits for something other than the database (an answer, a feed) gives up its slot, and others
run meanwhile. Counted in memory, per process.
"""

import asyncio
import threading
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from weakref import WeakValueDictionary

from coaching.people.turn_starts import turn_starts

MAX_PER_PERSON = 10
"""Requests in flight per person, per token, or per browser that isn't signed in."""
MAX_PER_ADDRESS = 20
"""The same per address, which many people may share."""
MAX_KNOWN_BROWSERS = 10_000
"""How many signed-in browsers are remembered."""
MAX_RUNNING = 16
"""Requests of all people that may hold a database connection; the pool is larger (`sage.settings`)."""
MAX_RUNNING_PER_TOKEN = 2
"""Of them, those of one token of a program: many at once would keep the interpreter from everybody else."""
MAX_WAITING_PER_PERSON = 4
"""A person's requests that may wait for an answer or a feed; the others are for pages."""
QUEUE_SECONDS = 3.0
TOKEN_QUEUE_SECONDS = 10.0
"""How long a request waits for a slot, and before that for others of its token."""


class TooManyInFlight(Exception):
    """A person or a token has too many requests in flight."""


class TooBusy(Exception):
    """No slot became free in time."""


class InFlight:
    """The requests in flight. Counting is thread-safe; slots belong to the event loop."""

    def __init__(self, *, token_queue_seconds: float = TOKEN_QUEUE_SECONDS) -> None:
        self.token_queue_seconds = token_queue_seconds
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._slots = asyncio.Semaphore(MAX_RUNNING)
        self._slots_of_tokens: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def count(self, key: str, most: int) -> bool:
        """Count a request under a key; return False if there are `most` already."""
        with self._lock:
            is_counted = self._counts[key] < most
            if is_counted:
                self._counts[key] += 1
            return is_counted

    def uncount(self, key: str) -> None:
        with self._lock:
            self._counts[key] -= 1
            if self._counts[key] <= 0:
                del self._counts[key]

    def slots_of(self, token: str) -> asyncio.Semaphore:
        """Return the slots of a token, which are kept as long as a request of it is in flight."""
        slots = self._slots_of_tokens.get(token)
        if slots is None:
            slots = self._slots_of_tokens[token] = asyncio.Semaphore(MAX_RUNNING_PER_TOKEN)
        return slots

    async def take_slot(self) -> None:
        """Wait for a slot. Raises `TooBusy` after `QUEUE_SECONDS`."""
        try:
            async with asyncio.timeout(QUEUE_SECONDS):
                await self._slots.acquire()
        except TimeoutError:
            raise TooBusy from None

    async def take_slot_again(self) -> None:
        """Wait for a slot without a time limit: the request is half done."""
        await self._slots.acquire()

    def release_slot(self) -> None:
        self._slots.release()


class SignedInBrowsers:
    """The browsers whose last request was signed in, by cookie. Clients can forge any other cookie."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._people: OrderedDict[str, int] = OrderedDict()

    def __contains__(self, browser: str) -> bool:
        return browser in self._people

    def person_of(self, browser: str) -> int | None:
        """Return the key of the user who was signed in; None for an unknown browser."""
        return self._people.get(browser)

    def learn(self, browser: str, *, user_id: int | None) -> None:
        """Remember a browser, or forget one that isn't signed in."""
        with self._lock:
            self._people.pop(browser, None)
            if user_id is not None:
                self._people[browser] = user_id
            if len(self._people) > MAX_KNOWN_BROWSERS:
                self._people.popitem(last=False)


class Ticket:
    """A request in flight: the keys it is counted under, and whether it has a slot, also of its token."""

    def __init__(self, in_flight: InFlight) -> None:
        self._in_flight = in_flight
        self._keys: list[str] = []
        self._has_slot = False
        self._of_token: asyncio.Semaphore | None = None

    def count(self, key: str, most: int) -> None:
        """Count the request under another key. Raises `TooManyInFlight`."""
        if not self._in_flight.count(key, most):
            raise TooManyInFlight
        self._keys.append(key)

    async def begin(self, *, token: str = "") -> None:
        """Wait for a slot, first for one of a program's token. Raises `TooManyInFlight` and `TooBusy`.

        Only some of a token may wait: they also count for their address, which many people may share. A
        program's request also waits while a turn opens.
        """
        if token:
            self.count(f"token {token}", MAX_PER_PERSON)
            slots = self._in_flight.slots_of(token)
            try:
                async with asyncio.timeout(self._in_flight.token_queue_seconds):
                    await slots.acquire()
            except TimeoutError:
                raise TooManyInFlight from None
            self._of_token = slots
            await turn_starts().wait_for_quiet()
        await self._in_flight.take_slot()
        self._has_slot = True

    def end(self) -> None:
        if self._has_slot:
            self._has_slot = False
            self._in_flight.release_slot()
        if self._of_token is not None:
            self._of_token.release()
            self._of_token = None
        while self._keys:
            self._in_flight.uncount(self._keys.pop())

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[bool]:
        """Release the slots meanwhile. Yields False if the person already has enough requests waiting."""
        waits = f"{self._keys[-1]} waits"
        if not self._in_flight.count(waits, MAX_WAITING_PER_PERSON):
            yield False
            return
        of_token, self._of_token = self._of_token, None
        self._has_slot = False
        self._in_flight.release_slot()
        if of_token is not None:
            of_token.release()
        try:
            yield True
        finally:
            self._in_flight.uncount(waits)
            if of_token is not None:
                await of_token.acquire()
                self._of_token = of_token
            await self._in_flight.take_slot_again()
            self._has_slot = True


in_flight = InFlight()
signed_in_browsers = SignedInBrowsers()
current_ticket: ContextVar[Ticket | None] = ContextVar("current_ticket", default=None)


@asynccontextmanager
async def waiting() -> AsyncIterator[bool]:
    """Wrap waits for anything but the database. Yields False if too many of the person's requests wait."""
    ticket = current_ticket.get()
    if ticket is None:  # without the middleware
        yield True
        return
    async with ticket.waiting() as may_wait:
        yield may_wait
