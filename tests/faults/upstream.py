"""R4: every upstream failure, before the first byte, in text, in a call, in round two."""

import asyncio
import random
from dataclasses import replace
from typing import get_args
from uuid import UUID

from coaching.engine.errors import FailureReason
from coaching.models import UserFileVersion
from coaching.practice.faults.fault import Fault, FaultKind
from coaching.turns.words import FAILURES, WORDS
from sessions_app.database import in_database
from sessions_app.models import ToolCallRecord, Turn, TurnStatus
from tests.faults.auditor import CLOSING_SECONDS, TURN_SECONDS, audit, audit_request_counts
from tests.faults.cluster import Cluster
from tests.faults.crashes import talk_on
from tests.faults.people import Conversation, last_turn, open_conversations, until_closed
from tests.faults.planned_model import PlannedRound
from tests.faults.report import Report

AT_ONCE = 24
SERVER_WORDS = "flumtrix-quorble"
"""In no request, so that the log may hold it; no reader may see it."""
PLACES = ("before_first_byte", "in_text", "in_tool_json", "before_message_stop", "second_round")
PLACES_OF_FAULTS = ("before_first_byte", "in_tool_json", "before_message_stop")
BREAKING = ("cut", "reset", "end_early", "broken_json", "error_event")
"""Faults that leave an answer without its end at any point: none of its calls may run."""
STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529)
RETRY_AFTERS = (None, "0", "1", "3600")
SENTENCES = frozenset(
    {*FAILURES.values(), WORDS.cut_in_call, WORDS.cut_in_words, WORDS.too_long, WORDS.nothing_said}
)
EACH_ONCE = len(PLACES) * len(get_args(FaultKind))
"""Points of the short form: every kind at every place."""


def all_faults(rng: random.Random) -> list[tuple[str, Fault]]:
    """Return every kind at every point, once and permanently, in random order."""
    faults: list[tuple[str, Fault]] = []
    for place in PLACES:
        at = place if place in PLACES_OF_FAULTS else "in_text"
        for kind in get_args(FaultKind):
            for times in (1, 99):
                fault = Fault(kind=kind, place=at, times=times)  # type: ignore[arg-type]
                if kind == "status":
                    faults += [(place, replace(fault, status=status)) for status in STATUSES]
                elif kind in ("stall", "slow_start"):
                    faults.append((place, replace(fault, seconds=rng.choice((0.5, 60.0)))))
                else:
                    faults.append((place, fault))
    faults = [(place, replace(fault, retry_after=rng.choice(RETRY_AFTERS))) for place, fault in faults]
    rng.shuffle(faults)
    return faults


EVERY_FAULT = len(all_faults(random.Random(0)))
"""Points of the long form: every kind and status at every point, once and permanently."""


async def run_r4(cluster: Cluster, *, seed: int, points: int) -> Report:
    """Inject one fault into each turn, once or repeatedly; `points` says how many of `EVERY_FAULT`."""
    report = Report(fault="R4", seed=seed)
    rng = random.Random(seed)
    turn_seconds = float(cluster.variables.get("SAGE_TURN_SECONDS", TURN_SECONDS))
    faults = all_faults(rng)
    faults = _spread(faults)[:points]
    async with cluster.opened():
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(conversation: Conversation, place: str, fault: Fault) -> None:
            async with turns:
                await _one(conversation, place, fault, report, turn_seconds)
                await asyncio.gather(*(reader.close() for reader in conversation.readers))

        conversations = await open_conversations(cluster, len(faults))
        await asyncio.gather(
            *(one(item, place, fault) for item, (place, fault) in zip(conversations, faults, strict=True))
        )
        report.violations += await audit(cluster, conversations, turn_seconds=turn_seconds)
        report.violations += audit_request_counts(cluster)
        report.expect(SERVER_WORDS in cluster.log_text(), "the log lacks the upstream's words")
    return report


def _spread(faults: list[tuple[str, Fault]]) -> list[tuple[str, Fault]]:
    """Move each kind and point to the front once, so that a short form covers all before repeating one."""
    seen: set[tuple[str, str]] = set()
    first: list[tuple[str, Fault]] = []
    rest: list[tuple[str, Fault]] = []
    for place, fault in faults:
        is_new = (place, fault.kind) not in seen
        seen.add((place, fault.kind))
        (first if is_new else rest).append((place, fault))
    return first + rest


async def _one(
    conversation: Conversation, place: str, fault: Fault, report: Report, turn_seconds: float
) -> None:
    cluster = conversation.cluster
    what = f"{fault.kind} {fault.status}" if fault.kind == "status" else fault.kind
    name = f"R4 {conversation.key} {what} {place} ×{fault.times}"
    plan = conversation.plan(
        PlannedRound(words=8, saves=("career", "health")),
        PlannedRound(words=4, saves=("play",)),
        PlannedRound(words=6),
    )
    cluster.practice.faults.push(
        replace(
            fault,
            key=f"[{plan.key}]",
            message=f"{SERVER_WORDS} near '{plan.text}'",
            skip=1 if place == "second_round" else 0,
        )
    )
    reader = await conversation.read()
    loop = asyncio.get_running_loop()
    began = loop.time()
    await conversation.say(plan)
    await reader.until(lambda: len(reader.dones) > 0, turn_seconds + 15 * cluster.patience)
    closed = await until_closed([conversation], 20)
    report.points += 1
    took = closed.get(conversation.key, began + 999) - began
    report.seconds.append(took)
    limit = (turn_seconds + CLOSING_SECONDS) * cluster.patience
    report.expect(took <= limit, f"{name} took {took:.1f} s")
    turn = await in_database(last_turn, conversation.session_id)
    report.count(turn.failure or turn.stop_reason)
    _check_outcome(name, turn, reader.ended[str(turn.id)].errors, report)
    report.expect(SERVER_WORDS not in str(reader.frames), f"{name}: the user was shown the upstream's words")
    report.violations += [f"{name}: {cut}" for cut in await in_database(_cut_calls, conversation.user_id)]
    if fault.kind in BREAKING:
        number = 2 if place == "second_round" else 1
        attempts = "1" if fault.times == 1 else r"\d+"
        broken = rf"toolu_{plan.key}r{number}a{attempts}c"
        ran = await in_database(_calls_named, conversation.session_id, broken)
        report.expect(not ran, f"{name}: calls of an answer without its end were taken in: {ran}")
    cluster.practice.faults.take(model="", last_user_text="")
    _forget_fault(cluster, plan.key)
    await talk_on(conversation, report)


def _forget_fault(cluster: Cluster, key: str) -> None:
    waiting = cluster.practice.faults
    waiting._waiting = [fault for fault in waiting._waiting if fault.key != f"[{key}]"]


def _check_outcome(name: str, turn: Turn, errors: list[str], report: Report) -> None:
    """Expect a typed outcome, and an error message exactly if the answer is incomplete."""
    told = [error.split(" Try again in ")[0] for error in errors]
    if turn.status == TurnStatus.FAILED:
        report.expect(turn.failure in get_args(FailureReason), f"{name}: failed as {turn.failure!r}")
        report.expect(turn.failure != "internal", f"{name}: failed inside")
        report.expect(len(errors) == 1, f"{name}: failed and told {errors}")
    else:
        report.expect(turn.status == TurnStatus.COMPLETED, f"{name}: ended as {turn.status}")
        report.expect(len(errors) <= 1, f"{name}: told {errors}")
    known = {sentence.split(". ")[0].rstrip(".") for sentence in SENTENCES}
    for sentence in told:
        report.expect(sentence.split(". ")[0].rstrip(".") in known, f"{name}: told {sentence!r}")
    report.expect(turn.user_notice == "".join(errors), f"{name}: stored {turn.user_notice!r}, told {errors}")


def _calls_named(session_id: UUID, start: str) -> list[str]:
    calls = ToolCallRecord.unscoped.filter(turn__session_id=session_id, tool_use_id__regex=rf"^{start}")
    return list(calls.values_list("tool_use_id", flat=True))


def _cut_calls(user_id: int) -> list[str]:
    """Return a violation for every version whose text is incomplete."""
    versions = UserFileVersion.unscoped.filter(file__user_id=user_id)
    return [f"a cut call ran: {row.content!r}" for row in versions if "was said." not in row.content]
