"""Scans long texts for danger off the event loop, with a limit per person.

The longest texts take up to a tenth of a second, and a scanning thread slows down all others. So a person's
texts are scanned one after another, with a pause after a long one. A short message is scanned where its turn
is opened.
"""

import asyncio
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakValueDictionary

from asgiref.sync import async_to_sync

from coaching.safety.card import danger_in, metadata_of_danger
from coaching.safety.danger import Danger
from sessions_app.database import give_back_connections, in_database
from sessions_app.queries import Condition, run_query
from sessions_app.rate import RateLimit
from sessions_app.services import refuse_early

LONG_CHARACTERS = 1000
"""Shorter texts take at most a few milliseconds."""
THREADS = 2
PAUSE = 3.0
"""A person's next text waits this many times as long as the long one took."""


class DangerScans:
    """This process's scans, for one event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="danger")
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def danger_in(self, words: object, *, user_id: int) -> Danger | None:
        """Return the danger found in the text, after the person's earlier texts."""
        loop = asyncio.get_running_loop()
        # A weak reference: the lock lives as long as somebody holds it or waits for it.
        lock = self._locks.setdefault(user_id, asyncio.Lock())
        await lock.acquire()
        pause = 0.0
        try:
            danger, seconds = await loop.run_in_executor(self._threads, _timed_scan, words)
            pause = PAUSE * seconds if is_long(words) else 0.0
        finally:
            # The pending call holds the lock, so the pause outlasts this call.
            loop.call_later(pause, lock.release)
        return danger


def _timed_scan(words: object) -> tuple[Danger | None, float]:
    began = time.thread_time()
    return danger_in(words), time.thread_time() - began


def is_long(words: object) -> bool:
    """Return whether scanning a text takes long."""
    return isinstance(words, str) and len(words) > LONG_CHARACTERS


scans = DangerScans()


def danger_in_now(text: str, *, user_id: int) -> Danger | None:
    """Return the danger in a text from sync code, outside transactions."""
    if not is_long(text):
        return danger_in(text)
    give_back_connections()  # the scan may wait for the person's earlier texts
    return async_to_sync(scans.danger_in)(text, user_id=user_id)


async def scan_before_opening(
    *,
    user_id: int,
    session_id: uuid.UUID,
    text: object,
    client_id: object,
    rate_limit: RateLimit,
    access: Condition | None = None,
) -> dict[str, Any]:
    """Scan a long text unless its turn would be refused; return metadata. Raises what opening it would."""

    def check() -> None:
        if access is not None:
            access.check(run_query(access.query))
        refuse_early(
            user_id=user_id, session_id=session_id, text=text, client_id=client_id, rate_limit=rate_limit
        )

    await in_database(check)
    return metadata_of_danger(await scans.danger_in(text, user_id=user_id))
