"""An engine with a scripted upstream, new for every test."""

from collections.abc import AsyncIterator

import pytest
from anthropic import DefaultAioHttpClient

from coaching.engine.anthropic_client import AnthropicClient
from tests.engine.upstream import Bench, Upstream, serving


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    """A scripted Messages API over a real socket."""
    async with serving() as server:
        yield server


@pytest.fixture
async def bench(upstream: Upstream) -> AsyncIterator[Bench]:
    """The engine with the real SDK client, set up against the upstream."""
    # Loading the CA certificates takes 60 ms, and there is no TLS here.
    plain = DefaultAioHttpClient(verify=False)
    async with AnthropicClient(api_key="key", base_url=upstream.url, http_client=plain) as client:
        yield Bench(upstream=upstream, client=client)
