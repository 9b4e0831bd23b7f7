"""Plays a situation: Sage's own runner answers, over the SDK, at the situation's time, in a real database."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import time_machine

from coaching.live.runner import Runner
from coaching.turns.request import TurnRequest
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import Session, ToolCallRecord, ToolCallState
from tests.evals.seeding import document_ids, given_lines, seed
from tests.evals.situation import OPENING, Line, Situation, Them
from tests.evals.transcript import Answer, Transcript, read_answer, read_before, read_transcript

ANSWER_SECONDS = 600.0
"""The turn itself ends long before, as `SAGE_TURN_SECONDS` says."""
MAX_TAPS = 4
"""How many questions of one turn are answered by a tap; then the next line is written instead."""


async def play(situation: Situation) -> Transcript:
    """Return what came of a situation."""
    session = await in_database(seed, situation)
    before = await in_database(read_before, session)
    with time_machine.travel(situation.moment, tick=True):
        runner = Runner()
        await runner.warm()
        try:
            lines = situation.talk[len(given_lines(situation.talk)) :]
            answers = [await _answer(runner, session, situation, line) for line in lines]
            await _finish_looks()
        finally:
            await runner.drain(1.0)
        return await in_database(read_transcript, situation, session, before, answers)


async def _answer(runner: Runner, session: Session, situation: Situation, line: Line) -> Answer:
    """Write a line, tap what can be tapped, and return what Sage has said and done."""
    began = time.monotonic()
    text = line.them if isinstance(line, Them) else None
    attached = line.attached if isinstance(line, Them) else ()
    documents = await in_database(document_ids, session.user_id, attached) if attached else None
    request = TurnRequest(
        kind="opening" if text is None else "message",
        user_id=session.user_id,
        session_id=session.pk,
        text=text,
        documents=documents,
    )
    await runner.open_turn(request)
    await runner.wait_until_idle(session.pk, seconds=ANSWER_SECONDS)
    for _ in range(MAX_TAPS):
        if not await _tap(runner, session, situation.taps):
            break
        await runner.wait_until_idle(session.pk, seconds=ANSWER_SECONDS)
    seconds = time.monotonic() - began
    return await in_database(read_answer, session, asked=text or OPENING, seconds=seconds)


async def _tap(runner: Runner, session: Session, taps: Mapping[str, Any]) -> bool:
    """Answer the first question that waits, if there is one that `taps` has an answer to."""
    for call in await in_database(_waiting, session):
        value = _value(call, taps)
        if value is None:
            continue
        try:
            await runner.answer_call(
                user_id=session.user_id, session_id=session.pk, tool_use_id=call.tool_use_id, value=value
            )
        except Refused:
            continue  # the answer doesn't fit this question: the next line is written instead
        return True
    return False


def _waiting(session: Session) -> list[ToolCallRecord]:
    return list(
        ToolCallRecord.of(session.user_id).filter(
            turn__session=session, turn__is_withdrawn=False, state=ToolCallState.PENDING
        )
    )


def _value(call: ToolCallRecord, taps: Mapping[str, Any]) -> object:
    """Return the answer to a question; None leaves it open."""
    match call.name:
        case "show_options":
            return _first_option(call.input) if taps.get("options") == "first" else None
        case "show_pulse_check":
            rated = taps.get("ratings", {})
            asked = call.input.get("domains") or list(rated)
            ratings = {domain: rated[domain] for domain in asked if domain in rated}
            return {"ratings": ratings} if ratings else None
        case _:
            return {"accept": taps["cards"]} if "cards" in taps else None


def _first_option(given: Mapping[str, Any]) -> str:
    first = given["options"][0]
    return str(first.get("value") or first["label"])


async def _finish_looks() -> None:
    """Wait for the second looks that have begun, since a card may be theirs."""
    looks = [task for task in asyncio.all_tasks() if task.get_name().startswith("second look")]
    await asyncio.gather(*looks, return_exceptions=True)
