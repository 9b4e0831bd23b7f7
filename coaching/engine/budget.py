"""What bounds one part of a turn: its limits, its counters, and the user's stop.

The counters live in one `PartBudget` per part, never in a module: two turns never share a number.
Waiting for the user costs nothing, since every part gets a budget of its own.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

WORDS_ONLY_SECONDS = 8.0
"""With less wall clock than this left, a round is asked without tools: it can still end in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLimits:
    """The bounds of one part; `seconds` is wall clock."""

    max_rounds: int = 5
    seconds: float = 55.0
    max_tool_calls: int = 15
    max_upstream_requests: int = 15


class StopSignal:
    """The user's wish to stop, set once, from the event loop that runs the part."""

    def __init__(self) -> None:
        self._is_requested = False
        self._watchers: list[Callable[[], None]] = []

    @property
    def is_requested(self) -> bool:
        """Whether the user asked to stop."""
        return self._is_requested

    def request(self) -> None:
        """Ask the part to stop: whatever it waits for upstream ends at once."""
        self._is_requested = True
        for watcher in tuple(self._watchers):
            watcher()

    @contextmanager
    def watched_by(self, watcher: Callable[[], None]) -> Iterator[None]:
        """Call `watcher` when the stop is requested while the block runs."""
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)


class PartBudget:
    """Counts what one part has used."""

    def __init__(self, limits: PartLimits) -> None:
        self.limits = limits
        self.rounds = 0
        self.tool_calls = 0
        self.upstream_requests = 0
        self.deadline = asyncio.get_running_loop().time() + limits.seconds

    def remaining_seconds(self) -> float:
        """Return the wall clock that is left, never negative."""
        return max(0.0, self.deadline - asyncio.get_running_loop().time())

    def open_round(self) -> bool:
        """Count a round and return whether it must end in words: no budget is left for its calls."""
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
