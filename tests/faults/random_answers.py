"""Answers to questions in random turns: correct, wrong, late, duplicate, or none.

An invalid answer is checked at once: it gets an error and isn't stored.
"""

import asyncio
import random
from typing import Any

from sessions_app.database import in_database
from sessions_app.models import ToolCallRecord, ToolCallState
from tests.faults.people import ASKED_SECONDS, Conversation, Frame
from tests.faults.report import Report

INTERACTIVE = ("show_options", "show_pulse_check")


async def respond(conversation: Conversation, rng: random.Random, report: Report) -> None:
    """Answer the pending question, wrongly, too late, or in two tabs at once, or dismiss it."""
    reader = conversation.reader
    await reader.until(lambda: reader.pending is not None or not reader.is_connected, ASKED_SECONDS)
    if reader.pending is None:
        return
    tool_use_id, right, wrong = _answers(reader.pending, rng)
    how = rng.choice(("answer", "answer", "wrong", "stale", "twice", "dismiss"))
    report.count(how)
    if how == "wrong":
        for value in wrong:
            await _refused(conversation, tool_use_id, value, report)
    elif how == "stale":
        ended = await in_database(_ended_question, conversation)
        await _refused(conversation, ended or "toolu_of_nobody", right, report)
    elif how == "twice":
        await _answer_twice(conversation, tool_use_id, (right, _answers(reader.pending, rng)[1]), report)
    elif how == "dismiss":
        await _heard(conversation, tool_use_id, report, type="dismiss")
    else:
        _give(conversation, tool_use_id, right)
        await _heard(conversation, tool_use_id, report, type="answer", value=right)
    report.violations += await in_database(answers_of_nobody, conversation)


def answers_of_nobody(conversation: Conversation) -> list[str]:
    """Return a violation for every stored answer that wasn't given: wrong, or for another question.

    Holds at any time: an answer may arrive after its sender lost the connection.
    """
    calls = ToolCallRecord.unscoped.filter(
        turn__session_id=conversation.session_id, state=ToolCallState.ANSWERED
    ).values_list("tool_use_id", "value")
    return [
        f"{conversation.key}: {tool_use_id} was answered with {value!r}, given was {given}"
        for tool_use_id, value in calls
        if value not in (given := conversation.given.get(tool_use_id, []))
    ]


def _give(conversation: Conversation, tool_use_id: str, *values: object) -> None:
    conversation.given.setdefault(tool_use_id, []).extend(values)


async def _heard(conversation: Conversation, tool_use_id: str, report: Report, **frame: object) -> None:
    """Send what ends a question: afterwards it is closed, or the sender gets an error."""
    reader = conversation.reader
    told = len(reader.refusals)
    await reader.send(toolUseId=tool_use_id, **frame)
    if await reader.is_done_with():
        is_heard = reader.pending_id() != tool_use_id or len(reader.refusals) > told
        report.expect(is_heard, f"{conversation.key}: {frame} to {tool_use_id} was not heard")
    else:
        conversation.unheard.add(tool_use_id)


async def _refused(conversation: Conversation, target: str, value: object, report: Report) -> None:
    """Send an invalid answer, or one to a closed question: it gets an error and changes nothing."""
    reader = conversation.reader
    before = await in_database(_kept, conversation, target)
    told = len(reader.refusals)
    await reader.send(type="answer", toolUseId=target, value=value)
    if await reader.is_done_with():
        is_told = len(reader.refusals) > told
        report.expect(is_told, f"{conversation.key}: {value!r} to {target} was not refused")
    if before is not None and before[0] != ToolCallState.PENDING:
        kept = await in_database(_kept, conversation, target)
        report.expect(kept == before, f"{conversation.key}: {target} was {before} and is {kept}")


async def _answer_twice(
    conversation: Conversation, tool_use_id: str, values: tuple[object, object], report: Report
) -> None:
    """Answer differently in both tabs at once: one answer is stored and the other tab gets an error."""
    tabs = conversation.readers
    told = [len(tab.refusals) for tab in tabs]
    _give(conversation, tool_use_id, *values)
    await asyncio.gather(
        *(
            tab.send(type="answer", toolUseId=tool_use_id, value=value)
            for tab, value in zip(tabs, values, strict=True)
        )
    )
    # Wait for both: a late answer would interfere with the next step.
    if not all(await asyncio.gather(*(tab.is_done_with() for tab in tabs))):
        conversation.unheard.add(tool_use_id)
    if tool_use_id in conversation.unheard:
        return

    def are_shown() -> bool:
        return all(tab.pending_id() != tool_use_id or not tab.is_connected for tab in tabs)

    await tabs[0].until(are_shown, ASKED_SECONDS)
    times_told = sum(len(tab.refusals) > before for tab, before in zip(tabs, told, strict=True))
    report.expect(times_told == 1, f"{conversation.key}: {times_told} of two tabs were refused")
    state, _ = await in_database(_kept, conversation, tool_use_id) or ("missing", None)
    report.expect(state == ToolCallState.ANSWERED, f"{conversation.key}: {tool_use_id} is {state}")


def _kept(conversation: Conversation, tool_use_id: str) -> tuple[str, Any] | None:
    """Return a call's state and its answer.

    Its id is only unique within its turn: every row of a run counts its people from one, in one database.
    """
    calls = ToolCallRecord.unscoped.filter(turn__session_id=conversation.session_id, tool_use_id=tool_use_id)
    return calls.order_by("-turn__started_at").values_list("state", "value").first()


def _ended_question(conversation: Conversation) -> str:
    ended = ToolCallRecord.unscoped.filter(turn__session_id=conversation.session_id, name__in=INTERACTIVE)
    return str(ended.filter(finished_at__isnull=False).values_list("tool_use_id", flat=True).last() or "")


def _answers(pending: Frame, rng: random.Random) -> tuple[str, object, tuple[object, ...]]:
    """Return the call's id, a valid answer, and an invalid one."""
    if "showOptions" in pending:
        shown = pending["showOptions"]
        return shown["toolUseId"], rng.choice(shown["options"])["value"], ("", None, "maybe", {})
    shown = pending["showPulseCheck"]
    ratings = {domain: rng.randint(1, 5) for domain in shown["domains"]}
    return (
        shown["toolUseId"],
        {"ratings": ratings},
        ({}, {"ratings": {}}, {"ratings": {"x": 9}}, 3),
    )
