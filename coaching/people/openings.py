"""Which turns of this process are opening: few at a time, first come, first served.

Opening is what the process does before a model can answer: it reads and stores, and sends the request. Many
openings at once would share the interpreter, and each would end when the last one does. What can wait for
openings does, a second at most: a second look, the end of an answer that was shown, requests of programs.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from weakref import WeakKeyDictionary

AT_ONCE = 2
"""How many turns open at once; more would only take the interpreter from each other."""
PLACE_SECONDS = 0.1
"""How long a turn keeps its place: one that waits for a lock or the database mustn't keep others waiting."""
ROUNDS_TO_SEND = 3
"""Rounds of the event loop in which a turn that was stored sends its request."""
CALM_SECONDS = 0.1
"""How long after a turn has begun to open requests of programs wait: about as long as opening takes."""
MAX_WAIT_SECONDS = 1.0
"""How long anything waits at most while turn after turn opens."""


class Openings:
    """The openings of one event loop; a process that answers has one."""

    def __init__(self, *, place_seconds: float = PLACE_SECONDS, calm_seconds: float = CALM_SECONDS) -> None:
        self._place_seconds = place_seconds
        self._calm_seconds = calm_seconds
        self._places = asyncio.Semaphore(AT_ONCE)
        self._count = 0
        self._none_left = asyncio.Event()
        self._none_left.set()
        self._busy_until = 0.0

    @property
    def busy_until(self) -> float:
        """Until when requests of programs wait, by the event loop's clock."""
        return self._busy_until

    @asynccontextmanager
    async def turn(self, *, is_of_program: bool = False) -> AsyncIterator[None]:
        """Wait for a place, and keep it while the block stores a turn and until its request has left.

        Requests of programs needn't wait for a turn of theirs.
        """
        loop = asyncio.get_running_loop()
        if not is_of_program:
            self._busy_until = loop.time() + self._calm_seconds
        self._count += 1
        self._none_left.clear()
        with ExitStack() as entered:
            entered.callback(self._count_one_less)
            await self._places.acquire()
            entered.callback(self._places.release)
            place = entered.pop_all()
        too_long = loop.call_later(self._place_seconds, place.close)
        place.callback(too_long.cancel)
        try:
            yield
        finally:
            _close_later(place, ROUNDS_TO_SEND)

    async def wait_for_all(self) -> None:
        """Wait until no turn opens, at most `MAX_WAIT_SECONDS`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                await self._none_left.wait()

    async def wait_for_calm(self) -> None:
        """Wait until no turn of a person has begun to open for a while, at most `MAX_WAIT_SECONDS`."""
        clock = asyncio.get_running_loop().time
        latest = clock() + MAX_WAIT_SECONDS
        while clock() < (until := min(self._busy_until, latest)):
            pause = until - clock()
            await asyncio.sleep(pause)

    def _count_one_less(self) -> None:
        self._count -= 1
        if not self._count:
            self._none_left.set()


def _close_later(place: ExitStack, rounds: int) -> None:
    """Close a place after some rounds of the event loop."""
    if rounds:
        asyncio.get_running_loop().call_soon(_close_later, place, rounds - 1)
    else:
        place.close()


_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, Openings] = WeakKeyDictionary()


def openings() -> Openings:
    """Return those of the running event loop."""
    loop = asyncio.get_running_loop()
    found = _of_loops.get(loop)
    if found is None:
        found = _of_loops[loop] = Openings()
    return found
