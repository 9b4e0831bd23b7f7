"""Writing to a connection: at once where nothing waits before it, and with back-pressure."""

import asyncio
from typing import Any

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


def write_now(transport: Any, data: bytes) -> None:
    """Write to a TCP connection's socket now, where nothing waits before it.

    Twisted would keep it until the loop has come round and watch the socket for that moment: two system calls
    and most of a frame's price. What the socket doesn't take goes the usual way.
    """
    is_idle = transport not in transport.reactor.getWriters()
    sent = transport.writeSomeData(data) if is_idle and transport.connected else 0
    if isinstance(sent, int) and sent < len(data):
        transport.write(data[sent:])
