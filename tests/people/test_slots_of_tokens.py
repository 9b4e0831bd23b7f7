"""Requests of one token run a few at a time, and others of it wait their turn; other tokens don't."""

import asyncio

import pytest

from coaching.people import in_flight as limits
from coaching.people.in_flight import MAX_RUNNING_PER_TOKEN, InFlight, Ticket, TooManyInFlight


async def begun(all_in_flight: InFlight, token: str) -> Ticket:
    ticket = Ticket(all_in_flight)
    ticket.count(f"address of {token}", 10)
    await ticket.begin(token=token)
    return ticket


async def test_requests_of_one_token_wait_for_each_other_and_for_no_others() -> None:
    all_in_flight = InFlight()
    first, *_ = [await begun(all_in_flight, "one") for _ in range(MAX_RUNNING_PER_TOKEN)]
    next_one = asyncio.create_task(begun(all_in_flight, "one"))
    (await asyncio.wait_for(begun(all_in_flight, "other"), 1)).end()
    (await asyncio.wait_for(begun(all_in_flight, ""), 1)).end()
    done, _ = await asyncio.wait([next_one], timeout=0.1)
    assert not done
    first.end()
    await asyncio.wait_for(next_one, 1)


async def test_a_request_that_waits_for_an_answer_lets_others_of_its_token_run() -> None:
    all_in_flight = InFlight()
    first, *_ = [await begun(all_in_flight, "one") for _ in range(MAX_RUNNING_PER_TOKEN)]
    next_one = asyncio.create_task(begun(all_in_flight, "one"))
    async with first.waiting() as may_wait:
        assert may_wait
        (await asyncio.wait_for(next_one, 1)).end()
    full = asyncio.create_task(begun(all_in_flight, "one"))
    done, _ = await asyncio.wait([full], timeout=0.1)
    assert not done, "the first one has its slot again"
    first.end()
    await asyncio.wait_for(full, 1)


async def test_a_request_that_waits_for_too_long_or_is_given_up_takes_no_slot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "TOKEN_QUEUE_SECONDS", 0.05)
    all_in_flight = InFlight()
    running = [await begun(all_in_flight, "one") for _ in range(MAX_RUNNING_PER_TOKEN)]
    with pytest.raises(TooManyInFlight):
        await begun(all_in_flight, "one")
    given_up = asyncio.create_task(begun(all_in_flight, "one"))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait([given_up])
    for ticket in running:
        ticket.end()
    for _ in range(MAX_RUNNING_PER_TOKEN):
        await asyncio.wait_for(begun(all_in_flight, "one"), 1)
