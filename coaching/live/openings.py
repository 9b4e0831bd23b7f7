"""Openings of turns, one at a time in a person's session.

Whoever sends a message again then finds its turn running, to wait for it. The database keeps turns apart by
itself. So nobody waits here for long: while the database is away, each opening takes seconds to fail, and
with its refusal come the help lines for a message that speaks of danger.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from weakref import WeakValueDictionary

Key = tuple[asyncio.AbstractEventLoop, int, uuid.UUID]
WAIT_SECONDS = 3.0
"""How long an opening waits for others of its session: a database that answers takes a fraction of that."""


class Openings:
    """The openings of one process, apart for each event loop: a lock belongs to one."""

    def __init__(self, *, wait_seconds: float = WAIT_SECONDS) -> None:
        self._wait_seconds = wait_seconds
        self._locks: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def one(self, *, user_id: int, session_id: uuid.UUID) -> AsyncIterator[None]:
        """Wait until no other opening of this person in the session runs, at most for the time limit."""
        key = (asyncio.get_running_loop(), user_id, session_id)
        lock = self._locks.setdefault(key, asyncio.Lock())
        with ExitStack() as held:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._wait_seconds):
                    await lock.acquire()
                    held.callback(lock.release)
            yield
