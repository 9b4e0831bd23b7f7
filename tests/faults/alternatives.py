"""Other answers to a message: asked for, chosen and followed by what was queued, while processes die.

Each conversation's first message is answered; then it is answered again, and at a random point of that its
person does something, in either tab, or the process is killed. Afterwards one of the answers is chosen.
"""

import asyncio
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args
from uuid import UUID, uuid4

import aiohttp

from sessions_app.database import in_database
from sessions_app.models import ModelUsage, Round, Turn, UsagePurpose
from tests.faults.auditor import audit
from tests.faults.cluster import Cluster
from tests.faults.histories import read_alternatives, read_answer, read_words
from tests.faults.people import Conversation, Reader, open_conversations, until_closed
from tests.faults.planned_model import WORDS, Plan, PlannedRound
from tests.faults.points import Placed, Point, bring
from tests.faults.report import Report

BATCH = 8
CLOSED_SECONDS = 45.0
AGAIN = frozenset({2})
"""The attempt that is held at its point: the second answer's."""
POINTS: tuple[Point, ...] = ("before_first_byte", "in_text", "in_tool_json", "before_next_round")
_PLACE = re.compile(r'class="answers".*?<span>(\d+) of (\d+)</span>', re.DOTALL)

Action = Literal["leave", "choose early", "ask twice", "queue", "queue in two tabs", "stop", "reload", "kill"]
ACTIONS: tuple[Action, ...] = get_args(Action)
Choice = Literal["one tab", "two tabs", "and leave", "and die"]
CHOICES: tuple[Choice, ...] = get_args(Choice)


@dataclass(kw_only=True)
class Asked(Conversation):
    """A conversation whose first message is answered again as soon as it has an answer."""

    action: Action = "leave"
    choice: Choice = "one tab"
    queued: list["asyncio.Task[str]"] = field(default_factory=list)

    async def say(self, plan: Plan, *, reader: Reader | None = None, kind: str = "message") -> str:
        """Send a plan's message; after the answer to the first one, ask for another."""
        sent = await Conversation.say(self, plan, reader=reader, kind=kind)
        if plan is self.plans[0]:
            await asyncio.gather(*(tab.until(lambda tab=tab: tab.answer is not None) for tab in self.readers))  # type: ignore[misc]  # a default value hides its type
            await self.reader.send(type="again")
        return sent

    def queue(self, reader: Reader) -> None:
        """Send a message that is queued in a tab."""
        plan = self.plan(PlannedRound(words=3))
        sending = self.say_at_the_end(plan, reader)
        self.queued.append(asyncio.create_task(sending, name=f"queued {plan.key}"))


async def run_alternatives(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Answer messages again; at a random point of that, their people do something or the process dies."""
    report = Report(fault="answers", seed=seed)
    rng = random.Random(seed)
    actions = [action for _ in range(points) for action in rng.sample(ACTIONS, len(ACTIONS))]
    choices = [choice for _ in range(points) for choice in rng.sample(CHOICES, len(CHOICES))]
    async with cluster.opened():
        while report.points < points:
            count = min(BATCH, points - report.points)
            asked = [_asked(item) for item in await open_conversations(cluster, count)]
            for item in asked:
                item.action, item.choice = actions.pop(), choices.pop()
            await _run_batch(cluster, report, rng, asked)
    return report


def _asked(item: Conversation) -> Asked:
    return Asked(
        cluster=item.cluster,
        key=item.key,
        user_id=item.user_id,
        session_id=item.session_id,
        cookie=item.cookie,
    )


async def _run_batch(cluster: Cluster, report: Report, rng: random.Random, asked: Sequence[Asked]) -> None:
    places = rng.sample(POINTS, len(POINTS)) + rng.choices(POINTS, k=len(asked))
    placed = await asyncio.gather(
        *(_bring(item, point, rng.randrange(2**31)) for item, point in zip(asked, places, strict=False))
    )
    await asyncio.gather(
        *(_act(item, one, report) for item, one in zip(asked, placed, strict=True) if item.action != "kill")
    )
    if any(item.action == "kill" for item in asked):
        await _kill(cluster, report)
    await asyncio.gather(*(item.release() for item in placed))
    await asyncio.gather(*(task for item in asked for task in item.queued))
    await _settle(asked, report)
    rngs = [random.Random(rng.randrange(2**31)) for _ in asked]
    await asyncio.gather(*(_choose(item, one, report) for item, one in zip(asked, rngs, strict=True)))
    if any(item.choice == "and die" for item in asked):
        await _kill(cluster, report)
    await _settle(asked, report)
    await asyncio.gather(*(_audit_answers(item, report) for item in asked))
    await asyncio.gather(*map(_talk_on, asked))
    await _settle(asked, report)
    report.points += len(asked)
    report.violations += await audit(cluster, asked)
    for item in asked:
        report.violations += await in_database(_audit_costs, item)
    await asyncio.gather(*(item.close() for item in asked))


async def _bring(asked: Asked, point: Point, seed: int) -> Placed:
    for place in range(2):
        await asked.read(place=place % len(asked.cluster.processes))
    return await bring(asked, point, random.Random(seed), hold_attempts=AGAIN, is_json_stalled=False)


async def _kill(cluster: Cluster, report: Report) -> None:
    report.count("kills")
    cluster.kill(0)
    await cluster.ensure_up()


async def _act(asked: Asked, placed: Placed, report: Report) -> None:
    """Do it while the second answer is held; `placed` is released later."""
    first, second = asked.readers
    report.count(asked.action)
    match asked.action:
        case "choose early":
            before = await in_database(_turns, asked.session_id)
            await _is_refused(second, report, type="choose", turn=before[0])
        case "ask twice":
            await _is_refused(second, report, type="again")
        case "queue":
            asked.queue(second)
        case "queue in two tabs":
            asked.queue(first)
            asked.queue(second)
        case "stop":
            await second.send(type="stop")
            await second.until(second.knows_the_end)
        case "reload":
            await asyncio.gather(first.drop(), second.drop())
        case "leave" | "kill":
            pass


async def _is_refused(reader: Reader, report: Report, **frame: object) -> None:
    refused = len(reader.refusals)
    await reader.send(**frame)
    if await reader.is_done_with():
        report.expect(
            len(reader.refusals) == refused + 1, f"{reader.conversation.key}: {frame} was not refused"
        )


def _turns(session_id: UUID) -> list[str]:
    turns = Turn.unscoped.filter(session_id=session_id).order_by("started_at")
    return [str(turn) for turn in turns.values_list("id", flat=True)]


async def _settle(asked: Sequence[Asked], report: Report) -> None:
    """Wait until nothing runs, and until every tab shows the answer that is stored."""
    closed = await until_closed(list(asked), CLOSED_SECONDS * asked[0].cluster.patience)
    for item in asked:
        report.expect(item.key in closed, f"{item.key} ({item.action}) didn't come to its end")
        stored = await in_database(read_answer, item.session_id)
        for reader in item.readers:
            # After a reconnect a tab has loaded its page, which the auditor compares.
            await reader.until(lambda r=reader, s=stored: r.knows_the_end() and r.answer in (None, s))  # type: ignore[misc]  # default values hide their types


async def _choose(asked: Asked, rng: random.Random, report: Report) -> None:
    """Choose one of the answers to the last message; only a choice may change which one it is."""
    answers = await in_database(read_alternatives, asked.session_id)
    tab = rng.choice(asked.readers)
    await _is_refused(tab, report, type="choose", turn=str(uuid4()))
    if not answers:  # another message came after it
        turns = await in_database(_turns, asked.session_id)
        await _is_refused(tab, report, type="choose", turn=turns[0])
        return
    report.count(f"choose in {asked.choice}" if "tab" in asked.choice else f"choose {asked.choice}")
    chosen = rng.choices(answers, k=2 if asked.choice == "two tabs" else 1)
    tabs = asked.readers if asked.choice == "two tabs" else [tab]
    await asyncio.gather(
        *(one.send(type="choose", turn=turn) for one, (turn, _) in zip(tabs, chosen, strict=True))
    )
    match asked.choice:
        case "and die":
            return
        case "and leave":
            await tab.drop()
            return
    if all(await asyncio.gather(*(one.is_done_with() for one in tabs))):
        stored = await in_database(read_answer, asked.session_id)
        report.expect(stored in chosen, f"{asked.key}: {stored} is in the history, chosen was {chosen}")
    kept = await in_database(read_alternatives, asked.session_id)
    report.expect(kept == answers, f"{asked.key}: the answers were {answers} and are {kept}")


async def _audit_answers(asked: Asked, report: Report) -> None:
    """Check that every answer has a page, and that the conversation's says which of them is shown."""
    answers = await in_database(read_alternatives, asked.session_id)
    shown = await in_database(read_answer, asked.session_id)
    if len(answers) < 2 or shown not in answers:  # the second was stopped before its first word
        return
    report.count("messages with several answers")
    port = asked.cluster.process(asked.cluster.up()[0]).port
    async with aiohttp.ClientSession(
        base_url=f"http://localhost:{port}", headers={"Cookie": asked.cookie}
    ) as browser:
        told = _PLACE.search(await _page(browser, f"/chat/{asked.session_id}/"))
        place = told and told.groups()
        expected = (str(answers.index(shown) + 1), str(len(answers)))
        report.expect(place == expected, f"{asked.key}: {expected} is shown as {place}")
        for turn, text in answers:
            page = await _page(browser, f"/chat/{asked.session_id}/answers/{turn}/")
            missing = set(WORDS.findall(text)) - set(WORDS.findall(page))
            report.expect(not missing, f"{asked.key}: the page of {turn} lacks {missing}")


async def _page(browser: aiohttp.ClientSession, path: str) -> str:
    async with browser.get(path) as answer:
        assert answer.status == 200, (path, answer.status)
        return await answer.text()


async def _talk_on(asked: Asked) -> None:
    """Write another message, which is sent with the chosen answer alone, and hear its answer."""
    plan, reader = asked.plan(PlannedRound(words=3)), asked.reader
    asked.words_before[plan.key] = await in_database(read_words, asked.session_id)
    await asked.say(plan)
    await reader.until(lambda: reader.status == "idle" and reader.text.startswith(f"{plan.key}r1a"))


def _audit_costs(asked: Asked) -> list[str]:
    """Check that every reply was charged once: no more charges than requests, no fewer than rounds."""
    charged = ModelUsage.unscoped.filter(session_id=asked.session_id, purpose=UsagePurpose.TURN).count()
    rounds = Round.unscoped.filter(turn__session_id=asked.session_id, is_partial=False).count()
    requests = sum(plan.attempts.total() for plan in asked.plans)
    if rounds <= charged <= requests:
        return []
    return [f"{asked.key} ({asked.action}): {charged} charges for {rounds} rounds and {requests} requests"]
