"""A person's pages and photos are drawn one after another, so that others needn't wait for all of them."""

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar
from weakref import WeakKeyDictionary

from django.utils.translation import gettext_noop

from coaching.library.pipeline.page_rendering import WAIT_SECONDS
from coaching.people.in_flight import waiting
from sessions_app.errors import Refused
from sessions_app.languages import in_active_language

THREADS = 8
"""They mostly wait for one of the processes."""
PEOPLE_TOLD_APART = 64
BUSY = gettext_noop("Sage is showing many pages right now. Try again in a moment.")

Result = TypeVar("Result")

_threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="drawing")
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Sequence[asyncio.Lock]] = WeakKeyDictionary()
"""A person's: a page in two tabs is drawn once."""


class Busy(Refused):
    """A page or photo that couldn't be drawn just now: another attempt may succeed."""


async def in_turn(user_id: int, draw: Callable[[], Result]) -> Result:
    """Draw something when the person's earlier ones are done. Waiting for that takes no thread.

    The request holds no slot meanwhile. Raises `Busy`.
    """
    async with waiting() as may_wait:
        if not may_wait:
            raise Busy(BUSY)
        return await _in_turn(user_id, draw)


async def _in_turn(user_id: int, draw: Callable[[], Result]) -> Result:
    loop = asyncio.get_running_loop()
    turns = _turns.setdefault(loop, [asyncio.Lock() for _ in range(PEOPLE_TOLD_APART)])
    turn = turns[user_id % len(turns)]
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await turn.acquire()
    except TimeoutError:
        raise Busy(BUSY) from None
    in_context = partial(contextvars.copy_context().run, in_active_language(draw))
    drawing = loop.run_in_executor(_threads, in_context)
    drawing.add_done_callback(lambda _: turn.release())
    # A thread can't be stopped: if nobody awaits it any more, the turn lasts until it is drawn.
    return await asyncio.shield(drawing)
