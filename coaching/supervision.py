"""Keeps the endless loops of this process running: each begins again after a failure.

What a loop expects, such as a database that is away, it handles itself. Whatever else it raises is a bug,
which is caught here, logged as an error and counted: otherwise a process without its heartbeat, or without
the check for sockets of people who have signed out, would go on answering as if nothing were missing. A loop
that keeps failing makes the process unready.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import structlog

from coaching.engine.metrics import LOOP_FAILURES
from sessions_app.database import is_outage

logger = structlog.get_logger(__name__)

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 15.0
"""The wait before a loop begins again doubles with each failure in a row, up to this."""
STEADY_SECONDS = 60.0
"""A loop that has run for so long works again: its earlier failures count no longer."""
FAILURES_IN_A_ROW = 3
"""After so many, a loop can't be kept running."""
ITEM_WAIT_SECONDS = 5.0
"""An item that has failed is left out for so long."""

Run = Callable[[], Coroutine[Any, Any, None]]


class _Loop:
    """A supervised loop: its failures in a row, and when it last began."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._failures = 0
        self._began_at: float | None = None

    def begin(self) -> None:
        self._began_at = time.monotonic()

    def fail(self) -> float:
        """Count a failure; return how long to wait before it begins again."""
        self._failures = 1 if self._is_steady else self._failures + 1
        self._began_at = None
        return min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** min(self._failures - 1, 16))

    @property
    def is_failing(self) -> bool:
        return self._failures >= FAILURES_IN_A_ROW and not self._is_steady

    @property
    def _is_steady(self) -> bool:
        return self._began_at is not None and time.monotonic() - self._began_at >= STEADY_SECONDS


class Supervisor:
    """The supervised loops of a process."""

    def __init__(self) -> None:
        self._loops: dict[asyncio.Task[None], _Loop] = {}

    def keep(self, name: str, run: Run, *, is_endless: bool = True) -> asyncio.Task[None]:
        """Run a loop in a task until that is cancelled, again after each failure.

        An endless loop that returns has failed, too. With `is_endless=False` its work is then done. `name` is
        the loop's in the log, in metrics and in `/readyz`; several tasks may have the same.
        """
        loop = _Loop(name)
        task = asyncio.create_task(_kept(loop, run, is_endless=is_endless), name=name)
        self._loops[task] = loop
        task.add_done_callback(self._loops.pop)
        return task

    def failing(self) -> Sequence[str]:
        """Return the names of the loops that can't be kept running. Thread-safe."""
        return sorted({loop.name for loop in tuple(self._loops.values()) if loop.is_failing})


supervisor = Supervisor()
"""That of this process."""


def is_ending() -> bool:
    """Say whether the current task has been cancelled, even if something has raised another error since."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _kept(loop: _Loop, run: Run, *, is_endless: bool) -> None:
    while True:
        loop.begin()
        error: BaseException | None = None
        try:
            await run()
        except asyncio.CancelledError as cancelled:
            if is_ending():
                raise
            error = cancelled  # of something that the loop has waited for: nobody has ended the loop
        except Exception as failure:  # noqa: BLE001 - a supervisor: logged below with its traceback
            error = failure
        if error is None and (is_ending() or not is_endless):
            return
        wait_seconds = loop.fail()
        LOOP_FAILURES.labels(loop.name).inc()
        event = "loop_failed" if error else "loop_returned"
        logger.error(event, loop=loop.name, again_after=wait_seconds, exc_info=error)
        if is_ending():
            return
        await asyncio.sleep(wait_seconds)


class Items:
    """The items that a loop handles one by one, such as sessions: one that fails doesn't stop the others."""

    def __init__(self, loop: str) -> None:
        self._loop = loop
        self._failed: dict[Hashable, float] = {}

    def is_due(self, key: Hashable) -> bool:
        """Say whether to handle an item now; one that has just failed is left out for a while."""
        return time.monotonic() >= self._failed.get(key, -math.inf) + ITEM_WAIT_SECONDS

    @contextmanager
    def apart(
        self, key: Hashable, *, on_failure: Callable[[], None] | None = None, **ids: str
    ) -> Iterator[None]:
        """Handle an item in the block. Its failure is logged with `ids` and counted, and ends with the block.

        Raises the errors of a database that is away: then the others would fail as well.
        """
        try:
            yield
        except Exception as failure:
            if is_outage(failure):
                raise
            now = time.monotonic()
            self._failed = {each: at for each, at in self._failed.items() if now < at + ITEM_WAIT_SECONDS}
            self._failed[key] = now
            LOOP_FAILURES.labels(self._loop).inc()
            logger.exception("loop_item_failed", loop=self._loop, **ids)
            if on_failure is not None:
                on_failure()
