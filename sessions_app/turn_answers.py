"""Builds the answer of a turn that ends: joins its texts, closes its calls, keeps what was shown last.

The caller has locked the turn's row. The turn itself is closed in `turn_records`.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sessions_app.models import CallState, ToolCallRecord, Turn
from sessions_app.spending import read_spending_of_turn, usage_metadata

OPEN_CALL_STATES = (CallState.RUNNING, CallState.PENDING)
INTERRUPTED_CALL = "Interrupted: it is not known to have run."


def keep_shown(turn: Turn) -> None:
    """Store what a lost runner had shown as a partial round."""
    text, notes = turn.words_of_running_round()
    if not text:
        return
    last = turn.rounds.order_by("-number").first()
    turn.rounds.create(
        number=last.number + 1 if last else 1,
        part=turn.part,
        blocks=json.dumps([{"type": "text", "text": text}]),
        text=text,
        notes=notes,
        stop_reason="interrupted",
        is_partial=True,
    )


def close_calls(turn: Turn, now: datetime) -> Sequence[ToolCallRecord]:
    """Return the turn's calls in order; unfinished ones are marked as interrupted."""
    calls = list(turn.calls.order_by("round_number", "position"))
    unfinished = [call for call in calls if call.state in OPEN_CALL_STATES]
    for call in unfinished:
        call.state = CallState.INTERRUPTED
        call.finished_at = now
        call.is_error = True
        call.result = INTERRUPTED_CALL
    if unfinished:
        turn.calls.bulk_update(unfinished, ["state", "finished_at", "is_error", "result"])
    return calls


def build_answer(turn: Turn, calls: Sequence[ToolCallRecord]) -> tuple[str, dict[str, Any]]:
    """Return a turn's text, rounds joined by a blank line, and the metadata of its message.

    The usage is that of all the turn's requests so far, failed attempts included.
    `calls` are all of the turn's, in order.
    """
    texts: list[str] = []
    round_ends: list[int] = []
    notes = []
    for number, text, note in turn.rounds.order_by("number").values_list("number", "text", "notes"):
        if text:
            texts.append(text)
        round_ends.append(len("\n\n".join(texts)))
        if note:
            notes.append({"round": number, "text": note})
    shown_calls = [
        {
            "id": call.tool_use_id,
            "name": call.name,
            "input": call.input,
            "result": call.result,
            "is_error": call.is_error,
            "round": call.round_number,
        }
        for call in calls
    ]
    metadata: dict[str, Any] = {"tool_calls": shown_calls, "round_ends": round_ends, "notes": notes}
    if (spent := read_spending_of_turn(turn.id)) is not None:
        metadata["usage"] = usage_metadata(spent)
    return "\n\n".join(texts), metadata
