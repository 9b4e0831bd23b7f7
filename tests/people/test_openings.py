"""Turns open a few at a time, first come, first served, and what can wait waits for them, briefly."""

import asyncio

import pytest

from coaching.people.openings import AT_ONCE, MAX_WAIT_SECONDS, PLACE_SECONDS, Openings

MANY = 20


async def opened(all_openings: Openings, number: int, log: list[str], *, seconds: float = 0) -> None:
    async with all_openings.turn():
        log.append(f"begins {number}")
        await asyncio.sleep(seconds)
        log.append(f"ends {number}")


async def all_opened(
    all_openings: Openings, log: list[str], *, seconds: float = 0
) -> list[asyncio.Task[None]]:
    """Begin `MANY` openings; return their tasks when each has asked for a place."""
    tasks = [asyncio.create_task(opened(all_openings, n, log, seconds=seconds)) for n in range(MANY)]
    await asyncio.sleep(0)
    return tasks


async def test_turns_open_a_few_at_a_time_in_the_order_in_which_they_came() -> None:
    log: list[str] = []
    await asyncio.gather(*await all_opened(Openings(), log))
    assert [each for each in log if each.startswith("begins")] == [f"begins {n}" for n in range(MANY)]
    opening, most = 0, 0
    for each in log:
        opening += 1 if each.startswith("begins") else -1
        most = max(most, opening)
    assert most == AT_ONCE


async def test_the_next_turn_opens_only_when_the_one_before_could_send_its_request() -> None:
    all_openings, log = Openings(), list[str]()

    async def send() -> None:
        await asyncio.sleep(0)
        log.append("sent")

    sending = set[asyncio.Task[None]]()

    async def open_and_send() -> None:
        async with all_openings.turn():
            log.append("begins")
            sending.add(asyncio.create_task(send()))

    await asyncio.gather(*(open_and_send() for _ in range(MANY)))
    await asyncio.gather(*sending)
    for place in range(AT_ONCE, log.count("begins")):
        before = log[: [n for n, each in enumerate(log) if each == "begins"][place]]
        assert before.count("sent") > place - AT_ONCE


async def test_turns_that_wait_for_a_lock_keep_no_others_waiting() -> None:
    all_openings, log, clock = Openings(), list[str](), asyncio.get_running_loop().time
    stuck = [asyncio.create_task(opened(all_openings, n, log, seconds=60)) for n in range(AT_ONCE)]
    await asyncio.sleep(0)
    began = clock()
    await asyncio.wait_for(opened(all_openings, MANY, log), 10 * PLACE_SECONDS)
    assert clock() >= began + PLACE_SECONDS / 2
    await asyncio.wait_for(all_openings.wait_for_all(), PLACE_SECONDS)  # they no longer count as opening
    for task in stuck:
        task.cancel()
    await asyncio.wait(stuck)
    again: list[str] = []
    await asyncio.gather(*await all_opened(all_openings, again))  # no place was freed twice or lost
    assert len(again) == 2 * MANY


async def test_a_turn_that_is_cancelled_while_it_waits_or_fails_frees_its_place() -> None:
    all_openings, log = Openings(), list[str]()
    tasks = await all_opened(all_openings, log, seconds=60)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    with pytest.raises(ValueError, match="refused"):
        async with all_openings.turn():
            raise ValueError("refused")
    await asyncio.gather(*await all_opened(all_openings, log))
    await asyncio.wait_for(all_openings.wait_for_all(), MAX_WAIT_SECONDS / 2)


async def test_what_can_wait_waits_until_no_turn_opens_and_a_second_at_most() -> None:
    all_openings, log, clock = Openings(), list[str](), asyncio.get_running_loop().time
    await asyncio.wait_for(all_openings.wait_for_all(), MAX_WAIT_SECONDS / 2)
    tasks = await all_opened(all_openings, log, seconds=0.001)
    await all_openings.wait_for_all()
    assert all(task.done() for task in tasks)

    async def open_on_and_on() -> None:
        while True:
            await asyncio.gather(
                *await all_opened(all_openings, log, seconds=0.001), opened(all_openings, 0, log)
            )

    going_on = [asyncio.create_task(open_on_and_on()) for _ in range(2)]
    await asyncio.sleep(0.01)
    began = clock()
    await all_openings.wait_for_all()
    assert clock() >= began + MAX_WAIT_SECONDS * 0.99
    for each in going_on:
        each.cancel()
    await asyncio.wait(going_on)
