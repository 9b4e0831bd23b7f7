"""The limits and counters of one part of a turn, and the user's stop.

Every part has its own `PartBudget`, so time spent waiting for the user doesn't count.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from coaching.engine.retry import FIRST_WAIT_SECONDS

WORDS_ONLY_SECONDS = 8.0
"""With less time than this left, the request forbids tools, so that the round can still end in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLimits:
    """The limits of one part; `seconds` is wall-clock time.

    A failed round is requested again after at most `first_wait_seconds`, then after twice that.
    """

    max_rounds: int = 5
    seconds: float = 55.0
    max_tool_calls: int = 15
    max_upstream_requests: int = 15
    first_wait_seconds: float = FIRST_WAIT_SECONDS


class StopSignal:
    """The user's request to stop, made once, on the event loop that runs the part."""

    def __init__(self) -> None:
        self._is_requested = False
        self._watchers: list[Callable[[], None]] = []

    @property
    def is_requested(self) -> bool:
        return self._is_requested

    def request(self) -> None:
        """Stop the part; a wait for upstream ends at once."""
        self._is_requested = True
        for watcher in tuple(self._watchers):
            watcher()

    @contextmanager
    def watched_by(self, watcher: Callable[[], None]) -> Iterator[None]:
        """Call `watcher` if a stop is requested while the block runs."""
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)


class PartBudget:
    """Counts what one part uses."""

    def __init__(self, limits: PartLimits) -> None:
        self.limits = limits
        self.rounds = 0
        self.tool_calls = 0
        self.upstream_requests = 0
        self.deadline = asyncio.get_running_loop().time() + limits.seconds

    def remaining_seconds(self) -> float:
        return max(0.0, self.deadline - asyncio.get_running_loop().time())

    def open_round(self) -> bool:
        """Count a round and return whether it must end in words, because no budget is left for calls."""
        self.rounds += 1
        return (
            self.rounds >= self.limits.max_rounds
            or self.tool_calls >= self.limits.max_tool_calls
            or self.upstream_requests + 1 >= self.limits.max_upstream_requests
            or self.remaining_seconds() < min(WORDS_ONLY_SECONDS, self.limits.seconds / 4)
        )

    def admits_call(self) -> bool:
        """Count a tool call and return whether it may run."""
        self.tool_calls += 1
        return self.tool_calls <= self.limits.max_tool_calls

    def admits_request(self) -> bool:
        """Count a request to the model and return whether it may be sent."""
        if self.upstream_requests >= self.limits.max_upstream_requests:
            return False
        self.upstream_requests += 1
        return True
