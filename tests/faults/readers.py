"""R6 and R12: readers that reconnect, and users that press Stop, at any point in a turn."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack

from coaching.practice.api.records import ReceivedRequest
from sessions_app.database import in_database
from sessions_app.models import TurnStatus
from tests.faults.auditor import audit, audit_request_counts
from tests.faults.cluster import Cluster
from tests.faults.crashes import BATCH, bring_all, talk_on
from tests.faults.people import Conversation, last_turn, open_conversations, until_closed
from tests.faults.planned_model import plan_of
from tests.faults.points import POINTS, ROW_POINTS, Placed, bring
from tests.faults.proxy import Proxy
from tests.faults.report import Report

RETURN_SECONDS = 2.0
STOP_SECONDS = 1.0
CLOSED_SECONDS = 45.0
SEEN_SECONDS = 20.0
LOSSES = ("close", "fin", "reset", "frozen")


async def run_r6(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Drop clients at random points in every way; the turn continues, and they return to the same words."""
    report = Report(fault="R6", seed=seed)
    rng = random.Random(seed)
    async with cluster.opened():
        while report.points < points:
            conversations = await open_conversations(cluster, min(BATCH, points - report.points))
            places = rng.sample(POINTS, len(POINTS)) + rng.sample(POINTS, len(POINTS))
            async with AsyncExitStack() as proxies:
                # A permanent stall can't be released: here those points are right before the call.
                placed = await asyncio.gather(
                    *(
                        _lose_and_return(conversation, place, rng.randrange(2**31), report, proxies)
                        for conversation, place in zip(conversations, places, strict=False)
                    )
                )
                closed = await until_closed(conversations, CLOSED_SECONDS)
                for item in placed:
                    report.points += 1
                    key = item.conversation.key
                    report.expect(key in closed, f"R6 {key} ({item.point}) didn't come to its end")
                    for reader in item.conversation.readers:
                        await reader.until(reader.knows_the_end, SEEN_SECONDS * cluster.patience)
                report.violations += await audit(cluster, conversations)
                report.violations += audit_request_counts(cluster)
                await asyncio.gather(*(item.close() for item in conversations))
    return report


async def _lose_and_return(
    conversation: Conversation, point: str, seed: int, report: Report, proxies: AsyncExitStack
) -> Placed:
    rng = random.Random(seed)
    cluster = conversation.cluster
    place = rng.randrange(len(cluster.processes))
    proxy = await proxies.enter_async_context(Proxy(lambda: cluster.process(place).port))
    reader = await conversation.read(place=place, port=proxy.port, returns=False)
    steady = await conversation.read(place=rng.randrange(len(cluster.processes)))
    placed = await bring(conversation, point, rng, reader=reader, is_json_stalled=False)  # type: ignore[arg-type]
    how = rng.choice(LOSSES)
    report.count(how)
    if how == "close":
        await reader.drop()
    else:
        proxy.lose(how)  # type: ignore[arg-type]
    if how == "frozen":
        await reader.close()
    else:
        await reader.until(lambda: not reader.is_connected)
    is_away_until_the_end = rng.random() < 0.5
    if is_away_until_the_end:
        await placed.release()
        await steady.until(lambda: len(steady.dones) > 0)
    began = asyncio.get_running_loop().time()
    before = reader.attached
    reader.returns = True
    reader.go_back()
    await reader.until(lambda: reader.attached > before)
    if not is_away_until_the_end:
        # Its snapshot equals what the connected reader has, word for word.
        await reader.until(lambda: reader.text == steady.text, SEEN_SECONDS * cluster.patience)
    took = asyncio.get_running_loop().time() - began
    report.seconds.append(took)
    report.expect(
        took <= RETURN_SECONDS * cluster.patience,
        f"R6 {conversation.key} ({point}, {how}) was back after {took:.2f} s",
    )
    if not is_away_until_the_end:
        await placed.release()
    return placed


async def run_r12(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Press Stop at random points, from the other process if there are two."""
    report = Report(fault="R12", seed=seed)
    rng = random.Random(seed)
    async with cluster.opened():
        while report.points < points:
            conversations = await open_conversations(cluster, min(BATCH, points - report.points))
            placed = await bring_all(conversations, rng, place=rng.randrange(len(cluster.processes)))
            # In sequence: each stop is measured alone.
            for item in placed:
                await _stop(item, rng, report)
            closed = await until_closed(conversations, CLOSED_SECONDS)
            for item in placed:
                report.points += 1
                report.expect(item.conversation.key in closed, f"R12 {item.conversation.key} wasn't stopped")
                status = (await in_database(last_turn, item.conversation.session_id)).status
                report.count(status)
                report.expect(
                    # What is already running finishes, and a stop from another process may come after it.
                    status == TurnStatus.STOPPED or item.point in ROW_POINTS,
                    f"R12 {item.conversation.key} ({item.point}) ended as {status}",
                )
            for reader in [reader for item in conversations for reader in item.readers]:
                await reader.until(reader.knows_the_end, SEEN_SECONDS * cluster.patience)
            report.violations += await audit(cluster, conversations)
            await asyncio.gather(*(talk_on(item, report) for item in conversations))
            report.violations += await audit(cluster, conversations)
            await asyncio.gather(*(item.close() for item in conversations))
    return report


async def _stop(item: Placed, rng: random.Random, report: Report) -> None:
    conversation = item.conversation
    cluster = conversation.cluster
    presser = rng.choice(conversation.readers)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await presser.send(type="stop")
    if item.point in ROW_POINTS:
        # What is already running finishes: the test holds the row that it waits for.
        await item.release()
    reader = conversation.reader
    await reader.until(lambda: len(reader.dones) > 0)
    took = loop.time() - began
    report.seconds.append(took)
    limit = STOP_SECONDS * cluster.patience
    report.expect(took <= limit, f"R12 {conversation.key} ({item.point}) stopped after {took:.2f} s")
    if item.point in ROW_POINTS:
        return
    try:
        closed = await cluster.practice.wait_until(
            lambda requests: bool(_closings(requests, item.plan.key)), limit
        )
    except TimeoutError:
        report.violations.append(f"R12 {conversation.key} ({item.point}): the upstream stayed open")
        return
    upstream = max(_closings(closed, item.plan.key)) - began
    report.facts["ms upstream closed at most"] = max(
        report.facts.get("ms upstream closed at most", 0), round(upstream * 1000)
    )
    report.expect(upstream <= limit, f"R12 {conversation.key}: upstream closed after {upstream:.2f} s")


def _closings(requests: Sequence[ReceivedRequest], plan: str) -> list[float]:
    return [
        request.closed_by_client_at
        for request in requests
        if request.closed_by_client_at is not None and plan_of(request.body) == plan
    ]
