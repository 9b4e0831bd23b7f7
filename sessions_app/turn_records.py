"""Writes of a running turn. Each first locks the turn's row at the runner's fencing number.

A runner that was replaced gets `StaleFence` and has written nothing.
"""

import json
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils import timezone

from sessions_app.errors import StaleFence
from sessions_app.history import FOREIGN_KEY, next_message, store_message
from sessions_app.models import (
    Message,
    MessageRole,
    ModelUsage,
    Round,
    Session,
    SessionStatus,
    ToolCallRecord,
    ToolCallState,
    Turn,
    TurnStatus,
)
from sessions_app.queries import (
    Columns,
    Query,
    Rows,
    parameter,
    prepared,
    run_queries,
    run_query,
    write_together,
)
from sessions_app.session_events import COUNTER, Ended, Fact, PartEnded, Withdrawn, numbered
from sessions_app.text import mended, mended_json
from sessions_app.turn_answers import (
    OPEN_CALL_STATES,
    TurnContent,
    build_answer,
    close_calls,
    content_of,
    content_queries,
    keep_shown,
)

ENDED_FIELDS = (
    "status",
    "stop_reason",
    "failure",
    "user_notice",
    "prefix",
    "shown",
    "ended_at",
    "fence",
    "is_withdrawn",
)

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
class TurnKey:
    """A turn and the fencing number under which this runner may write to it."""

    turn_id: uuid.UUID
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRound:
    """A round that ends its turn and is stored when the turn is closed, and its usage."""

    round: Round
    usage: ModelUsage | None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a turn part ended: our status, the model's stop reason, and messages for operator and user."""

    status: TurnStatus
    stop_reason: str
    failure: str = ""
    user_notice: str = ""


# The prefix and the opening are the longest columns, and the end of a round or a turn doesn't need them.
_TURN, _SESSION = Columns(Turn, without=("prefix",)), Columns(Session, without=("opening",))


@prepared
def _locked_turn() -> QuerySet[Any, Any]:
    turns = Turn.unscoped.filter(id=parameter("turn"), fence=parameter("fence")).order_by()
    return turns.select_for_update(no_key=True).values_list(*_TURN.lookups)


@prepared
def _session_of_turn() -> QuerySet[Any, Any]:
    return _session().values_list(*_SESSION.lookups)


@prepared
def _locked_session_of_turn() -> QuerySet[Any, Any]:
    return _session().select_for_update(no_key=True).values_list(*_SESSION.lookups)


def _session() -> QuerySet[Session]:
    # Through a subquery: a lock would include the row of a joined turn.
    turns = Turn.unscoped.filter(id=parameter("turn")).order_by()
    return Session.unscoped.filter(id__in=turns.values("session")).order_by()


def lock_turn(key: TurnKey) -> Turn:
    """Lock and return the running turn, with its session read but not locked.

    To write to the session too, lock its row first with `lock_session_of`.
    Raises `StaleFence` where the fencing number has moved on or the turn isn't running any more.
    """
    turns, sessions = run_queries(
        [_locked_turn(turn=key.turn_id, fence=key.fence), _session_of_turn(turn=key.turn_id)]
    )
    return _running(turns, sessions, key)


def _running(turns: Rows, sessions: Rows, key: TurnKey) -> Turn:
    """Return the turn, with its session, if it is running. Raises `StaleFence`."""
    turn = _TURN.object_of(turns[0]) if turns else None
    if turn is None or turn.status != TurnStatus.RUNNING:
        raise StaleFence(str(key.turn_id))
    turn.session = _SESSION.object_of(sessions[0])
    return turn


def lock_session_of(turn_id: uuid.UUID) -> Session:
    """Lock and return the session of a turn. It is locked before the turn, everywhere.

    Raises `StaleFence` where the turn is gone.
    """
    sessions = run_query(_locked_session_of_turn(turn=turn_id))
    if not sessions:
        raise StaleFence(str(turn_id))
    return _SESSION.object_of(sessions[0])


@transaction.atomic
def store_round(
    key: TurnKey, row: Round, *, calls: Sequence[NewCall], usage: ModelUsage | None = None
) -> None:
    """Commit a new round, its calls before any of them runs, and its usage."""
    turn = lock_turn(key)
    # Other processes see by this that there is more, however long a call then holds the row.
    turn.shown = json.dumps({"number": row.number})
    rows = [_put_into(turn, row), *(_call_of(turn, row.number, call) for call in calls)]
    write_together(changed={turn: ["shown"]}, added=[*rows, *_usage_of(turn, usage)])


def _put_into(turn: Turn, row: Round) -> Round:
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
    for row in _usage_of(turn, usage):
        row.save()


def _usage_of(turn: Turn, usage: ModelUsage | None) -> list[ModelUsage]:
    """Return what an answer cost as a row of its turn, none where that isn't to be stored."""
    if usage is None:
        return []
    usage.turn = turn
    usage.session = turn.session
    usage.user_id = turn.session.user_id
    return [usage]


@transaction.atomic
def pause_turn(key: TurnKey, *, stop_reason: str) -> Turn:
    """Leave the turn open until the user answers: it keeps its prefix, and no process owns it."""
    turn = lock_turn(key)
    turn.status = TurnStatus.AWAITING_USER
    turn.stop_reason = mended(stop_reason)[:40]
    turn.owner = ""
    turn.is_stop_requested = False
    turn.save(update_fields=["status", "stop_reason", "owner", "is_stop_requested"])
    return turn


@transaction.atomic
def close_turn(key: TurnKey, ending: Ending, *, last: LastRound | None = None) -> Message | None:
    """Close the turn: store its last round, append its answer, clear its prefix, store its ending.

    An interrupted turn keeps what its lost runner had shown. Returns the assistant's message, or None
    where there was neither text nor a call.
    """
    has_rounds = last is None or last.round.number > 1
    sessions, turns, *rows = run_queries(
        [
            _locked_session_of_turn(turn=key.turn_id),
            _locked_turn(turn=key.turn_id, fence=key.fence),
            *content_queries(key.turn_id, has_rounds=has_rounds),
        ]
    )
    turn = _running(turns, sessions, key)
    if ending.status == TurnStatus.INTERRUPTED:
        keep_shown(turn)
        return end_turn(turn.session, turn, ending)
    return end_turn(turn.session, turn, ending, content=content_of(rows), last=last)


def end_turn(
    session: Session,
    turn: Turn,
    ending: Ending,
    *,
    content: TurnContent | None = None,
    last: LastRound | None = None,
    facts: Sequence[Fact] = (),
    is_part: bool = True,
) -> Message | None:
    """Close a turn whose row and session's row the caller has locked. See `close_turn`.

    A turn in which Sage was to speak first, and said nothing, is withdrawn. `facts` come before the turn's
    end; with `is_part` off its last part ended before, when it asked its question.
    """
    now = timezone.now()
    content = content or content_of(run_queries(content_queries(turn.id)))
    close_calls(turn, content.calls, now)
    added: list[Model] = []
    if last is not None:
        rounds, usage = [_put_into(turn, last.round)], _usage_of(turn, last.usage)
        added = [*rounds, *usage]
        content = replace(content, rounds=[*content.rounds, *rounds], usage=[*content.usage, *usage])
    text, metadata = build_answer(content)
    if turn.is_unanswered_opening and turn.status == TurnStatus.RUNNING and not text:
        if not turn.is_withdrawn:  # else the message that replaces it says so
            facts = [*facts, Withdrawn(turn_ids=[str(turn.id)], first_number=1)]
        turn.is_withdrawn = True
    turn.status = ending.status
    turn.stop_reason = mended(ending.stop_reason)[:40]
    turn.failure = ending.failure
    turn.user_notice = ending.user_notice
    turn.prefix = ""
    turn.shown = ""
    turn.ended_at = now
    answer = None
    if text or metadata["tool_calls"]:
        answer = next_message(session=session, role=MessageRole.ASSISTANT, content=text, metadata=metadata)
    if is_part:
        facts = [*facts, part_ended(turn, answer=answer)]
        if session.status == SessionStatus.ABANDONED:  # while the turn ran
            facts.append(Ended(status=session.status))
    added += numbered(session, facts)
    if answer is None:
        write_together(changed={turn: ENDED_FIELDS, session: [COUNTER]}, added=added)
    else:
        store_message(answer, turn=turn, session_fields=[COUNTER], turn_fields=ENDED_FIELDS, added=added)
    return answer


def part_ended(turn: Turn, *, answer: Message | None = None) -> PartEnded:
    """Build the fact that a turn has closed, or waits."""
    return PartEnded(
        turn_id=str(turn.id), status=turn.status, stop_reason=turn.stop_reason, turn=turn, answer=answer
    )


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
