"""Refusals that wait: each is sent when its time has come, a few in each round of the event loop.

Sent by a timer of its own, each would wake the loop; all that are due at once would hold it up.
"""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

MAX_OF_ONE = 500
"""Refusals of one program, or one address, that may wait at a time."""
MAX_HELD = 1_000
"""The same of all together."""
MAX_IN_ROUND = 5
"""How many are sent before the event loop does something else. Those that are late come in its next round."""
PAUSE_SECONDS = 0.02
"""Between rounds while none is late. Each is late by so much at most, and the loop wakes for several."""


@dataclass(slots=True, order=True)
class Held:
    """A refusal that waits until `due`; it keeps its place until then, also one that is given up."""

    due: float
    number: int
    by: bytes = field(compare=False)
    send: Callable[[], None] | None = field(compare=False)


class HeldRefusals:
    """The refusals that wait in this process. `clock` is Twisted's reactor, or a clock of its tests."""

    def __init__(self, clock: Any, *, most_of_one: int = MAX_OF_ONE) -> None:
        self._clock = clock
        self._most_of_one = most_of_one
        self._waiting: list[Held] = []
        self._by: Counter[bytes] = Counter()
        self._numbers = itertools.count()
        self._round: Any = None
        """The call that begins the next round, while any wait."""

    def hold(self, by: bytes, send: Callable[[], None], *, seconds: float) -> Held | None:
        """Call `send` after some seconds; return None where too many wait already, also `by` one program."""
        if len(self._waiting) >= MAX_HELD or self._by[by] >= self._most_of_one:
            return None
        held = Held(self._clock.seconds() + seconds, next(self._numbers), by, send)
        self._by[by] += 1
        heappush(self._waiting, held)
        self._plan_round(seconds)
        return held

    def give_up(self, held: Held) -> None:
        """Send it to nobody: its connection is gone."""
        held.send = None

    def _send_due(self) -> None:
        self._round = None
        now = self._clock.seconds()
        try:
            for _ in range(MAX_IN_ROUND):
                if not self._waiting or self._waiting[0].due > now:
                    break
                if send := self._take_first():
                    send()
        finally:
            if self._waiting:
                until_due = self._waiting[0].due - now
                self._plan_round(max(PAUSE_SECONDS, until_due) if until_due > 0 else 0.0)

    def _plan_round(self, seconds: float) -> None:
        """Begin the next round so soon, unless it begins sooner. One that is sent may have others held."""
        if self._round is None:
            self._round = self._clock.callLater(seconds, self._send_due)
        elif self._clock.seconds() + seconds < self._round.getTime():
            self._round.reset(seconds)

    def _take_first(self) -> Callable[[], None] | None:
        held = heappop(self._waiting)
        self._by[held.by] -= 1
        if not self._by[held.by]:
            del self._by[held.by]
        return held.send
