"""Writes of a running turn. Each begins by locking the turn's row at the runner's fencing number.

A runner that was replaced finds another number there, gets `StaleFence` and has written nothing.
"""

import json
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from sessions_app.errors import StaleFence
from sessions_app.history import append_message
from sessions_app.models import (
    CallState,
    Message,
    MessageRole,
    ModelUsage,
    Round,
    Session,
    ToolCallRecord,
    Turn,
    TurnStatus,
)
from sessions_app.text import mended, mended_json


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnKey:
    """A turn and the fencing number under which this runner may write to it."""

    turn_id: uuid.UUID
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCall:
    """A call to be stored with its round; `input` is a projection, already plain JSON values."""

    tool_use_id: str
    name: str
    position: int
    input: Any
    is_interactive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """A call's result as the model gets it."""

    content: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a turn part ended: our status, the model's stop reason, and what operator and user are told."""

    status: TurnStatus
    stop_reason: str
    failure: str = ""
    user_notice: str = ""


def locked_turn(key: TurnKey) -> Turn:
    """Lock and return the running turn, its session's row first: an effect may change the session too.

    Raises `StaleFence` where the fencing number has moved on or the turn isn't running any more.
    """
    locked_session_of(key.turn_id)
    turn = Turn.objects.select_for_update(no_key=True).filter(id=key.turn_id, fence=key.fence).first()
    if turn is None or turn.status != TurnStatus.RUNNING:
        raise StaleFence(str(key.turn_id))
    return turn


def locked_session_of(turn_id: uuid.UUID) -> Session:
    """Lock and return the session of a turn. Whoever locks both locks the session first: one order.

    Raises `StaleFence` where the turn is gone.
    """
    sessions = Session.objects.select_for_update(of=("self",), no_key=True)
    session = sessions.filter(turns=turn_id).first()
    if session is None:
        raise StaleFence(str(turn_id))
    return session


@transaction.atomic
def store_prefix(key: TurnKey, *, model: str, prefix: str) -> None:
    """Store the request that the turn begins with, as canonical JSON text.

    The user waits for it, so it is one statement and doesn't wait for the disk: the first round's commit
    brings it there, too, and without a round a new request can be built. Raises `StaleFence`.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")
    mine = Turn.objects.filter(id=key.turn_id, fence=key.fence, status=TurnStatus.RUNNING)
    if not mine.update(model=model, prefix=prefix):
        raise StaleFence(str(key.turn_id))


@transaction.atomic
def store_round(
    key: TurnKey,
    *,
    number: int,
    blocks: str,
    text: str,
    notes: str,
    stop_reason: str,
    is_partial: bool,
    upstream_id: str,
    model: str,
    calls: Sequence[NewCall],
) -> None:
    """Commit a round and its calls, before any of them runs."""
    turn = locked_turn(key)
    Round.objects.create(
        turn=turn,
        number=number,
        part=turn.part,
        blocks=blocks,
        text=mended(text),
        notes=mended(notes),
        stop_reason=stop_reason,
        is_partial=is_partial,
        upstream_id=upstream_id[:100],
        model=model,
    )
    ToolCallRecord.objects.bulk_create(
        ToolCallRecord(
            turn=turn,
            round_number=number,
            position=call.position,
            tool_use_id=call.tool_use_id,
            name=mended(call.name)[:100],
            state=CallState.PENDING if call.is_interactive else CallState.RUNNING,
            input=mended_json(call.input),
        )
        for call in calls
    )
    turn.shown = ""
    turn.save(update_fields=["shown"])


@transaction.atomic
def run_effect(key: TurnKey, tool_use_id: str, effect: Callable[[], CallResult]) -> CallResult:
    """Run a call's effect and record its result in the same transaction: both or neither, once.

    A call that already has a result isn't run again; that result is returned.
    """
    turn = locked_turn(key)
    call = turn.calls.select_for_update().get(tool_use_id=tool_use_id)
    if call.state == CallState.FINISHED:
        return CallResult(content=call.result, is_error=call.is_error)
    result = effect()
    _finish(call, result)
    return result


@transaction.atomic
def store_result(key: TurnKey, tool_use_id: str, result: CallResult) -> None:
    """Record a call's result, unless its effect has recorded one already."""
    turn = locked_turn(key)
    call = turn.calls.select_for_update().get(tool_use_id=tool_use_id)
    if call.state in (CallState.RUNNING, CallState.PENDING):
        _finish(call, result)


def _finish(call: ToolCallRecord, result: CallResult) -> None:
    call.state = CallState.FINISHED
    call.result = mended(result.content)
    call.is_error = result.is_error
    call.finished_at = timezone.now()
    call.save(update_fields=["state", "result", "is_error", "finished_at"])


def store_usage(key: TurnKey, *, usage: ModelUsage) -> None:
    """Store what one answer cost; kept whoever holds the turn now, since the tokens are spent.

    Where the turn is gone, its user is too, and nobody's tokens are counted any more.
    """
    turn = Turn.objects.select_related("session").filter(id=key.turn_id).first()
    if turn is None:
        return
    usage.turn = turn
    usage.session = turn.session
    usage.user_id = turn.session.user_id
    usage.save()


@transaction.atomic
def pause_turn(key: TurnKey, *, stop_reason: str) -> None:
    """Let the turn wait for the user: it stays open, with its prefix, and no runner holds it."""
    turn = locked_turn(key)
    turn.status = TurnStatus.AWAITING_USER
    turn.stop_reason = stop_reason
    turn.owner = ""
    turn.is_stop_requested = False
    turn.save(update_fields=["status", "stop_reason", "owner", "is_stop_requested"])


@transaction.atomic
def close_turn(key: TurnKey, ending: Ending) -> Message | None:
    """Close the turn: append its answer, clear its prefix, store how it ended.

    An interrupted turn keeps what its lost runner had shown. Returns the assistant's message, or None
    where nothing was said or called.
    """
    session = locked_session_of(key.turn_id)
    turn = locked_turn(key)
    if ending.status == TurnStatus.INTERRUPTED:
        _keep_shown(turn)
    return end_turn(session, turn, ending)


def _keep_shown(turn: Turn) -> None:
    """Make a partial round of what a lost runner had shown."""
    text, notes = turn.words_of_running_round()
    if not text:
        return
    last = turn.rounds.order_by("-number").first()
    Round.objects.create(
        turn=turn,
        number=last.number + 1 if last else 1,
        part=turn.part,
        blocks=json.dumps([{"type": "text", "text": text}]),
        text=text,
        notes=notes,
        stop_reason="interrupted",
        is_partial=True,
    )


def end_turn(session: Session, turn: Turn, ending: Ending) -> Message | None:
    """Close a turn whose row and session's row the caller has locked. See `close_turn`."""
    now = timezone.now()
    turn.calls.filter(state__in=[CallState.RUNNING, CallState.PENDING]).update(
        state=CallState.INTERRUPTED,
        finished_at=now,
        is_error=True,
        result="Interrupted: it is not known to have run.",
    )
    content, metadata = build_answer(turn)
    message = None
    if content or metadata["tool_calls"]:
        message = append_message(
            session=session, turn=turn, role=MessageRole.ASSISTANT, content=content, metadata=metadata
        )
    turn.status = ending.status
    turn.stop_reason = ending.stop_reason
    turn.failure = ending.failure
    turn.user_notice = ending.user_notice
    turn.prefix = ""
    turn.shown = ""
    turn.ended_at = now
    turn.save(
        update_fields=[
            "status",
            "stop_reason",
            "failure",
            "user_notice",
            "prefix",
            "shown",
            "ended_at",
            "fence",
        ]
    )
    return message


def build_answer(turn: Turn) -> tuple[str, dict[str, Any]]:
    """Return a turn's text, rounds joined by a blank line, and the metadata of its message."""
    texts: list[str] = []
    round_ends: list[int] = []
    notes = []
    for number, text, note in turn.rounds.order_by("number").values_list("number", "text", "notes"):
        if text:
            texts.append(text)
        round_ends.append(len("\n\n".join(texts)))
        if note:
            notes.append({"round": number, "text": note})
    calls = [
        {
            "id": call.tool_use_id,
            "name": call.name,
            "input": call.input,
            "result": call.result,
            "is_error": call.is_error,
            "round": call.round_number,
        }
        for call in turn.calls.order_by("round_number", "position")
    ]
    return "\n\n".join(texts), {"tool_calls": calls, "round_ends": round_ends, "notes": notes}


def store_shown(shown: Sequence[tuple[TurnKey, str]]) -> Collection[uuid.UUID]:
    """Store what running rounds have shown, for many turns in one statement; return the turns stored.

    A turn that isn't at its fencing number any more is left as it is, and so is one whose row is
    locked: no turn may wait for what another one is doing.
    """
    if not shown:
        return ()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH fresh AS (
                SELECT * FROM unnest(%s::uuid[], %s::bigint[], %s::text[]) AS fresh(id, fence, shown)
            ), free AS (
                SELECT turn.id FROM sessions_app_turn AS turn JOIN fresh USING (id, fence)
                WHERE turn.status = 'running' FOR NO KEY UPDATE OF turn SKIP LOCKED
            )
            UPDATE sessions_app_turn AS turn SET shown = fresh.shown
            FROM fresh JOIN free USING (id) WHERE turn.id = fresh.id
            RETURNING turn.id
            """,
            [[key.turn_id for key, _ in shown], [key.fence for key, _ in shown], [text for _, text in shown]],
        )
        return {turn_id for (turn_id,) in cursor.fetchall()}
