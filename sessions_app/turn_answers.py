"""Builds the answer of a turn that ends: joins its texts, closes its calls, keeps what was shown last.

The caller has locked the turn's row. The turn itself is closed in `turn_endings`.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from sessions_app.history import FOREIGN_KEY
from sessions_app.models import ModelUsage, Round, ToolCallRecord, ToolCallState, Turn, UsagePurpose
from sessions_app.queries import Columns, Query, Rows, parameter, prepared
from sessions_app.spending import spending_of, usage_metadata

OPEN_CALL_STATES = (ToolCallState.RUNNING, ToolCallState.PENDING)
INTERRUPTED_CALL = "Interrupted: it is not known to have run."

_ROUND, _CALL, _USAGE = Columns(Round, without=("blocks",)), Columns(ToolCallRecord), Columns(ModelUsage)


@prepared
def _rounds() -> QuerySet[Any, Any]:
    rounds = Round.unscoped.filter(turn=parameter("turn")).order_by("number")
    return rounds.values_list(*_ROUND.lookups)


@prepared
def _calls() -> QuerySet[Any, Any]:
    calls = ToolCallRecord.unscoped.filter(turn=parameter("turn")).order_by("round_number", "position")
    return calls.values_list(*_CALL.lookups)


@prepared
def _usage() -> QuerySet[Any, Any]:
    usage = ModelUsage.unscoped.filter(turn=parameter("turn"), purpose=UsagePurpose.TURN).order_by()
    return usage.values_list(*_USAGE.lookups)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContent:
    """A turn's rounds and calls in order, and what each of its requests used, failed ones included."""

    rounds: Sequence[Round]
    calls: Sequence[ToolCallRecord]
    usage: Sequence[ModelUsage]


def content_queries(turn_id: uuid.UUID, *, has_rounds: bool = True) -> Sequence[Query]:
    """Return the queries for a turn's content; without stored rounds it has no calls either."""
    queries = (_rounds, _calls, _usage) if has_rounds else (_usage,)
    return [query(turn=turn_id) for query in queries]


def content_of(rows: Sequence[Rows]) -> TurnContent:
    """Return a turn's content from the rows of `content_queries`."""
    *stored, usage = rows
    rounds, calls = stored or ((), ())
    return TurnContent(
        rounds=[_ROUND.object_of(row) for row in rounds],
        calls=[_CALL.object_of(row) for row in calls],
        usage=[_USAGE.object_of(row) for row in usage],
    )


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


def close_calls(turn: Turn, calls: Sequence[ToolCallRecord], now: datetime) -> None:
    """Mark the turn's unfinished calls as interrupted."""
    unfinished = [call for call in calls if call.state in OPEN_CALL_STATES]
    for call in unfinished:
        call.state = ToolCallState.INTERRUPTED
        call.finished_at = now
        call.is_error = True
        call.result = INTERRUPTED_CALL
    if unfinished:
        turn.calls.bulk_update(unfinished, ["state", "finished_at", "is_error", "result"])


def call_in_message(call: ToolCallRecord) -> dict[str, Any]:
    """Return a call as the metadata of its turn's message has it."""
    return {
        "id": call.tool_use_id,
        "name": call.name,
        "input": call.input,
        "result": call.result,
        "is_error": call.is_error,
        "round": call.round_number,
        **({FOREIGN_KEY: call.metadata[FOREIGN_KEY]} if FOREIGN_KEY in call.metadata else {}),
    }


def build_answer(content: TurnContent) -> tuple[str, dict[str, Any]]:
    """Return a turn's text, rounds joined by a blank line, and the metadata of its message."""
    texts: list[str] = []
    round_ends: list[int] = []
    notes = []
    for row in content.rounds:
        if row.text:
            texts.append(row.text)
        round_ends.append(len("\n\n".join(texts)))
        if row.notes:
            notes.append({"round": row.number, "text": row.notes})
    shown_calls = [call_in_message(call) for call in content.calls]
    metadata: dict[str, Any] = {"tool_calls": shown_calls, "round_ends": round_ends, "notes": notes}
    if content.usage:
        metadata["usage"] = usage_metadata(spending_of(content.usage))
    return "\n\n".join(texts), metadata
