"""Writes of a running turn: rounds, calls, usage, what it has shown. `turn_endings` ends it.

Each first locks the turn's row at the runner's fencing number (`turn_locks`). A runner that was replaced
gets `StaleFence` and has written nothing.
"""

import json
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from sessions_app.history import FOREIGN_KEY
from sessions_app.models import ModelUsage, Round, ToolCallRecord, ToolCallState, Turn, TurnStatus
from sessions_app.queries import Query, run_query, write_together
from sessions_app.text import mended, mended_json
from sessions_app.turn_answers import OPEN_CALL_STATES
from sessions_app.turn_locks import TurnKey, lock_session_of, lock_turn

_TURNS = Turn._meta.db_table
# The ORM would lock and update in two statements, and take longer to build the second than this takes to run.
_STORE_SHOWN = f"""
    WITH fresh AS (
        SELECT * FROM unnest(%(ids)s::uuid[], %(fences)s::bigint[], %(texts)s::text[])
            AS fresh(id, fence, shown)
    ), free AS (
        SELECT turn.id FROM {_TURNS} AS turn JOIN fresh USING (id, fence)
        WHERE turn.status = '{TurnStatus.RUNNING}' FOR NO KEY UPDATE OF turn SKIP LOCKED
    )
    UPDATE {_TURNS} AS turn SET shown = fresh.shown
    FROM fresh JOIN free USING (id) WHERE turn.id = fresh.id
    RETURNING turn.id
"""  # noqa: S608 - names of ours alone

CARD_DETAILS = "facts"
"""In a call's metadata: what the user is shown besides its input, by label."""
UNTIL_ANSWERED = "until_answered"
"""In a call's details: words that the user is shown while it waits, which aren't kept once it has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCall:
    """A call to be stored with its round; `input` is a projection, already plain JSON values.

    `metadata` is what was decided about it before it runs.
    """

    tool_use_id: str
    name: str
    position: int
    input: Any
    is_interactive: bool
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """A call's result as the model gets it; `foreign` names the texts in it that others wrote."""

    content: str
    is_error: bool
    foreign: tuple[str, ...] = ()


@transaction.atomic
def store_round(
    key: TurnKey, row: Round, *, calls: Sequence[NewCall], usage: ModelUsage | None = None
) -> None:
    """Commit a new round, its calls before any of them runs, and its usage."""
    turn = lock_turn(key)
    # Other processes see by this that there is more, however long a call then holds the row.
    turn.shown = json.dumps({"number": row.number})
    rows = [put_into(turn, row), *(_call_of(turn, row.number, call) for call in calls)]
    write_together(changed={turn: ["shown"]}, added=[*rows, *usage_of(turn, usage)])


def put_into(turn: Turn, row: Round) -> Round:
    """Make a round that of a turn, and cut it to what its columns take."""
    row.turn, row.part = turn, turn.part
    row.text, row.notes = mended(row.text), mended(row.notes)
    row.stop_reason = mended(row.stop_reason)[:40]
    row.upstream_id, row.model = mended(row.upstream_id)[:100], mended(row.model)[:100]
    return row


def _call_of(turn: Turn, round_number: int, call: NewCall) -> ToolCallRecord:
    return ToolCallRecord(
        turn=turn,
        round_number=round_number,
        position=call.position,
        tool_use_id=call.tool_use_id,
        name=mended(call.name)[:100],
        state=ToolCallState.PENDING if call.is_interactive else ToolCallState.RUNNING,
        input=mended_json(call.input),
        metadata=mended_json(dict(call.metadata)),
    )


@transaction.atomic
def run_effect(key: TurnKey, tool_use_id: str, effect: Callable[[], CallResult]) -> CallResult:
    """Run a call's effect and record its result in one transaction.

    A call that already has a result isn't run again; that result is returned.
    """
    lock_session_of(key.turn_id)  # an effect may change it
    turn = lock_turn(key)
    call = turn.calls.get(tool_use_id=tool_use_id)
    if call.state == ToolCallState.FINISHED:
        return CallResult(content=call.result, is_error=call.is_error)
    result = effect()
    _finish(call, result)
    return result


@transaction.atomic
def store_result(key: TurnKey, tool_use_id: str, result: CallResult) -> None:
    """Record a call's result, unless its effect has recorded one already."""
    turn = lock_turn(key)
    call = turn.calls.get(tool_use_id=tool_use_id)
    if call.state in OPEN_CALL_STATES:
        _finish(call, result)


def _finish(call: ToolCallRecord, result: CallResult) -> None:
    call.state = ToolCallState.FINISHED
    call.result = mended(result.content)
    call.is_error = result.is_error
    call.finished_at = timezone.now()
    call.metadata.get(CARD_DETAILS, {}).pop(UNTIL_ANSWERED, None)
    if result.foreign:
        call.metadata[FOREIGN_KEY] = [mended(name) for name in result.foreign]
    call.save(update_fields=["state", "result", "is_error", "finished_at", "metadata"])


def store_usage(key: TurnKey, *, usage: ModelUsage, of: Round | None = None) -> None:
    """Store the usage of one answer, whoever holds the turn now: the tokens are spent.

    Does nothing if the round `of` that answer is stored, since its usage is stored with it, or if the turn
    was deleted with its user.
    """
    turn = Turn.unscoped.defer("prefix").select_related("session").filter(id=key.turn_id).first()
    if turn is None or (of and turn.rounds.filter(number=of.number, upstream_id=of.upstream_id).exists()):
        return
    for row in usage_of(turn, usage):
        row.save()


def usage_of(turn: Turn, usage: ModelUsage | None) -> list[ModelUsage]:
    """Return what an answer cost as a row of its turn, none where that isn't to be stored."""
    if usage is None:
        return []
    usage.turn = turn
    usage.session = turn.session
    usage.user_id = turn.session.user_id
    return [usage]


def store_shown(shown: Sequence[tuple[TurnKey, str]]) -> Collection[uuid.UUID]:
    """Store the shown text of running rounds, for many turns in one statement; return the turns stored.

    Turns whose fencing number has moved on are skipped, and so are locked rows: no turn may wait for another.
    """
    if not shown:
        return ()
    values = {
        "ids": [key.turn_id for key, _ in shown],
        "fences": [key.fence for key, _ in shown],
        "texts": [text for _, text in shown],
    }
    return {turn_id for (turn_id,) in run_query(Query(_STORE_SHOWN, values))}
