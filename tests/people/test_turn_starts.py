"""Turns start a few at a time, in the order of arrival, and what can wait waits for them, briefly."""

import asyncio

import pytest

from coaching.people.turn_starts import AT_ONCE, QUIET_SECONDS, SLOT_SECONDS, TurnStarts

MANY = 20
LONG_SECONDS = 5.0


async def started(starts: TurnStarts, number: int, log: list[str], *, seconds: float = 0) -> None:
    async with starts.slot():
        log.append(f"begins {number}")
        await asyncio.sleep(seconds)
        log.append(f"ends {number}")


async def all_started(starts: TurnStarts, log: list[str], *, seconds: float = 0) -> list[asyncio.Task[None]]:
    """Begin `MANY` starts; return their tasks when each has asked for a slot."""
    tasks = [asyncio.create_task(started(starts, n, log, seconds=seconds)) for n in range(MANY)]
    await asyncio.sleep(0)
    return tasks


def most_at_once(log: list[str]) -> int:
    starting, most = 0, 0
    for each in log:
        starting += 1 if each.startswith("begins") else -1
        most = max(most, starting)
    return most


async def test_turns_start_a_few_at_a_time_in_the_order_in_which_they_came() -> None:
    log: list[str] = []
    await asyncio.gather(*await all_started(TurnStarts(), log))
    assert [each for each in log if each.startswith("begins")] == [f"begins {n}" for n in range(MANY)]
    assert most_at_once(log) == AT_ONCE


async def test_the_next_turn_starts_only_when_the_one_before_could_send_its_request() -> None:
    starts, log = TurnStarts(), list[str]()

    async def send() -> None:
        await asyncio.sleep(0)
        log.append("sent")

    sending = set[asyncio.Task[None]]()

    async def start_and_send() -> None:
        async with starts.slot():
            log.append("begins")
            sending.add(asyncio.create_task(send()))

    await asyncio.gather(*(start_and_send() for _ in range(MANY)))
    await asyncio.gather(*sending)
    for place in range(AT_ONCE, log.count("begins")):
        before = log[: [n for n, each in enumerate(log) if each == "begins"][place]]
        assert before.count("sent") > place - AT_ONCE


async def test_turns_that_wait_for_a_lock_keep_no_others_waiting() -> None:
    starts, log, clock = TurnStarts(), list[str](), asyncio.get_running_loop().time
    stuck = [asyncio.create_task(started(starts, n, log, seconds=60)) for n in range(AT_ONCE)]
    await asyncio.sleep(0)
    began = clock()
    await asyncio.wait_for(started(starts, MANY, log), LONG_SECONDS)
    assert clock() >= began + SLOT_SECONDS / 2
    await asyncio.wait_for(starts.wait_until_over(seconds=60), LONG_SECONDS)  # they no longer count
    for task in stuck:
        task.cancel()
    await asyncio.wait(stuck)
    again: list[str] = []
    await asyncio.gather(*await all_started(starts, again, seconds=0.001))
    assert most_at_once(again) == AT_ONCE  # no slot was freed twice or lost


async def test_a_turn_that_is_cancelled_while_it_waits_or_fails_frees_its_slot() -> None:
    starts, log = TurnStarts(), list[str]()
    tasks = await all_started(starts, log, seconds=60)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    with pytest.raises(ValueError, match="refused"):
        async with starts.slot():
            raise ValueError("refused")
    again: list[str] = []
    await asyncio.gather(*await all_started(starts, again, seconds=0.001))
    assert most_at_once(again) == AT_ONCE
    await asyncio.wait_for(starts.wait_until_over(seconds=60), LONG_SECONDS)


async def test_what_can_wait_waits_until_no_turn_starts_and_a_limited_time_at_most() -> None:
    starts, log, clock = TurnStarts(), list[str](), asyncio.get_running_loop().time
    await asyncio.wait_for(starts.wait_until_over(seconds=60), LONG_SECONDS)
    tasks = await all_started(starts, log, seconds=0.001)
    await starts.wait_until_over(seconds=60)
    assert all(task.done() for task in tasks)
    assert starts.are_over
    slow = TurnStarts(slot_seconds=60)
    async with slow.slot():
        began = clock()
        await slow.wait_until_over(seconds=0.2)
        assert clock() >= began + 0.19
        assert not slow.are_over


async def test_programs_requests_wait_while_turns_of_people_wait_for_a_slot() -> None:
    starts, log, clock = TurnStarts(slot_seconds=60), list[str](), asyncio.get_running_loop().time
    async with starts.slot(), starts.slot():
        late = asyncio.create_task(started(starts, MANY, log))
        await asyncio.sleep(QUIET_SECONDS + 0.01)
        assert starts.busy_until < clock()
    await late
    assert starts.busy_until > clock()
    before = starts.busy_until
    async with starts.slot(is_of_program=True):
        assert starts.busy_until == before
