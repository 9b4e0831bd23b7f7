"""Back-pressure: makes Twisted's write buffer awaitable."""

import asyncio

from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer


@implementer(IPushProducer)
class Outlet:
    """Whether a connection's reader keeps up: open until Twisted's write buffer is full."""

    def __init__(self) -> None:
        self._is_open = asyncio.Event()
        self._is_open.set()

    @property
    def is_open(self) -> bool:
        return self._is_open.is_set()

    def pauseProducing(self) -> None:  # noqa: N802 - the library calls it so
        self._is_open.clear()

    def resumeProducing(self) -> None:  # noqa: N802 - the library calls it so
        self._is_open.set()

    def stopProducing(self) -> None:  # noqa: N802 - the library calls it so
        """Open permanently: the connection is gone and nobody has to wait for it."""
        self._is_open.set()

    async def wait(self, seconds: float) -> bool:
        """Wait until the reader has caught up; False if it doesn't within `seconds`."""
        if self._is_open.is_set():
            return True
        try:
            await asyncio.wait_for(self._is_open.wait(), seconds)
        except TimeoutError:
            return False
        return True
