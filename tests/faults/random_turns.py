"""Property: every invariant holds, whatever people and the model do, and whenever the process dies.

Random turns (`random_rounds`) of text, notes, parallel and mixed calls, failing calls, arcs, questions and
ratings; all kinds of answers (`random_answers`), or a message instead; stops, retries, edits, other answers
asked for and chosen, queued messages, upstream faults, lost sockets and kills in between. The strict practice
model checks every request.
"""

import asyncio
import random
from collections.abc import Sequence

from coaching.practice.faults.fault import Fault
from sessions_app.database import in_database
from sessions_app.models import (
    OPEN_TURN_STATUSES,
    MessageRole,
    Session,
    SessionStatus,
    ToolCallState,
    Turn,
    TurnStatus,
)
from tests.faults.auditor import MAX_REQUESTS, audit
from tests.faults.cluster import Cluster
from tests.faults.histories import read_alternatives, read_answer, read_words
from tests.faults.lease_watcher import LeaseWatcher
from tests.faults.people import Conversation, Reader, open_conversations
from tests.faults.planned_model import PlannedRound, plan_of
from tests.faults.random_answers import answers_of_nobody, respond
from tests.faults.random_rounds import FAULTS, random_plan
from tests.faults.report import Report

PEOPLE = 6
STEPS_BETWEEN_KILLS = (12, 20)
SETTLED_SECONDS = 75.0
MID_TURN_SECONDS = 10.0
RETRYABLE = (TurnStatus.FAILED, TurnStatus.INTERRUPTED, TurnStatus.STOPPED)


async def run_random_turns(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Run `points` steps of several people; repeatedly kill a process during their turns."""
    report = Report(fault="turns", seed=seed)
    rng = random.Random(seed)
    async with cluster.opened(), LeaseWatcher(cluster) as watcher:
        people = [Person(cluster, number, report) for number in range(PEOPLE)]
        while report.points < points:
            # Kill it while others are in the middle of their steps.
            steps = min(rng.randint(*STEPS_BETWEEN_KILLS), points - report.points)
            each = -(-steps // PEOPLE)
            talking = [
                asyncio.create_task(person.talk(random.Random(rng.randrange(2**31)), each))
                for person in people
            ]
            victim = rng.randrange(len(cluster.processes))
            await _until_points(report, report.points + rng.randint(1, max(1, steps // 2)), talking)
            under = await _until_running(cluster, victim, talking)
            cluster.kill(victim)
            report.count("kills")
            report.count("turns under a kill", under)
            await asyncio.to_thread(cluster.start, victim)
            await asyncio.gather(*talking)
        conversations = [conversation for person in people for conversation in person.conversations]
        for conversation in conversations:
            await _settled(conversation)
            report.violations += await in_database(answers_of_nobody, conversation)
            report.count("turns", len(await in_database(_count_statuses, conversation, report)))
        report.violations += watcher.violations
        report.seconds.append(watcher.worst_seconds)
        report.violations += await audit(cluster, conversations)
        report.violations += await _audit_requests_a_part(cluster, conversations)
    return report


async def _until_points(report: Report, points: int, talking: Sequence["asyncio.Task[None]"]) -> None:
    while report.points < points and not all(task.done() for task in talking):
        await asyncio.wait(talking, timeout=0.05)


async def _until_running(cluster: Cluster, victim: int, talking: Sequence["asyncio.Task[None]"]) -> int:
    """Wait until the process to kill has running turns, or nobody is active; return how many."""
    deadline = asyncio.get_running_loop().time() + MID_TURN_SECONDS
    pid = cluster.process(victim).popen.pid
    while asyncio.get_running_loop().time() < deadline and not all(task.done() for task in talking):
        if count := await in_database(_count_running, pid):
            return count
        await asyncio.wait(talking, timeout=0.03)
    return 0


def _count_running(pid: int) -> int:
    return Turn.unscoped.filter(status=TurnStatus.RUNNING, owner__contains=f":{pid}:").count()


def _count_statuses(conversation: Conversation, report: Report) -> list[str]:
    statuses = list(Turn.unscoped.filter(session_id=conversation.session_id).values_list("status", flat=True))
    for status in statuses:
        report.count(f"turns {status}")
    return statuses


class Person:
    """A person who keeps talking, in a new conversation when the old one is complete."""

    def __init__(self, cluster: Cluster, number: int, report: Report) -> None:
        self.conversations: list[Conversation] = []
        self._cluster = cluster
        self._number = number
        self._report = report

    async def talk(self, rng: random.Random, steps: int) -> None:
        """Do that many things, each when nothing is running."""
        for _ in range(steps):
            conversation = await self._open_conversation()
            turn = await _settled(conversation)
            self._report.points += 1
            await self._step(conversation, turn, rng)

    async def _open_conversation(self) -> Conversation:
        if self.conversations:
            await _settled(self.conversations[-1])
            session = await in_database(Session.unscoped.get, id=self.conversations[-1].session_id)
            if session.status == SessionStatus.ACTIVE:
                return self.conversations[-1]
            self._report.count("conversations completed")
        (conversation,) = await open_conversations(self._cluster, 1)
        self.conversations.append(conversation)
        for tab in range(2):
            await conversation.read(place=(self._number + tab) % len(self._cluster.processes))
        return conversation

    async def _step(self, conversation: Conversation, turn: Turn | None, rng: random.Random) -> None:
        report = self._report
        if turn is not None and turn.status == TurnStatus.AWAITING_USER and rng.random() < 0.9:
            if rng.random() < 0.15:
                report.count("write")
                await _say(conversation, rng, report)
            else:
                await respond(conversation, rng, report)
        elif turn is not None and turn.status in RETRYABLE and rng.random() < 0.5:
            report.count("retries")
            await _ask(conversation, "retry")
        elif turn is not None and turn.stop_reason == "max_tokens" and rng.random() < 0.5:
            report.count("continued")
            await _ask(conversation, "continue")
        elif turn is not None and rng.random() < 0.1:
            report.count("messages changed")
            await _say(conversation, rng, report, kind="edit")
        elif turn is not None and turn.can_be_answered_again and rng.random() < 0.2:
            report.count("answered again")
            await _ask(conversation, "again")
            await _meanwhile(conversation, rng, report)
        elif turn is not None and turn.message_number and rng.random() < 0.5:
            await _choose(conversation, rng, report)
        else:
            await _say(conversation, rng, report)


async def _ask(conversation: Conversation, kind: str) -> None:
    """Send a frame that starts a turn without a message, and wait until it is handled.

    Until then nothing seems to run: another message would be refused, or find the conversation ended by that
    turn.
    """
    await conversation.reader.send(type=kind)
    await conversation.reader.is_done_with()


async def _say(conversation: Conversation, rng: random.Random, report: Report, kind: str = "message") -> None:
    plan = conversation.plan(*random_plan(rng))
    if rng.random() < 0.2:
        report.count("faults")
        conversation.cluster.practice.faults.push(
            Fault(
                kind=rng.choice(FAULTS),
                key=f"[{plan.key}]",
                skip=rng.randint(0, 2),
                times=rng.choice((1, 1, 9)),
            )
        )
    if kind == "message" and not await in_database(_is_open, conversation):
        conversation.words_before[plan.key] = await in_database(read_words, conversation.session_id)
    await conversation.say(plan, kind=kind)
    await _meanwhile(conversation, rng, report)
    if rng.random() < 0.15:
        await _queue(conversation, rng, report)


async def _meanwhile(conversation: Conversation, rng: random.Random, report: Report) -> None:
    """Stop the turn that has begun, or lose a connection to it, or neither."""
    choice = rng.random()
    if choice >= 0.35:
        return
    # In between: some frames of the answer have come, or it is complete already.
    reader, frames = conversation.reader, rng.randint(1, 8)
    seen = len(reader.frames)
    await reader.until(
        lambda: len(reader.frames) >= seen + frames or reader.status != "running" or not reader.is_connected
    )
    if choice < 0.2:
        report.count("stops")
        await rng.choice(conversation.readers).send(type="stop")
    else:
        report.count("sockets lost")
        await rng.choice(conversation.readers).drop()


async def _queue(conversation: Conversation, rng: random.Random, report: Report) -> None:
    """Send what one tab or both have queued, as soon as they see the turn's end."""
    tabs = rng.choice((conversation.readers[:1], conversation.readers))
    report.count("queued", len(tabs))
    plans = [conversation.plan(PlannedRound(words=rng.randint(1, 8))) for _ in tabs]
    await asyncio.gather(
        *(conversation.say_at_the_end(plan, tab) for plan, tab in zip(plans, tabs, strict=True))
    )


async def _choose(conversation: Conversation, rng: random.Random, report: Report) -> None:
    """Choose an answer to the last message, in one tab or another one in each."""
    answers = await in_database(read_alternatives, conversation.session_id)
    if not answers:
        return
    before = await in_database(read_answer, conversation.session_id)
    is_open = await in_database(_is_open, conversation)
    tabs = rng.choice((conversation.readers[:1], conversation.readers))
    report.count("chosen", len(tabs))
    chosen = rng.choices(answers, k=len(tabs))
    await asyncio.gather(
        *(tab.send(type="choose", turn=turn) for tab, (turn, _) in zip(tabs, chosen, strict=True))
    )
    if all(await asyncio.gather(*(tab.is_done_with() for tab in tabs))):
        stored = await in_database(read_answer, conversation.session_id)
        # While another answer waits for its question, nothing can be chosen.
        expected = [before] if is_open else chosen
        report.expect(stored in expected, f"{conversation.key}: {stored} is in the history, not {expected}")
    kept = await in_database(read_alternatives, conversation.session_id)
    report.expect(kept == answers, f"{conversation.key}: the answers were {answers} and are {kept}")


async def _settled(conversation: Conversation) -> Turn | None:
    """Wait until no part is running and every reader is up to date; return the newest turn."""
    readers = conversation.readers
    turn, waiting = None, ""
    try:
        async with asyncio.timeout(SETTLED_SECONDS):
            while True:
                if all(reader.is_connected and reader.status != "running" for reader in readers):
                    turn, waiting = await in_database(_newest, conversation)
                    stored = await in_database(read_answer, conversation.session_id)
                    if _is_at_rest(turn, waiting) and all(
                        _shows_rest(reader, waiting, stored) for reader in readers
                    ):
                        return turn
                await conversation.news()
    except TimeoutError:
        seen = [(reader.is_connected, reader.status, reader.answer, reader.frames[-6:]) for reader in readers]
        told = f"{conversation.key} never came to rest: {turn} {turn and turn.status} waits for {waiting!r}"
        raise AssertionError(f"{told}; its readers saw {seen}") from None


def _newest(conversation: Conversation) -> tuple[Turn | None, str]:
    """Return the newest turn and its pending question."""
    turn = Turn.unscoped.filter(session_id=conversation.session_id).order_by("-started_at").first()
    if turn is None or turn.status != TurnStatus.AWAITING_USER:
        return turn, ""
    waiting = turn.calls.filter(state=ToolCallState.PENDING).order_by("round_number", "position")
    return turn, str(waiting.values_list("tool_use_id", flat=True).first() or "")


def _is_at_rest(turn: Turn | None, waiting: str) -> bool:
    # A turn without a pending question was answered between the two queries.
    return turn is None or (bool(waiting) if turn.status == TurnStatus.AWAITING_USER else not turn.is_open)


def _is_open(conversation: Conversation) -> bool:
    turns = Turn.unscoped.filter(session_id=conversation.session_id, status__in=OPEN_TURN_STATUSES)
    return turns.exists()


def _shows_rest(reader: Reader, waiting: str, stored: tuple[str, str]) -> bool:
    """Return whether a reader shows the question that waits and, unless it has come back, the last answer."""
    is_idle = reader.is_connected and reader.status != "running" and reader.pending_id() == waiting
    return is_idle and (reader.answer is None or reader.answer == stored)


async def _audit_requests_a_part(cluster: Cluster, conversations: Sequence[Conversation]) -> list[str]:
    """Check I7's requests: each message's turns, including retries, may send 15 requests per part."""
    asked: dict[str, int] = {}
    for request in cluster.practice.requests:
        key = plan_of(request.body)
        asked[key] = asked.get(key, 0) + 1
    found = []
    for conversation in conversations:
        for key, parts in (await in_database(_parts_by_plan, conversation)).items():
            if asked.get(key, 0) > MAX_REQUESTS * parts:
                found.append(f"I7 {key} asked {asked[key]} times in {parts} parts")
    return found


def _parts_by_plan(conversation: Conversation) -> dict[str, int]:
    """Return how many parts answered each plan's message."""
    turns = Turn.unscoped.filter(session_id=conversation.session_id).order_by("-started_at")
    parts: dict[str, int] = {}
    key = ""
    for turn in turns:
        # A retried message belongs to the later turn.
        spoken = turn.messages.filter(role=MessageRole.USER).first()
        key = (spoken.client_id or "").split("-")[0] if spoken else key
        parts[key] = parts.get(key, 0) + turn.part
    return parts
