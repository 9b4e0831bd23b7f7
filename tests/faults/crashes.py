"""R1, R8 and R13: processes killed, frozen past their lease, or terminated during turns."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.forms.models import model_to_dict

from coaching.models import UserFileVersion
from sessions_app.database import in_database
from sessions_app.models import Message, Round, Session, ToolCallRecord, Turn, TurnStatus
from tests.faults.auditor import audit, audit_request_counts
from tests.faults.cluster import Cluster
from tests.faults.lease_watcher import LeaseWatcher
from tests.faults.people import Conversation, last_turn, open_conversations, until_closed
from tests.faults.planned_model import PlannedRound
from tests.faults.points import (
    POINTS,
    ROW_POINTS,
    Placed,
    Point,
    bring,
    bring_to_end,
    hold_amid_statements,
)
from tests.faults.report import Report

BATCH = 12
AT_ONCE = 20
USABLE_SECONDS = 10.0
GONE_SECONDS = 15.0
CLOSED_SECONDS = 45.0
SEEN_SECONDS = 20.0
FIRST_ATTEMPT = frozenset({1})
TWO_ATTEMPTS = frozenset({1, 2})
RETRYABLE = (TurnStatus.INTERRUPTED, TurnStatus.FAILED, TurnStatus.STOPPED)


async def run_r1(cluster: Cluster, *, seed: int, points: int, batch: int = BATCH) -> Report:
    """Kill a process during turns at random points, then restart it or let another take over.

    At most `batch` turns run when it is killed.
    """
    report = Report(fault="R1", seed=seed)
    rng = random.Random(seed)
    async with cluster.opened(), LeaseWatcher(cluster) as watcher:
        while report.points < points:
            victim = rng.randrange(len(cluster.processes))
            conversations = await open_conversations(cluster, min(batch, points - report.points))
            placed = await bring_all(conversations, rng, place=victim)
            cluster.kill(victim)
            began = asyncio.get_running_loop().time()
            await asyncio.gather(*(item.release() for item in placed))
            if len(cluster.processes) == 1:
                await asyncio.to_thread(cluster.start, victim)
                began = asyncio.get_running_loop().time()
            await _finish_batch(cluster, report, placed, began=began)
            await cluster.ensure_up()
        report.violations += watcher.violations
    return report


async def run_r8(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Freeze a runner past its lease, let another take over, then thaw it: it must write nothing more.

    One of its turns holds locks in statements that it hasn't finished sending. It is thawed alternately after
    and during the other's work. The processes are `BRIEF` ones.
    """
    report = Report(fault="R8", seed=seed)
    rng = random.Random(seed)
    batches = -(-points // (AT_ONCE // 2))
    async with cluster.opened(), LeaseWatcher(cluster) as watcher:
        for number in range(batches):
            victim = rng.randrange(len(cluster.processes))
            conversations = await open_conversations(cluster, min(AT_ONCE // 2, points - report.points))
            thaw, attempts = (
                (_thaw_after, FIRST_ATTEMPT) if (number + seed) % 2 else (_thaw_amid, TWO_ATTEMPTS)
            )
            await _read_twice(conversations[0], victim)
            ending, placed = await asyncio.gather(
                bring_to_end(conversations[0]),
                bring_all(conversations[1:], rng, place=victim, hold_attempts=attempts),
            )
            placed.append(ending)
            await hold_amid_statements(ending, place=victim)
            before = await in_database(_owners, conversations)
            cluster.freeze(victim)
            cluster.release_statements(victim)
            began = asyncio.get_running_loop().time()
            await thaw(cluster, victim, placed, before, report)
            owners = await in_database(_owners, conversations)
            report.count("taken over", sum(owners[key] != before[key] for key in owners))
            report.points += len(placed)
            await _finish_batch(cluster, report, placed, began=began, is_counted=False)
        report.violations += watcher.violations
    return report


async def _thaw_after(
    cluster: Cluster, victim: int, placed: Sequence[Placed], before: Mapping[str, str], report: Report
) -> None:
    """Thaw it after everything is written: from then on no row changes."""
    conversations = [item.conversation for item in placed]
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(item.release() for item in placed))
    closed = await until_closed(conversations, CLOSED_SECONDS)
    stood = await in_database(_dump, conversations)
    cluster.thaw(victim)
    for key in before:
        report.seconds.append(closed.get(key, began + CLOSED_SECONDS) - began)
        report.expect(key in closed, f"R8 {key} was not taken over")
    # Now it tries its remaining writes, its readers get the actual end, and its heartbeat resumes.
    await asyncio.gather(*(_sees_the_end(item, report) for item in conversations), cluster.ensure_up())
    now = await in_database(_dump, conversations)
    for key, rows in now.items():
        report.expect(rows == stood[key], f"R8 {key} was written to by a stale runner")


async def _thaw_amid(
    cluster: Cluster, victim: int, placed: Sequence[Placed], before: Mapping[str, str], report: Report
) -> None:
    """Thaw it while its successor is at the same point: both continue, and only one writes."""
    conversations = [item.conversation for item in placed]
    # A locked row blocks everybody, including a process that wants to take over.
    await asyncio.gather(*(item.release() for item in placed if item.point in ROW_POINTS))
    async with asyncio.timeout(CLOSED_SECONDS):
        while True:
            owners = await in_database(_owners, conversations)
            if all(owners[key] != before[key] for key in owners):
                break
            await asyncio.sleep(0.1)
    cluster.thaw(victim)
    report.count("thawed amid", len(placed))
    await cluster.ensure_up()
    await asyncio.gather(*(item.release() for item in placed))


async def run_r13(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Terminate a process during turns: half of them can end in time, the others are handed over."""
    report = Report(fault="R13", seed=seed)
    rng = random.Random(seed)
    async with cluster.opened(), LeaseWatcher(cluster) as watcher:
        while report.points < points:
            victim = rng.randrange(len(cluster.processes))
            conversations = await open_conversations(cluster, min(AT_ONCE, points - report.points))
            placed = await bring_all(conversations, rng, place=victim)
            began = asyncio.get_running_loop().time()
            cluster.terminate(victim)
            for number, item in enumerate(placed):
                # Release row locks at once: in reality only our processes hold them.
                if number % 2 or item.point in ROW_POINTS:
                    await item.release()
            is_gone = await cluster.gone(victim, GONE_SECONDS * 2)
            gone_at = asyncio.get_running_loop().time()
            report.expect(is_gone, "R13 the process didn't end")
            report.expect(
                gone_at - began <= GONE_SECONDS * cluster.patience, f"R13 gone after {gone_at - began:.1f} s"
            )
            report.count("ms to be gone at most", 0)
            report.facts["ms to be gone at most"] = max(
                report.facts["ms to be gone at most"], round((gone_at - began) * 1000)
            )
            report.count("drained", await in_database(_count_closed, conversations))
            await asyncio.gather(*(item.release() for item in placed))
            if len(cluster.processes) == 1:
                await asyncio.to_thread(cluster.start, victim)
                gone_at = asyncio.get_running_loop().time()
            await _finish_batch(cluster, report, placed, began=gone_at)
            await cluster.ensure_up()
        report.violations += watcher.violations
    return report


async def bring_all(
    conversations: Sequence[Conversation],
    rng: random.Random,
    *,
    place: int,
    hold_attempts: frozenset[int] = FIRST_ATTEMPT,
) -> list[Placed]:
    """Open readers at the process and at another one, and bring every conversation to its point."""
    # Each point twice: waiting for a row uses one of the process's few database threads.
    chosen = rng.sample(POINTS, len(POINTS)) + rng.sample(POINTS, len(POINTS))
    chosen += rng.choices(["before_first_byte", "in_text", "before_next_round"], k=len(conversations))

    async def bring_one(conversation: Conversation, point: Point, seed: int) -> Placed:
        await _read_twice(conversation, place)
        return await bring(conversation, point, random.Random(seed), hold_attempts=hold_attempts)

    return list(
        await asyncio.gather(
            *(
                bring_one(conversation, point, rng.randrange(2**31))
                for conversation, point in zip(conversations, chosen, strict=False)
            )
        )
    )


async def _read_twice(conversation: Conversation, place: int) -> None:
    """Open a reader at the process and at another one."""
    await conversation.read(place=place)
    if (count := len(conversation.cluster.processes)) > 1:
        await conversation.read(place=(place + 1) % count)


async def _finish_batch(
    cluster: Cluster, report: Report, placed: Sequence[Placed], *, began: float, is_counted: bool = True
) -> None:
    """Wait for every turn's end, audit, continue every conversation, and audit again."""
    conversations = [item.conversation for item in placed]
    closed = await until_closed(conversations, CLOSED_SECONDS)
    for item in placed:
        took = closed.get(item.conversation.key, began + CLOSED_SECONDS) - began
        if is_counted:
            report.points += 1
            report.seconds.append(max(0.0, took))
            report.expect(
                took <= USABLE_SECONDS * cluster.patience,
                f"{report.fault} {item.conversation.key} ({item.point}) was usable after {took:.1f} s",
            )
        status = (await in_database(last_turn, item.conversation.session_id)).status
        report.count(status)
    await asyncio.gather(*(_sees_the_end(item, report) for item in conversations))
    await asyncio.gather(*(talk_on(item, report) for item in conversations))
    report.violations += await audit(cluster, conversations)
    report.violations += audit_request_counts(cluster)
    await asyncio.gather(*(item.close() for item in conversations))


async def _sees_the_end(conversation: Conversation, report: Report) -> None:
    """Wait until every reader is back and knows that nothing is running."""
    for number, reader in enumerate(conversation.readers):
        try:
            await reader.until(reader.knows_the_end, SEEN_SECONDS * conversation.cluster.patience)
        except AssertionError as error:
            report.violations.append(f"I5 {report.fault} reader {number} never saw the end: {error}")


async def talk_on(conversation: Conversation, report: Report) -> None:
    """Retry what didn't complete, then send another message: no conversation is stuck."""
    reader = conversation.reader
    turn = await in_database(last_turn, conversation.session_id)
    if turn.status in RETRYABLE:
        seen = len(reader.dones)
        await reader.send(type="retry")
        await reader.until(lambda: len(reader.dones) > seen)
    plan = conversation.plan(PlannedRound(words=3))
    seen = len(reader.dones)
    await conversation.say(plan)
    await reader.until(lambda: len(reader.dones) > seen)
    report.expect(
        reader.text.startswith(f"{plan.key}r1a1w0"),
        f"{report.fault} {conversation.key} can't go on: {reader.text!r} {reader.errors}",
    )


def _owners(conversations: Sequence[Conversation]) -> dict[str, str]:
    return {item.key: last_turn(item.session_id).owner for item in conversations}


def _count_closed(conversations: Sequence[Conversation]) -> int:
    return sum(not last_turn(item.session_id).is_open for item in conversations)


def _dump(conversations: Sequence[Conversation]) -> dict[str, list[dict[str, Any]]]:
    """Return every row of these conversations that a runner may write, except usage."""
    return {item.key: _rows(item.session_id, item.user_id) for item in conversations}


def _rows(session_id: UUID, user_id: int) -> list[dict[str, Any]]:
    querysets = (
        Session.unscoped.filter(id=session_id),
        Turn.unscoped.filter(session_id=session_id).order_by("id"),
        Message.unscoped.filter(session_id=session_id).order_by("id"),
        Round.unscoped.filter(turn__session_id=session_id).order_by("id"),
        ToolCallRecord.unscoped.filter(turn__session_id=session_id).order_by("id"),
        UserFileVersion.unscoped.filter(file__user_id=user_id).order_by("id"),
    )
    return [{**model_to_dict(row), "pk": row.pk} for queryset in querysets for row in queryset]
