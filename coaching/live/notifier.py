"""Notifies the other processes that a session changed, so that they read it from the database at once.

A notification carries only the session's id. Losing one costs a quarter of a second: a process that shows a
turn of another one reads at least that often.
"""

import asyncio
import uuid

import structlog
from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from django.conf import settings

from sessions_app.redis_errors import redis_errors

logger = structlog.get_logger(__name__)

GROUP = "sage.runners"
RETRY_SECONDS = 1.0
NOTIFY_SECONDS = 0.25


def _layer_errors() -> tuple[type[Exception], ...]:
    return (*redis_errors(), OSError, ChannelFull)


class Notifier:
    """Sends and receives one process's notifications."""

    def __init__(self) -> None:
        self._layer = get_channel_layer()
        self._received = asyncio.Event()
        self._sending: set[asyncio.Task[None]] = set()

    def announce(self, session_id: uuid.UUID) -> None:
        """Notify all processes, and wait for nothing; where that fails, they notice by themselves."""
        if settings.REDIS_URL:
            task = asyncio.create_task(self._send(session_id), name="notify")
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _send(self, session_id: uuid.UUID) -> None:
        try:
            async with asyncio.timeout(NOTIFY_SECONDS):
                await self._layer.group_send(GROUP, {"type": "session_changed", "session": str(session_id)})
        except _layer_errors() as error:
            logger.warning("notification_send_failed", session_id=str(session_id), error=type(error).__name__)

    def poke(self) -> None:
        """End this process's own wait."""
        self._received.set()

    async def wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._received.wait(), seconds)
        except TimeoutError:
            return
        self._received.clear()

    async def listen(self) -> None:
        """Receive notifications until cancelled, whatever happens to the channel layer."""
        while True:
            try:
                channel = await self._layer.new_channel()
                await self._layer.group_add(GROUP, channel)
                while True:
                    await self._layer.receive(channel)
                    self._received.set()
            except _layer_errors() as error:
                logger.warning("notification_receive_failed", error=type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
