"""The model client of this process, behind its circuit breaker.

Without a key and a URL, the practice model is started in this process and used instead. Importing the SDK
takes a second, so that happens in a thread, after the process has started to serve.
"""

import asyncio
import gc
import secrets
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from coaching.engine.breaker import UPSTREAM_IS_DOWN, BreakerClient
from coaching.engine.errors import FailureReason, UpstreamError
from coaching.engine.ports import BatchModelClient
from coaching.model_client.context_size import context_tokens_of
from coaching.model_client.places import Rank
from coaching.model_client.queue import QueuedClient
from coaching.model_client.servers import model_server

if TYPE_CHECKING:
    from coaching.engine.anthropic_client import AnthropicClient
    from coaching.practice.server import PracticeServer

LOOK_FAILURES: frozenset[FailureReason] = UPSTREAM_IS_DOWN.union(
    ("out_of_time", "unknown_model", "unauthorized", "rejected", "too_long")
)
"""Looks all ask the same thing in the same time, so any failure says something about the next one."""


class ModelConnection:
    """Opens the client on first use: one connection pool per process.

    `is_background`: nobody waits for its calls, so they make way for those of persons.
    """

    def __init__(self, *, is_background: bool = False) -> None:
        self._is_background = is_background
        self._client: BreakerClient | None = None
        self._look_client: BreakerClient | None = None
        self._batch_client: BatchModelClient | None = None
        self._resources = AsyncExitStack()
        self._opening = asyncio.Lock()

    async def client(self) -> BreakerClient:
        if self._client is not None:
            return self._client
        async with self._opening:
            if self._client is None:
                client = await self._open()
                looks = QueuedClient(client, Rank.LOOK)
                self._look_client = BreakerClient(looks, is_down=LOOK_FAILURES, counts_slow=True)
                self._batch_client = client
                rank = Rank.JOB if self._is_background else Rank.TURN
                self._client = BreakerClient(QueuedClient(client, rank))
            return self._client

    async def look_client(self) -> BreakerClient:
        """Return the client for second looks: the same connections behind a breaker of its own."""
        await self.client()
        if self._look_client is None:
            raise UpstreamError("unavailable", detail="the connection was closed")
        return self._look_client

    async def batch_client(self) -> BatchModelClient:
        """Return the client for batches, without a breaker: nobody waits for one."""
        await self.client()
        if self._batch_client is None:
            raise UpstreamError("unavailable", detail="the connection was closed")
        return self._batch_client

    async def _open(self) -> "AnthropicClient":
        client_class = await asyncio.to_thread(_load_client)
        if not settings.IS_PRACTICE_MODEL:
            url = settings.ANTHROPIC_BASE_URL
            client = client_class(
                settings.ANTHROPIC_API_KEY,
                url,
                context_of=context_tokens_of,
                reuses_connections=not url.startswith("http://"),  # without TLS a new one costs nothing
            )
            # Limits of time and size depend on it, and those who read them don't wait for it.
            await asyncio.to_thread(model_server)
        else:
            practice_class = await asyncio.to_thread(_load_practice)
            # Its port is open to every user of this machine, so it requires a key that only we know.
            api_key = secrets.token_urlsafe()
            practice = await self._resources.enter_async_context(practice_class(api_key=api_key))
            client = client_class(api_key=api_key, base_url=practice.url, context_of=context_tokens_of)
        self._resources.push_async_callback(client.aclose)
        gc.freeze()  # modules stay loaded: no collection needs to traverse them
        return client

    async def close(self) -> None:
        self._client = self._look_client = self._batch_client = None
        await self._resources.aclose()


def _load_client() -> "type[AnthropicClient]":
    loaded: type[AnthropicClient] = import_string("coaching.engine.anthropic_client.AnthropicClient")
    return loaded


def _load_practice() -> "type[PracticeServer]":
    loaded: type[PracticeServer] = import_string("coaching.practice.server.PracticeServer")
    return loaded
