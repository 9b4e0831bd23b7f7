"""Answers to questions in random turns: right ones and wrong ones, late ones, two at once, none at all.

What may not count is checked at once: it is told, and nothing has changed.
"""

import asyncio
import random
from typing import Any

from sessions_app.database import in_database
from sessions_app.models import CallState, ToolCallRecord
from tests.faults.people import Conversation, Frame, Reader
from tests.faults.report import Report

ASKED_SECONDS = 60.0
INTERACTIVE = ("show_options", "show_pulse_check")


async def respond(conversation: Conversation, rng: random.Random, report: Report) -> None:
    """Answer the question that waits, wrongly or too late, in two tabs at once, or dismiss it."""
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
    else:
        frame = {"type": "dismiss"} if how == "dismiss" else {"type": "answer", "value": right}
        await reader.send(toolUseId=tool_use_id, **frame)
        await _until_gone(reader, tool_use_id)


async def _until_gone(reader: Reader, tool_use_id: str) -> None:
    told = len(reader.refusals)
    await reader.until(
        lambda: reader.pending_id() != tool_use_id or len(reader.refusals) > told or not reader.is_connected
    )


async def _refused(conversation: Conversation, target: str, value: object, report: Report) -> None:
    """Send what is no answer, or one to a question that is over: it is told, and isn't kept."""
    reader = conversation.reader
    before = await in_database(_kept, conversation, target)
    attached, told = reader.attached, len(reader.refusals)
    await reader.send(type="answer", toolUseId=target, value=value)
    await reader.until(
        lambda: len(reader.refusals) > told or reader.attached > attached or not reader.is_connected
    )
    is_told = len(reader.refusals) > told
    was_lost = reader.attached > attached or not reader.is_connected
    report.expect(is_told or was_lost, f"{conversation.key}: {value!r} to {target} was not refused")
    kept = await in_database(_kept, conversation, target)
    # An answer that was on its way when its sender lost the connection may come in between; this one may not.
    is_kept = kept != before and kept is not None and kept == (CallState.ANSWERED, value)
    report.expect(not is_kept, f"{conversation.key}: {value!r} to {target} was kept")


async def _answer_twice(
    conversation: Conversation, tool_use_id: str, values: tuple[object, object], report: Report
) -> None:
    """Answer in both tabs at once, differently: one answer is kept and the other tab is told."""
    tabs = conversation.readers
    attached = [tab.attached for tab in tabs]
    told = [len(tab.refusals) for tab in tabs]
    await asyncio.gather(
        *(
            tab.send(type="answer", toolUseId=tool_use_id, value=value)
            for tab, value in zip(tabs, values, strict=True)
        )
    )

    def are_lost() -> bool:
        return any(
            tab.attached > before or not tab.is_connected for tab, before in zip(tabs, attached, strict=True)
        )

    def times_told() -> int:
        return sum(len(tab.refusals) > before for tab, before in zip(tabs, told, strict=True))

    await tabs[0].until(lambda: times_told() > 0 or are_lost())
    if are_lost():
        return
    await tabs[0].until(lambda: all(tab.pending_id() != tool_use_id for tab in tabs) or are_lost())
    report.expect(times_told() == 1 or are_lost(), f"{conversation.key}: both tabs were refused")
    call = await in_database(ToolCallRecord.objects.get, tool_use_id=tool_use_id)
    report.expect(call.state == CallState.ANSWERED, f"{conversation.key}: {tool_use_id} is {call.state}")


def _kept(conversation: Conversation, tool_use_id: str) -> tuple[str, Any] | None:
    """Return how a call stands and the answer that it has."""
    calls = ToolCallRecord.objects.filter(turn__session_id=conversation.session_id, tool_use_id=tool_use_id)
    return calls.values_list("state", "value").first()


def _ended_question(conversation: Conversation) -> str:
    ended = ToolCallRecord.objects.filter(turn__session_id=conversation.session_id, name__in=INTERACTIVE)
    return str(ended.filter(finished_at__isnull=False).values_list("tool_use_id", flat=True).last() or "")


def _answers(pending: Frame, rng: random.Random) -> tuple[str, object, tuple[object, ...]]:
    """Return the call's id, an answer to it, and what is none."""
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
