"""The circuit breaker: who is blocked, for how long, and what doesn't open it."""

from collections.abc import AsyncIterator

import pytest

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.breaker import FAILURES_TO_OPEN, SECONDS_TO_PROBE, BreakerClient
from coaching.engine.errors import UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.practice.faults.fault import Fault
from coaching.practice.server import PracticeServer

REQUEST = ModelRequest(
    model="claude-sonnet-5-5", max_tokens=100, messages=[{"role": "user", "content": "Hello"}]
)


class Clock:
    """A clock set by the test."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def server() -> AsyncIterator[PracticeServer]:
    async with PracticeServer(keeps_bodies=True, tokens_per_second=0) as running:
        yield running


@pytest.fixture
async def client(server: PracticeServer) -> AsyncIterator[AnthropicClient]:
    async with AnthropicClient("practice", server.url) as opened:
        yield opened


async def ask(breaker: BreakerClient) -> str:
    """Send a request and return its outcome: the text, or the failure's reason."""
    try:
        async with breaker.stream(REQUEST) as stream:
            async for _ in stream:
                pass
            return stream.reply().text
    except UpstreamError as error:
        return error.reason


async def test_it_opens_after_five_failures_in_a_row_and_then_asks_nobody(
    server: PracticeServer, client: AnthropicClient
) -> None:
    breaker = BreakerClient(client, clock=Clock())
    server.faults.push(*[Fault(kind="status", status=529)] * 10)
    outcomes = [await ask(breaker) for _ in range(FAILURES_TO_OPEN + 3)]
    assert outcomes == ["overloaded"] * FAILURES_TO_OPEN + ["circuit_open"] * 3
    assert len(server.requests) == FAILURES_TO_OPEN


async def test_one_probe_passes_after_thirty_seconds_and_closes_it_where_it_succeeds(
    server: PracticeServer, client: AnthropicClient
) -> None:
    clock = Clock()
    breaker = BreakerClient(client, clock=clock)
    server.faults.push(*[Fault(kind="status", status=500)] * (FAILURES_TO_OPEN + 1))
    for _ in range(FAILURES_TO_OPEN):
        await ask(breaker)
    clock.now = SECONDS_TO_PROBE - 0.1
    assert await ask(breaker) == "circuit_open"
    clock.now = SECONDS_TO_PROBE
    assert await ask(breaker) == "unavailable"
    assert await ask(breaker) == "circuit_open"
    clock.now += SECONDS_TO_PROBE
    server.script(["Back again.", "And again."])
    assert await ask(breaker) == "Back again."
    assert await ask(breaker) == "And again."


async def test_a_request_that_is_itself_at_fault_opens_nothing(
    server: PracticeServer, client: AnthropicClient
) -> None:
    breaker = BreakerClient(client, clock=Clock())
    for status in (400, 401, 413, 429, 400, 403, 404, 400):
        server.faults.push(Fault(kind="status", status=status))
        assert await ask(breaker) not in {"circuit_open", "unavailable"}
    server.script(["Fine."])
    assert await ask(breaker) == "Fine."


async def test_a_success_starts_the_count_anew(server: PracticeServer, client: AnthropicClient) -> None:
    breaker = BreakerClient(client, clock=Clock())
    for _ in range(3):
        server.faults.push(*[Fault(kind="status", status=529)] * (FAILURES_TO_OPEN - 1))
        for _ in range(FAILURES_TO_OPEN - 1):
            assert await ask(breaker) == "overloaded"
        server.script(["Fine."])
        assert await ask(breaker) == "Fine."


async def test_while_a_probe_runs_nobody_else_asks(server: PracticeServer, client: AnthropicClient) -> None:
    clock = Clock()
    breaker = BreakerClient(client, clock=clock)
    server.faults.push(*[Fault(kind="status", status=529)] * FAILURES_TO_OPEN)
    for _ in range(FAILURES_TO_OPEN):
        await ask(breaker)
    clock.now = SECONDS_TO_PROBE
    server.script(["One.", "Two."])
    async with breaker.stream(REQUEST) as stream:
        assert await ask(breaker) == "circuit_open"
        async for _ in stream:
            pass
    assert await ask(breaker) == "Two."
