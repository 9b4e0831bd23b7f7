"""R2: PostgreSQL is killed (`pg_ctl stop -m immediate`) during streaming turns, and restarted later.

The run has its own server. The suite's is shared by all workers, so its short form runs `python -m
tests.faults`.
"""

import asyncio
import random
from collections.abc import Sequence

from sage.embedded_postgres import EmbeddedPostgres
from tests.faults.auditor import audit, audit_request_counts
from tests.faults.cluster import Cluster
from tests.faults.people import Conversation, open_conversations, until_closed
from tests.faults.planned_model import Plan, PlannedRound
from tests.faults.points import random_rounds
from tests.faults.report import Report

BATCH = 20
MAX_DOWN_SECONDS = 5.0
MAX_BEFORE_SECONDS = 1.5
WORKS_SECONDS = 5.0
CLOSED_SECONDS = 75.0
TOKENS_PER_SECOND = 12.0


class LossyDatabase:
    """The run's PostgreSQL, which can be killed and restarted."""

    def __init__(self, server: EmbeddedPostgres) -> None:
        self._server = server

    def lose(self) -> None:
        """Kill every process of the server at once: uncommitted data is lost."""
        self._server._run("pg_ctl", "stop", "-w", "-m", "immediate")

    def bring_back(self) -> None:
        """Restart it and wait until it answers."""
        self._server._ensure_running()


async def run_r2(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Kill the database during turns for up to 5 s. A point is a turn."""
    assert cluster.database is not None
    report = Report(fault="R2", seed=seed)
    rng = random.Random(seed)
    async with cluster.opened():
        while report.points < points:
            conversations = await open_conversations(cluster, min(BATCH, points - report.points))
            for number, conversation in enumerate(conversations):
                await conversation.read(place=number % len(cluster.processes))
            early = conversations[: -(-len(conversations) // 2)]
            await asyncio.gather(*(item.say(_plan(item, rng)) for item in early))
            await asyncio.sleep(rng.uniform(0, MAX_BEFORE_SECONDS))  # a random moment in a turn
            database = LossyDatabase(cluster.database)
            await asyncio.to_thread(database.lose)
            # The others write during the outage, and resend what wasn't acknowledged.
            late = [
                asyncio.create_task(item.say(_plan(item, rng))) for item in conversations if item not in early
            ]
            await asyncio.sleep(rng.uniform(0, MAX_DOWN_SECONDS))
            await asyncio.to_thread(database.bring_back)
            began = asyncio.get_running_loop().time()
            await _works(cluster, report, began)
            await asyncio.gather(*late)
            report.count("lost", 1)
            await _end_batch(cluster, report, conversations)
    return report


def _plan(conversation: Conversation, rng: random.Random) -> Plan:
    rounds = [
        PlannedRound(
            words=max(planned.words, 1),
            saves=planned.saves,
            note=planned.note,
            tokens_per_second=TOKENS_PER_SECOND,
        )
        for planned in random_rounds(rng)
    ]
    return conversation.plan(*rounds)


async def _works(cluster: Cluster, report: Report, began: float) -> None:
    """A new person gets an answer soon after the database is back."""
    (conversation,) = await open_conversations(cluster, 1)
    await conversation.read(place=0)
    await conversation.say(conversation.plan(PlannedRound(words=3)))
    await conversation.reader.until(lambda: len(conversation.reader.dones) > 0)
    took = asyncio.get_running_loop().time() - began
    report.seconds.append(took)
    is_in_time = took <= WORKS_SECONDS * cluster.patience
    report.expect(is_in_time, f"R2 {conversation.key} was answered {took:.1f} s after the database's return")
    await conversation.close()


async def _end_batch(cluster: Cluster, report: Report, conversations: Sequence[Conversation]) -> None:
    closed = await until_closed(list(conversations), CLOSED_SECONDS)
    for item in conversations:
        report.points += 1
        report.expect(item.key in closed, f"R2 {item.key} didn't come to its end")
        reader = item.reader
        try:
            await reader.until(lambda reader=reader: reader.knows_the_end())  # type: ignore[misc]  # a default value hides its type
        except AssertionError as error:
            report.violations.append(f"R2 {item.key} wasn't told of its end: {error}")
    report.violations += await audit(cluster, conversations)
    report.violations += audit_request_counts(cluster)
    await asyncio.gather(*(item.close() for item in conversations))
