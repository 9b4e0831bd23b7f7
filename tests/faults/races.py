"""R7 and R9: two tabs that send at once, through two processes if there are two."""

import asyncio
import random
from itertools import pairwise
from uuid import UUID

from sessions_app.database import in_database
from sessions_app.models import Message, MessageRole, Turn
from tests.faults.auditor import audit
from tests.faults.cluster import Cluster
from tests.faults.people import Conversation, open_conversations, until_closed
from tests.faults.planned_model import PlannedRound, plan_of
from tests.faults.report import Report

SESSIONS = 8
CLOSED_SECONDS = 45.0
BUSY = "still answering"


async def run_r7(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Race two different messages into one session, repeatedly: one wins, the other gets an error."""
    report = Report(fault="R7", seed=seed)
    rng = random.Random(seed)
    async with cluster.opened():
        conversations = await open_conversations(cluster, min(SESSIONS, points))
        await asyncio.gather(*(_open_tabs(conversation) for conversation in conversations))
        while report.points < points:
            racing = conversations[: points - report.points]
            await asyncio.gather(
                *(_race(conversation, random.Random(rng.randrange(2**31)), report) for conversation in racing)
            )
            report.points += len(racing)
        await until_closed(conversations, CLOSED_SECONDS)
        for conversation in conversations:
            if await in_database(_overlaps, conversation.session_id):
                report.violations.append(f"R7 {conversation.key}: two turns ran at once")
        report.violations += await audit(cluster, conversations)
    return report


async def _open_tabs(conversation: Conversation) -> None:
    for place in range(2):
        await conversation.read(place=place % len(conversation.cluster.processes))


async def _race(conversation: Conversation, rng: random.Random, report: Report) -> None:
    """Two tabs send at the same moment. The winner's turn is held until the other got its error."""
    cluster = conversation.cluster
    plans = [
        conversation.plan(PlannedRound(words=rng.randint(2, 5), hold="text", hold_after=1)) for _ in range(2)
    ]
    tabs = conversation.readers[:2]
    rng.shuffle(tabs)
    ended = [len(tab.dones) for tab in tabs]
    frames = [len(tab.frames) for tab in tabs]
    ids = [f"{plan.key}-race" for plan in plans]
    began = asyncio.get_running_loop().time()
    await asyncio.gather(
        *(
            tab.send(type="message", text=plan.text, id=client_id)
            for tab, plan, client_id in zip(tabs, plans, ids, strict=True)
        )
    )

    def was_told(number: int) -> bool:
        return any(BUSY in frame.get("error", "") for frame in tabs[number].frames[frames[number] :])

    def has_won(number: int) -> bool:
        return any(ids[number] in tab.acknowledged for tab in tabs)

    def is_decided() -> bool:
        return (was_told(0) or was_told(1)) and (has_won(0) or has_won(1))

    await tabs[0].until(is_decided)
    report.seconds.append(asyncio.get_running_loop().time() - began)
    winners = [number for number in range(2) if has_won(number)]
    report.expect(len(winners) == 1, f"R7 {conversation.key}: {len(winners)} of two messages won")
    report.expect(
        all(was_told(1 - number) and not was_told(number) for number in winners),
        f"R7 {conversation.key}: the wrong tab was told",
    )
    report.count(f"won in process {tabs[winners[0]].place}")
    conversation.sent.append(ids[winners[0]])
    cluster.practice.release(plans[winners[0]].gate(1))
    for tab, before in zip(tabs, ended, strict=True):
        await tab.until(lambda tab=tab, before=before: len(tab.dones) > before)  # type: ignore[misc]  # a default value hides its type


def _overlaps(session_id: UUID) -> bool:
    turns = Turn.unscoped.filter(session_id=session_id).order_by("started_at")
    spans = list(turns.values_list("started_at", "ended_at"))
    return any(before[1] is None or before[1] > after[0] for before, after in pairwise(spans))


async def run_r9(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Send pairs with the same client id, at once or in sequence: one row, one turn, one request."""
    report = Report(fault="R9", seed=seed)
    rng = random.Random(seed)
    async with cluster.opened():
        conversations = await open_conversations(cluster, min(SESSIONS, points))
        await asyncio.gather(*(_open_tabs(conversation) for conversation in conversations))
        while report.points < points:
            pairs = conversations[: points - report.points]
            await asyncio.gather(
                *(_pair(conversation, random.Random(rng.randrange(2**31)), report) for conversation in pairs)
            )
            report.points += len(pairs)
        for conversation in conversations:
            counts = await in_database(_counts, conversation.session_id)
            sent = len(conversation.sent)
            report.expect(counts == (sent, sent), f"R9 {conversation.key}: {counts} rows for {sent} pairs")
        asked = [plan_of(request.body) for request in cluster.practice.requests]
        report.expect(len(asked) == len(set(asked)), "R9 the model was asked twice for one message")
        report.violations += await audit(cluster, conversations)
    return report


async def _pair(conversation: Conversation, rng: random.Random, report: Report) -> None:
    plan = conversation.plan(PlannedRound(words=3))
    tabs = conversation.readers[:2]
    rng.shuffle(tabs)
    ended = [len(tab.dones) for tab in tabs]
    told = [len(tab.refusals) for tab in tabs]
    client_id = f"{plan.key}-pair"
    began = asyncio.get_running_loop().time()
    await tabs[0].send(type="message", text=plan.text, id=client_id)
    is_at_once = rng.random() < 0.7
    if not is_at_once:
        await tabs[0].until(lambda: len(tabs[0].dones) > ended[0])
    report.count("at once" if is_at_once else "one after another")
    await tabs[rng.randrange(2)].send(type="message", text=plan.text, id=client_id)
    for tab, before in zip(tabs, ended, strict=True):
        await tab.until(lambda tab=tab, before=before: len(tab.dones) > before)  # type: ignore[misc]  # a default value hides its type
    for tab, before in zip(tabs, told, strict=True):
        report.expect(await tab.is_done_with(), f"R9 {conversation.key}: a tab lost its socket")
        others = tab.refusals[before:]
        report.expect(not others, f"R9 {conversation.key}: who sent it again was told {others}")
    report.seconds.append(asyncio.get_running_loop().time() - began)
    conversation.sent.append(client_id)


def _counts(session_id: UUID) -> tuple[int, int]:
    messages = Message.unscoped.filter(session_id=session_id, role=MessageRole.USER)
    return messages.count(), Turn.unscoped.filter(session_id=session_id).count()
