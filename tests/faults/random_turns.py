"""The property: whatever people and the model do, and whenever the process dies, every invariant holds.

Random turns of text, notes, parallel and mixed calls, calls that fail, questions and ratings; answers, wrong
answers, dismissals, two answers at once, a message instead; stops, retries, faults upstream, lost sockets and
kills. The strict practice model checks every request that the code then sends.
"""

import asyncio
import random
from collections.abc import Mapping
from typing import Any

from coaching.practice.faults import Fault
from coaching.tools import CHAT_TOOLS
from sessions_app.database import in_database
from sessions_app.models import Turn, TurnStatus
from tests.faults.auditor import LeaseWatcher, audit, audit_request_counts
from tests.faults.house import House
from tests.faults.people import Conversation, Frame, Reader, open_conversations
from tests.faults.planned_model import DOMAINS, PlannedRound
from tests.faults.report import Report

PEOPLE = 6
STEPS_BETWEEN_KILLS = (8, 20)
SETTLED_SECONDS = 60.0
RETRYABLE = (TurnStatus.FAILED, TurnStatus.INTERRUPTED, TurnStatus.STOPPED)
FAULTS = (
    *(
        "cut",
        "reset",
        "end_early",
        "broken_json",
        "error_event",
        "changed_message_id",
        "status",
        "empty_body",
    ),
    *("max_tokens_in_tool", "max_tokens_in_text", "refusal", "pause_turn", "tool_use_without_block"),
)
BAD_CALLS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("no_such_tool", {"a": 1}),
    ("save_file", {"file_type": "domain", "file_name": "../../etc/passwd", "content": "x"}),
    ("save_file", {"content": 7}),
    ("read_file", {"path": "nowhere.md"}),
    ("enter_structured_arc", {"arc": "nonsense"}),
    ("complete_session", {"type": "arc"}),
)


async def run_random_turns(house: House, *, seed: int, points: int) -> Report:
    """Let people talk for `points` steps in all; a lone house's process is killed again and again."""
    report = Report(fault="turns", seed=seed)
    rng = random.Random(seed)
    async with house.opened(), LeaseWatcher(house) as watcher:
        conversations = await open_conversations(house, PEOPLE)
        for number, conversation in enumerate(conversations):
            for tab in range(2):
                await conversation.read(place=(number + tab) % len(house.processes))
        while report.points < points:
            # The kill comes while others are in the middle of their steps.
            steps = min(rng.randint(*STEPS_BETWEEN_KILLS), points - report.points)
            each = -(-steps // PEOPLE)
            talking = [
                asyncio.create_task(_talk(item, random.Random(rng.randrange(2**31)), each, report))
                for item in conversations
            ]
            victim = rng.randrange(len(house.processes))
            await _until_points(report, report.points + rng.randint(1, max(1, steps // 2)), talking)
            house.kill(victim)
            report.count("kills")
            await asyncio.to_thread(house.start, victim)
            await asyncio.gather(*talking)
        for conversation in conversations:
            await _settled(conversation)
        report.violations += watcher.violations
        report.violations += await audit(house, conversations)
        report.violations += audit_request_counts(house, most=20)  # a plan may be asked in several parts
    return report


async def _until_points(report: Report, points: int, talking: list["asyncio.Task[None]"]) -> None:
    while report.points < points and not all(task.done() for task in talking):
        await asyncio.wait(talking, timeout=0.05)


async def _talk(conversation: Conversation, rng: random.Random, steps: int, report: Report) -> None:
    for _ in range(steps):
        turn = await _settled(conversation)
        report.points += 1
        if turn is not None and turn.status == TurnStatus.AWAITING_USER:
            await _respond(conversation, rng, report)
        elif turn is not None and turn.status in RETRYABLE and rng.random() < 0.5:
            report.count("retries")
            await conversation.reader.send(type="retry")
        elif turn is not None and turn.stop_reason == "max_tokens" and rng.random() < 0.5:
            report.count("continued")
            await conversation.reader.send(type="continue")
        else:
            await _say(conversation, rng, report)


async def _say(conversation: Conversation, rng: random.Random, report: Report) -> None:
    plan = conversation.plan(*(random_round(rng, is_last=False) for _ in range(rng.randint(0, 3))),
                             random_round(rng, is_last=True))  # fmt: skip
    if rng.random() < 0.2:
        kind = rng.choice(FAULTS)
        report.count("faults")
        conversation.house.practice.faults.push(
            Fault(kind=kind, key=f"[{plan.key}]", skip=rng.randint(0, 2), times=rng.choice((1, 1, 9)))  # type: ignore[arg-type]
        )
    await conversation.say(plan)
    choice = rng.random()
    if choice < 0.15:
        report.count("stops")
        await rng.choice(conversation.readers).send(type="stop")
    elif choice < 0.3:
        report.count("sockets lost")
        await rng.choice(conversation.readers).drop()


def random_round(rng: random.Random, *, is_last: bool) -> PlannedRound:
    """Return a round: the last one in words, the others with calls of any kind."""
    words = rng.randint(1, 8) if is_last else rng.randint(0, 4)
    calls: list[tuple[str, Mapping[str, Any]]] = []
    saves: tuple[str, ...] = ()
    if not is_last:
        saves = tuple(rng.choices(DOMAINS, k=rng.randint(0, 3)))
        calls += [rng.choice(BAD_CALLS) for _ in range(rng.choice((0, 0, 1, 2)))]
        calls += [_question(rng) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
        if not saves and not calls:
            saves = (rng.choice(DOMAINS),)
    return PlannedRound(words=words, note=rng.random() < 0.3, saves=saves, calls=tuple(calls))


def _question(rng: random.Random) -> tuple[str, Mapping[str, Any]]:
    questions: list[tuple[str, Mapping[str, Any]]] = []
    if CHAT_TOOLS.get("show_options"):
        questions.append(("show_options", {"options": [{"label": "Yes"}, {"label": "No", "value": "no"}]}))
    if CHAT_TOOLS.get("show_pulse_check"):
        questions.append(("show_pulse_check", {"domains": rng.sample(DOMAINS, rng.randint(1, 3))}))
    return rng.choice(questions)


async def _respond(conversation: Conversation, rng: random.Random, report: Report) -> None:
    """Answer, answer wrongly first, answer in two tabs, dismiss, or write instead."""
    reader = conversation.reader
    await reader.until(lambda: reader.pending is not None or not reader.is_connected, SETTLED_SECONDS)
    if reader.pending is None:
        return
    tool_use_id, right, wrong = _answers(reader.pending, rng)
    how = rng.choice(("answer", "answer", "wrong", "twice", "dismiss", "write"))
    report.count(how)
    if how == "write":
        await _say(conversation, rng, report)
        return
    if how == "dismiss":
        await reader.send(type="dismiss", toolUseId=tool_use_id)
    elif how == "twice":
        tabs: list[Reader] = conversation.readers
        await asyncio.gather(*(tab.send(type="answer", toolUseId=tool_use_id, value=right) for tab in tabs))
    else:
        value = wrong if how == "wrong" else right
        await reader.send(type="answer", toolUseId=tool_use_id, value=value)
    told = len(reader.refusals)
    await reader.until(
        lambda: (
            reader.pending is None
            or reader.pending_id() != tool_use_id
            or len(reader.refusals) > told
            or how == "wrong"
            or not reader.is_connected
        )
    )


def _answers(pending: Frame, rng: random.Random) -> tuple[str, object, object]:
    """Return the call's id, an answer to it, and something that is none."""
    if "showOptions" in pending:
        shown = pending["showOptions"]
        return shown["toolUseId"], rng.choice(shown["options"])["value"], rng.choice(("", None, "maybe", {}))
    shown = pending["showPulseCheck"]
    ratings = {domain: rng.randint(1, 5) for domain in shown["domains"]}
    return (
        shown["toolUseId"],
        {"ratings": ratings},
        rng.choice(({}, {"ratings": {}}, {"ratings": {"x": 9}}, 3)),
    )


async def _settled(conversation: Conversation) -> Turn | None:
    """Wait until no part runs and every reader knows it; return the newest turn."""
    async with asyncio.timeout(SETTLED_SECONDS):
        while True:
            turn = await in_database(_newest, conversation)
            if turn is None or turn.status != TurnStatus.RUNNING:
                break
            await asyncio.sleep(0.03)
    for reader in conversation.readers:
        await reader.until(lambda reader=reader: reader.is_connected and reader.status != "running")  # type: ignore[misc]
    return turn


def _newest(conversation: Conversation) -> Turn | None:
    return Turn.objects.filter(session_id=conversation.session_id).order_by("-started_at").first()
