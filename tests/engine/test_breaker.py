"""The circuit breaker: who is blocked, for how long, and what doesn't open it."""

from collections.abc import AsyncIterator

import pytest
from anthropic import DefaultAioHttpClient

from coaching.engine.anthropic_client import AnthropicClient
from coaching.engine.breaker import (
    FAILURES_TO_OPEN,
    SECONDS_OF_PROBE,
    SECONDS_TO_PROBE,
    BreakerClient,
)
from coaching.engine.errors import UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import DEFAULT_TIMEOUTS, StreamTimeouts
from coaching.practice.faults.fault import Fault
from coaching.practice.server import PracticeServer

REQUEST = ModelRequest(
    model="claude-sonnet-5-5", max_tokens=100, messages=[{"role": "user", "content": "Hello"}]
)
ADA, BEA = 1, 2


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
    async with AnthropicClient(
        "practice", server.url, http_client=DefaultAioHttpClient(verify=False)
    ) as opened:
        yield opened


async def turn(
    breaker: BreakerClient,
    person: int,
    *,
    is_only_person: bool = False,
    timeouts: StreamTimeouts = DEFAULT_TIMEOUTS,
) -> str:
    """Run a turn of one request; return its text or why it failed, and whether this person's alone do."""
    try:
        async with breaker.of(person).stream(REQUEST, timeouts=timeouts) as stream:
            async for _ in stream:
                pass
            text = stream.reply().text
    except UpstreamError as error:
        is_alone = breaker.note_failed(person, error, is_only_person=is_only_person)
        return f"{error.reason} alone" if is_alone else error.reason
    breaker.note_answered(person)
    return text


async def wait_told(breaker: BreakerClient, person: int) -> float:
    """Return the seconds that somebody is told to wait while the breaker is open."""
    with pytest.raises(UpstreamError) as told:
        async with breaker.of(person).stream(REQUEST):
            pass
    assert told.value.reason == "circuit_open"
    assert told.value.retry_after_seconds
    return told.value.retry_after_seconds


async def open_it(server: PracticeServer, breaker: BreakerClient) -> None:
    server.faults.push(*[Fault(kind="status", status=529)] * FAILURES_TO_OPEN)
    for number in range(FAILURES_TO_OPEN):
        assert await turn(breaker, (ADA, BEA)[number % 2]) == "overloaded"


async def test_it_opens_after_five_failed_turns_of_two_people_and_then_asks_nobody(
    server: PracticeServer, client: AnthropicClient
) -> None:
    clock = Clock()
    breaker = BreakerClient(client, clock=clock)
    await open_it(server, breaker)
    clock.now = 10
    assert [await turn(breaker, person) for person in (ADA, BEA, 3)] == ["circuit_open"] * 3
    assert await wait_told(breaker, ADA) == SECONDS_TO_PROBE - 10
    assert len(server.requests) == FAILURES_TO_OPEN


@pytest.mark.slow
@pytest.mark.parametrize("status", [500, 503, 529])
async def test_thirty_failed_turns_of_one_person_block_nobody(
    server: PracticeServer, client: AnthropicClient, status: int
) -> None:
    breaker = BreakerClient(client, clock=Clock())
    server.faults.push(*[Fault(kind="status", status=status)] * 30)
    outcomes = [await turn(breaker, ADA) for _ in range(30)]
    assert "circuit_open" not in outcomes
    assert all("alone" not in outcome for outcome in outcomes[: FAILURES_TO_OPEN - 1])
    assert all("alone" in outcome for outcome in outcomes[FAILURES_TO_OPEN - 1 :])
    server.script(["For Bea.", "For Ada."])
    assert await turn(breaker, BEA) == "For Bea."
    assert await turn(breaker, ADA) == "For Ada."


async def test_who_alone_fails_is_told_so_once_others_have_answers(
    server: PracticeServer, client: AnthropicClient
) -> None:
    breaker = BreakerClient(client, clock=Clock())
    fault = Fault(kind="status", status=500)
    seen = []
    for _ in range(3):
        server.faults.push(fault)
        seen.append(await turn(breaker, ADA))
        server.script(["For Bea."])
        assert await turn(breaker, BEA) == "For Bea."
    assert seen == ["unavailable", "unavailable alone", "unavailable alone"]
    server.script(["At last."])
    assert await turn(breaker, ADA) == "At last."
    server.faults.push(fault)
    assert await turn(breaker, ADA) == "unavailable", "the count begins anew"


async def test_where_one_person_has_an_account_theirs_count(
    server: PracticeServer, client: AnthropicClient
) -> None:
    breaker = BreakerClient(client, clock=Clock())
    server.faults.push(*[Fault(kind="status", status=503)] * 9)
    outcomes = [await turn(breaker, ADA, is_only_person=True) for _ in range(FAILURES_TO_OPEN + 1)]
    assert outcomes == ["unavailable"] * FAILURES_TO_OPEN + ["circuit_open"]


async def test_what_may_be_due_to_one_request_opens_nothing_where_one_person_has_an_account(
    server: PracticeServer, client: AnthropicClient
) -> None:
    breaker = BreakerClient(client, clock=Clock())
    server.faults.push(*[Fault(kind="status", status=500)] * 9)
    outcomes = [await turn(breaker, ADA, is_only_person=True) for _ in range(9)]
    assert outcomes == ["unavailable"] * 9


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="stall", place="in_text"),
        Fault(kind="slow_start", seconds=60),
        Fault(kind="status", status=504),
        *(Fault(kind="status", status=status) for status in (400, 401, 403, 404, 408, 413, 429)),
    ],
    ids=lambda fault: f"{fault.kind} {fault.status}",
)
async def test_slowness_and_what_is_wrong_with_a_request_open_nothing(
    server: PracticeServer, client: AnthropicClient, fault: Fault
) -> None:
    breaker = BreakerClient(client, clock=Clock())
    timeouts = StreamTimeouts(read_idle_seconds=0.05)
    for number in range(FAILURES_TO_OPEN + 2):
        server.faults.push(fault)
        outcome = await turn(breaker, (ADA, BEA)[number % 2], timeouts=timeouts)
        assert outcome not in {"circuit_open", "Fine."}
    server.script(["Fine."])
    server.faults.take(model="", last_user_text="")
    assert await turn(breaker, ADA) == "Fine."


async def test_a_server_that_nobody_can_connect_to_opens_it() -> None:
    async with AnthropicClient("practice", "http://127.0.0.1:9") as nowhere:
        breaker = BreakerClient(nowhere, clock=Clock())
        outcomes = [await turn(breaker, (ADA, BEA)[number % 2]) for number in range(FAILURES_TO_OPEN + 1)]
    assert outcomes == ["unavailable"] * FAILURES_TO_OPEN + ["circuit_open"]


async def test_one_probe_passes_after_thirty_seconds_and_closes_it_where_it_succeeds(
    server: PracticeServer, client: AnthropicClient
) -> None:
    clock = Clock()
    breaker = BreakerClient(client, clock=clock)
    await open_it(server, breaker)
    server.faults.push(Fault(kind="status", status=529))
    clock.now = SECONDS_TO_PROBE - 0.1
    assert await turn(breaker, ADA) == "circuit_open"
    clock.now = SECONDS_TO_PROBE
    assert await turn(breaker, ADA) == "overloaded"
    assert await turn(breaker, BEA) == "circuit_open"
    clock.now += SECONDS_TO_PROBE
    server.script(["Back again.", "And again."])
    assert await turn(breaker, BEA) == "Back again."
    assert await turn(breaker, ADA) == "And again."


async def test_whoever_probed_in_vain_lets_others_probe_first(
    server: PracticeServer, client: AnthropicClient
) -> None:
    clock = Clock()
    breaker = BreakerClient(client, clock=clock)
    await open_it(server, breaker)
    server.faults.push(Fault(kind="status", status=500))
    clock.now = SECONDS_TO_PROBE
    assert await turn(breaker, ADA) == "unavailable"
    clock.now += SECONDS_TO_PROBE
    assert await wait_told(breaker, ADA) == SECONDS_TO_PROBE
    server.script(["For Bea."])
    assert await turn(breaker, BEA) == "For Bea."


async def test_an_answer_starts_the_count_anew(server: PracticeServer, client: AnthropicClient) -> None:
    breaker = BreakerClient(client, clock=Clock())
    for _ in range(3):
        server.faults.push(*[Fault(kind="status", status=529)] * (FAILURES_TO_OPEN - 1))
        for number in range(FAILURES_TO_OPEN - 1):
            assert (await turn(breaker, (ADA, BEA)[number % 2])).startswith("overloaded")
        server.script(["Fine."])
        assert await turn(breaker, 3) == "Fine."


async def test_while_a_probe_runs_nobody_else_asks(server: PracticeServer, client: AnthropicClient) -> None:
    clock = Clock()
    breaker = BreakerClient(client, clock=clock)
    await open_it(server, breaker)
    clock.now = SECONDS_TO_PROBE
    server.script(["One.", "Two."])
    async with breaker.of(ADA).stream(REQUEST) as stream:
        assert await wait_told(breaker, BEA) == SECONDS_OF_PROBE
        async for _ in stream:
            pass
    assert await turn(breaker, BEA) == "Two."


async def test_requests_outside_of_turns_count_for_nothing_and_wait_with_the_others(
    server: PracticeServer, client: AnthropicClient
) -> None:
    clock = Clock()
    breaker = BreakerClient(client, clock=clock)
    server.faults.push(*[Fault(kind="status", status=529)] * 9)
    for _ in range(9):
        with pytest.raises(UpstreamError, match="overloaded"):
            async with breaker.stream(REQUEST):
                pass
    await open_it(server, breaker)
    with pytest.raises(UpstreamError, match="circuit_open"):
        async with breaker.stream(REQUEST):
            pass
