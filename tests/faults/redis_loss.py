"""R3: Redis is killed, restarted, flushed and frozen while turns stream through two processes."""

import asyncio
import random

from tests.faults.auditor import audit, audit_request_counts
from tests.faults.cluster import Cluster
from tests.faults.people import Conversation, open_conversations, until_closed
from tests.faults.planned_model import Plan, PlannedRound
from tests.faults.report import Report

BATCH = 8
LOSSES = ("kill", "flush", "freeze")
RIGHT_SECONDS = 5.0
STOP_SECONDS = 1.0
CLOSED_SECONDS = 45.0
DONE_SECONDS = 30.0


async def run_r3(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Break Redis during streaming turns with readers on the other process. A point is a turn."""
    report = Report(fault="R3", seed=seed)
    rng = random.Random(seed)
    async with cluster.opened():
        assert cluster.redis is not None
        while report.points < points:
            conversations = await open_conversations(cluster, min(BATCH, points - report.points))
            for number, conversation in enumerate(conversations):
                # The speaker on one process, a second reader on the other.
                await conversation.read(place=number % 2)
                await conversation.read(place=(number + 1) % 2)
            how = LOSSES[(report.points // BATCH + seed) % len(LOSSES)]
            report.count(how, len(conversations))
            plans = [_plan(conversation, rng) for conversation in conversations]
            early = rng.sample(range(len(plans)), len(plans) // 2)
            await _start(conversations, plans, early)
            _lose(cluster, how)
            # The others start during the outage: sending, streaming and storing don't need Redis.
            await _start(conversations, plans, [n for n in range(len(plans)) if n not in early])
            for plan in plans:
                cluster.practice.release(plan.gate(1))
            await _stop_meanwhile(cluster, report, how)
            await asyncio.gather(
                *(cluster.practice.reached(plan.gate(len(plan.rounds)), DONE_SECONDS) for plan in plans)
            )
            _give_back(cluster, how)
            began = asyncio.get_running_loop().time()
            await asyncio.gather(
                *(
                    _is_right(item, plan, report, began)
                    for item, plan in zip(conversations, plans, strict=True)
                )
            )
            for plan in plans:
                cluster.practice.release(plan.gate(len(plan.rounds)))
            closed = await until_closed(conversations, CLOSED_SECONDS)
            for item in conversations:
                report.points += 1
                report.expect(item.key in closed, f"R3 {item.key} didn't come to its end")
                for reader in item.readers:
                    await reader.until(lambda reader=reader: len(reader.dones) > 0)  # type: ignore[misc]  # a default value hides its type
            report.violations += await audit(cluster, conversations)
            report.violations += audit_request_counts(cluster)
            await asyncio.gather(*(item.close() for item in conversations))
    return report


async def _stop_meanwhile(cluster: Cluster, report: Report, how: str) -> None:
    """A socket's frames are handled in sequence: a message must not delay Stop by waiting for Redis."""
    (conversation,) = await open_conversations(cluster, 1)
    reader = await conversation.read(place=0)
    plan = conversation.plan(PlannedRound(words=8, hold="text", hold_after=2))
    await conversation.say(plan)
    await cluster.practice.reached(plan.gate(1), DONE_SECONDS)
    began = asyncio.get_running_loop().time()
    await reader.send(type="stop")
    await reader.until(lambda: len(reader.dones) > 0)
    took = asyncio.get_running_loop().time() - began
    limit = STOP_SECONDS * cluster.patience
    report.expect(took <= limit, f"R3 with Redis lost ({how}) Stop took {took:.1f} s")
    await conversation.close()


def _plan(conversation: Conversation, rng: random.Random) -> Plan:
    return conversation.plan(
        PlannedRound(words=6, hold="text", hold_after=rng.randint(1, 5), saves=("career",)),
        PlannedRound(words=rng.randint(0, 3), saves=("health",)),
        PlannedRound(words=8, hold="text", hold_after=rng.randint(1, 7)),
    )


async def _start(conversations: list[Conversation], plans: list[Plan], numbers: list[int]) -> None:
    async def one(conversation: Conversation, plan: Plan) -> None:
        await conversation.say(plan)
        await conversation.cluster.practice.reached(plan.gate(1), DONE_SECONDS)

    await asyncio.gather(*(one(conversations[number], plans[number]) for number in numbers))


def _lose(cluster: Cluster, how: str) -> None:
    assert cluster.redis is not None
    if how == "kill":
        cluster.redis.kill()
    elif how == "flush":
        cluster.redis.flush()
    else:
        cluster.redis.freeze()


def _give_back(cluster: Cluster, how: str) -> None:
    assert cluster.redis is not None
    if how == "kill":
        cluster.redis.start()
    elif how == "flush":
        cluster.redis.flush()
    else:
        cluster.redis.thaw()


async def _is_right(conversation: Conversation, plan: Plan, report: Report, began: float) -> None:
    """Wait until every reader shows all words up to the last gate."""
    number = len(plan.rounds)
    last = f"{plan.key}r{number}a1w{plan.rounds[-1].hold_after - 1}"
    for reader in conversation.readers:
        await reader.until(lambda reader=reader: last in reader.text)  # type: ignore[misc]  # a default value hides its type
    took = asyncio.get_running_loop().time() - began
    report.seconds.append(took)
    limit = RIGHT_SECONDS * conversation.cluster.patience
    report.expect(took <= limit, f"R3 {conversation.key} was right after {took:.1f} s")
