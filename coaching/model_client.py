"""The one client of the model API in this process, behind its circuit breaker.

Where no key and no URL is set, the practice model is started in this process and asked instead.
"""

import asyncio
from contextlib import AsyncExitStack

from django.conf import settings

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.breaker import BreakerClient
from coaching.practice.server import PracticeServer


class ModelConnection:
    """Opens the client on first use and keeps it: one connection pool a process."""

    def __init__(self) -> None:
        self._client: BreakerClient | None = None
        self._resources = AsyncExitStack()
        self._opening = asyncio.Lock()

    async def client(self) -> BreakerClient:
        """Return the client, opened now if it isn't: the practice model's where no key and no URL is set."""
        async with self._opening:
            if self._client is None:
                self._client = await self._open()
            return self._client

    async def _open(self) -> BreakerClient:
        if not settings.IS_PRACTICE_MODEL:
            client = AnthropicClient(settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL)
        else:
            practice = await self._resources.enter_async_context(PracticeServer())
            client = AnthropicClient(api_key="practice", base_url=practice.url)
        self._resources.push_async_callback(client.aclose)
        return BreakerClient(client)

    async def close(self) -> None:
        """Close the client's connections and the practice model, if it runs."""
        self._client = None
        await self._resources.aclose()
