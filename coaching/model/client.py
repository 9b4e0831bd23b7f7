"""The one client of the model API in this process, behind its circuit breaker.

Where no key and no URL is set, the practice model is started in this process and asked instead. The SDK takes
a second to load: that happens in a thread, once the process serves already, and before anybody has written.
"""

import asyncio
import gc
import secrets
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from coaching.engine.breaker import BreakerClient

if TYPE_CHECKING:
    from coaching.engine.anthropic_client import AnthropicClient
    from coaching.practice.server import PracticeServer


class ModelConnection:
    """Opens the client on first use and keeps it: one connection pool a process."""

    def __init__(self) -> None:
        self._client: BreakerClient | None = None
        self._resources = AsyncExitStack()
        self._opening = asyncio.Lock()

    async def client(self) -> BreakerClient:
        """Return the client, opened now if it isn't: the practice model's where no key and no URL is set."""
        if self._client is not None:
            return self._client
        async with self._opening:
            if self._client is None:
                self._client = await self._open()
            return self._client

    async def _open(self) -> BreakerClient:
        client_class = await asyncio.to_thread(_load_client)
        if not settings.IS_PRACTICE_MODEL:
            client = client_class(settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL)
        else:
            practice_class = await asyncio.to_thread(_load_practice)
            # Others on this machine can reach its port, so it answers this start's key alone.
            api_key = secrets.token_urlsafe()
            practice = await self._resources.enter_async_context(practice_class(api_key=api_key))
            client = client_class(api_key=api_key, base_url=practice.url)
        self._resources.push_async_callback(client.aclose)
        gc.freeze()  # what was loaded just now stays: no collection needs to walk it
        return BreakerClient(client)

    async def close(self) -> None:
        """Close the client's connections and the practice model, if it runs."""
        self._client = None
        await self._resources.aclose()


def _load_client() -> "type[AnthropicClient]":
    loaded: type[AnthropicClient] = import_string("coaching.engine.anthropic_client.AnthropicClient")
    return loaded


def _load_practice() -> "type[PracticeServer]":
    loaded: type[PracticeServer] = import_string("coaching.practice.server.PracticeServer")
    return loaded
