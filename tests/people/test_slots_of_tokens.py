"""Requests of one token run a few at a time, and others of it wait their turn; other tokens don't."""

import asyncio

import pytest
from django.test import RequestFactory

from coaching.people.in_flight import (
    MAX_PER_PERSON,
    MAX_RUNNING_PER_TOKEN,
    InFlight,
    Ticket,
    TooManyInFlight,
)
from coaching.people.turn_starts import MAX_WAIT_SECONDS, turn_starts
from coaching.views.programs import digest_of_token


async def begun(all_in_flight: InFlight, token: str) -> Ticket:
    ticket = Ticket(all_in_flight)
    ticket.count(f"address of {token}", 100)
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


async def test_a_request_that_waits_for_too_long_or_is_given_up_takes_no_slot() -> None:
    all_in_flight = InFlight(token_queue_seconds=0.05)
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


async def test_an_eleventh_request_of_a_token_is_refused_at_once() -> None:
    all_in_flight = InFlight()
    running = [await begun(all_in_flight, "one") for _ in range(MAX_RUNNING_PER_TOKEN)]
    others = MAX_PER_PERSON - MAX_RUNNING_PER_TOKEN
    queued = [asyncio.create_task(begun(all_in_flight, "one")) for _ in range(others)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyInFlight):
        await asyncio.wait_for(begun(all_in_flight, "one"), 1)
    (await begun(all_in_flight, "other")).end()
    for ticket in running:
        ticket.end()
    for task in queued:
        (await asyncio.wait_for(task, 1)).end()


async def test_a_programs_request_begins_after_a_turn_has_opened_and_a_persons_at_once() -> None:
    all_in_flight, clock = InFlight(), asyncio.get_running_loop().time
    (await begun(all_in_flight, "one")).end()
    async with turn_starts().slot():
        pass
    programs = asyncio.create_task(begun(all_in_flight, "one"))
    await asyncio.sleep(0)
    (await begun(all_in_flight, "")).end()
    assert not programs.done()
    (await programs).end()
    assert clock() >= turn_starts().busy_until


async def test_a_programs_request_begins_after_a_second_where_turns_still_open() -> None:
    all_in_flight, clock = InFlight(), asyncio.get_running_loop().time
    asked = clock()
    async with turn_starts().slot():
        programs = asyncio.create_task(begun(all_in_flight, "one"))
    while not programs.done():
        assert clock() < asked + 10 * MAX_WAIT_SECONDS
        async with turn_starts().slot():
            await asyncio.sleep(0.01)
    (await programs).end()
    assert asked + MAX_WAIT_SECONDS <= clock() < turn_starts().busy_until


def test_a_token_is_the_same_one_however_its_scheme_is_written() -> None:
    def digest(authorization: str, path: str = "/api/files") -> str:
        return digest_of_token(RequestFactory().get(path, headers={"Authorization": authorization}))

    assert digest("Bearer sage_one") == digest("bEARER sage_one") == digest("Bearer sage_one", "/mcp")
    assert digest("Bearer sage_one") != digest("Bearer sage_other")
    assert digest("Bearer sage_one", "/chat/") == digest("sage_one") == ""
