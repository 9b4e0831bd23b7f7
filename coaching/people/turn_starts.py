"""Limits how many turns this process starts at once, in order of arrival.

Starting is what the process does before a model can answer: it reads and stores, and sends the request. Many
starts at once would share the interpreter, and each would end when the last one does. Second looks, the ends
of answers that were shown, and programs' requests wait for starts, each for a limited time.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from weakref import WeakKeyDictionary

AT_ONCE = 2
"""How many turns start at once; more would only take the interpreter from each other."""
SLOT_SECONDS = 0.05
"""How long a turn keeps its slot: one that waits for a lock or the database mustn't keep others waiting."""
ROUNDS_TO_SEND = 3
"""Rounds of the event loop in which a turn that was stored sends its request over a kept connection."""
QUIET_SECONDS = 0.1
"""How long programs' requests wait after a turn has begun to start: about as long as starting takes."""
MAX_WAIT_SECONDS = 1.0
"""How long a program's request waits at most while turn after turn starts."""


class TurnStarts:
    """The starts of one event loop; a process that answers has one."""

    def __init__(self, *, slot_seconds: float = SLOT_SECONDS) -> None:
        self._slot_seconds = slot_seconds
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._count = 0
        self._none_left = asyncio.Event()
        self._none_left.set()
        self._busy_until = 0.0

    @property
    def busy_until(self) -> float:
        """Event-loop time until which programs' requests wait."""
        return self._busy_until

    @property
    def are_over(self) -> bool:
        """Whether no turn is starting or waits to start."""
        return self._none_left.is_set()

    @asynccontextmanager
    async def slot(self, *, is_of_program: bool = False) -> AsyncIterator[None]:
        """Wait for a slot, and keep it while the block stores a turn and its request is sent.

        Programs' requests don't wait for a program's own turn.
        """
        self._count += 1
        self._none_left.clear()
        with ExitStack() as entered:
            entered.callback(self._count_one_less)
            self._note_start(is_of_program=is_of_program)
            await self._slots.acquire()
            entered.callback(self._slots.release)
            slot = entered.pop_all()
        self._note_start(is_of_program=is_of_program)
        too_long = asyncio.get_running_loop().call_later(self._slot_seconds, slot.close)
        slot.callback(too_long.cancel)
        try:
            yield
        finally:
            _close_later(slot, ROUNDS_TO_SEND)

    async def wait_until_over(self, *, seconds: float) -> None:
        """Wait until no turn is starting, at most so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._none_left.wait()

    async def wait_for_quiet(self) -> None:
        """Wait until no turn of a person has begun to start for a while, at most `MAX_WAIT_SECONDS`."""
        clock = asyncio.get_running_loop().time
        latest = clock() + MAX_WAIT_SECONDS
        while clock() < (until := min(self._busy_until, latest)):
            pause = until - clock()
            await asyncio.sleep(pause)

    def _note_start(self, *, is_of_program: bool) -> None:
        if not is_of_program:
            self._busy_until = asyncio.get_running_loop().time() + QUIET_SECONDS

    def _count_one_less(self) -> None:
        self._count -= 1
        if not self._count:
            self._none_left.set()


def _close_later(slot: ExitStack, rounds: int) -> None:
    """Close a slot after some rounds of the event loop."""
    if rounds:
        asyncio.get_running_loop().call_soon(_close_later, slot, rounds - 1)
    else:
        slot.close()


_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, TurnStarts] = WeakKeyDictionary()


def turn_starts() -> TurnStarts:
    """Return the running event loop's starts."""
    loop = asyncio.get_running_loop()
    found = _of_loops.get(loop)
    if found is None:
        found = _of_loops[loop] = TurnStarts()
    return found
