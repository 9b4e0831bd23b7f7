"""Tells the other processes that a session changed, so that they look into the database at once.

A ring says nothing but where to look. One that is lost costs a quarter of a second: everybody
looks at least that often while they show a turn that runs elsewhere.
"""

import asyncio
import uuid

import structlog
from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer

from coaching.live.redis_errors import redis_errors

logger = structlog.get_logger(__name__)

GROUP = "sage.runners"
RETRY_SECONDS = 1.0
RING_SECONDS = 0.25


def _layer_errors() -> tuple[type[Exception], ...]:
    return (*redis_errors(), OSError, ChannelFull)


class Doorbell:
    """One process's bell and its ear."""

    def __init__(self) -> None:
        self._layer = get_channel_layer()
        self._rung = asyncio.Event()

    async def ring(self, session_id: uuid.UUID) -> None:
        """Tell everybody; where that fails or takes too long, they find out by themselves."""
        try:
            # Whoever rings has a user waiting: a Redis that hangs must not make them wait too.
            async with asyncio.timeout(RING_SECONDS):
                await self._layer.group_send(GROUP, {"type": "ring", "session": str(session_id)})
        except _layer_errors() as error:
            logger.warning("doorbell_unheard", session_id=str(session_id), error=type(error).__name__)

    async def wait(self, seconds: float) -> None:
        """Wait for a ring, at most `seconds`."""
        try:
            await asyncio.wait_for(self._rung.wait(), seconds)
        except TimeoutError:
            return
        self._rung.clear()

    async def listen(self) -> None:
        """Hear rings until cancelled, through every loss of the layer."""
        while True:
            try:
                channel = await self._layer.new_channel()
                await self._layer.group_add(GROUP, channel)
                while True:
                    await self._layer.receive(channel)
                    self._rung.set()
            except _layer_errors() as error:
                logger.warning("doorbell_lost", error=type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
