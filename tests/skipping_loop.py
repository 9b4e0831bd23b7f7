"""An event loop whose clock skips what nobody does anything in, for waits of minutes in a moment.

Who reads from a socket must have its peer in the same loop: it counts as idle after a few milliseconds.
"""

import asyncio
import selectors

IDLE_SECONDS = 0.02

_Ready = list[tuple[selectors.SelectorKey, int]]


class SkippingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        return super().time() + self._skipping.skipped_seconds


class _SkippingSelector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.skipped_seconds = 0.0

    def select(self, timeout: float | None = None) -> _Ready:
        if timeout is None or timeout <= IDLE_SECONDS:
            return super().select(timeout)
        ready = super().select(IDLE_SECONDS)
        if not ready:
            self.skipped_seconds += timeout - IDLE_SECONDS
        return ready
