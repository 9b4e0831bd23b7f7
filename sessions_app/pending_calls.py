"""Ends pending calls: they become `answered`, `superseded`, `dismissed` or `expired`.

The first end wins, whichever tab or process it comes from: each is a transaction that locks the session's row
first. What a tool asks isn't known here; the caller brings the result.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from sessions_app.errors import Refused
from sessions_app.limits import RateLimit, refuse_over_limits
from sessions_app.models import Session, SessionStatus, ToolCallRecord, ToolCallState, Turn, TurnStatus
from sessions_app.queries import write_together
from sessions_app.selectors import accessible_session
from sessions_app.session_events import COUNTER, CallAsked, CallEnded, append, numbered
from sessions_app.text import mended
from sessions_app.turn_endings import Ending, end_turn, part_ended, pause_turn
from sessions_app.turn_locks import TurnKey, lock_session_of
from sessions_app.turn_records import CARD_DETAILS, UNTIL_ANSWERED, CallResult

SUPERSEDED = "The user wrote a message instead of answering. It follows."
DISMISSED = "The user dismissed this without an answer."
EXPIRED = "The conversation ended before the user answered."

DISMISSED_STOP_REASON = "dismissed"

UNDONE = "is_undone"
"""In an answered call's metadata: the user took back what it wrote."""
NO_DETAILS: Mapping[str, Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedCall:
    """A pending call that has just ended, and what follows.

    `resumed` is the turn's key if its last pending call has ended and the turn goes on; `is_over` says that
    the turn has ended.
    """

    turn: Turn
    call: ToolCallRecord
    resumed: TurnKey | None = None
    is_over: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A tool's view of a user's answer: the result for the model, and value and metadata to store.

    Without a result the answer was a yes to a call that hasn't run yet: it runs when the turn goes on. From
    `look_due_at` on any process may take the second look at its words; a yes has none.
    """

    result: CallResult | None
    value: Any
    metadata: Mapping[str, Any] = field(default_factory=dict)
    look_due_at: datetime | None = None


@transaction.atomic
def answer_call(
    *,
    user_id: int,
    session_id: uuid.UUID,
    tool_use_id: object,
    owner: str,
    rate_limit: RateLimit,
    build_answer: Callable[[Session, ToolCallRecord], Answer],
) -> EndedCall:
    """Answer a pending call: its effect, its result and the turn's new part are one transaction.

    Raises `Refused` where it isn't pending any more, and what `build_answer` raises.
    """
    session, call = _locked_call(user_id=user_id, session_id=session_id, tool_use_id=tool_use_id)
    answer = build_answer(session, call)
    call.metadata |= answer.metadata
    if answer.result is None:
        call.state, call.value = ToolCallState.RUNNING, answer.value
        call.save(update_fields=["state", "value", "metadata"])
    else:
        call.look_due_at = answer.look_due_at
        _end_call(call, ToolCallState.ANSWERED, answer.result, value=answer.value)
    if session.is_only_opened:
        session.is_only_opened = False
        session.save(update_fields=["is_only_opened"])
    return _go_on(session, call, owner=owner, rate_limit=rate_limit)


@transaction.atomic
def dismiss_call(
    *, user_id: int, session_id: uuid.UUID, tool_use_id: object, owner: str, rate_limit: RateLimit
) -> EndedCall:
    """End a pending call without an answer. If none of the turn's calls was answered, the turn ends.

    Raises `Refused` where it isn't pending any more.
    """
    session, call = _locked_call(user_id=user_id, session_id=session_id, tool_use_id=tool_use_id)
    _end_call(call, ToolCallState.DISMISSED, CallResult(content=DISMISSED, is_error=False))
    return _go_on(session, call, owner=owner, rate_limit=rate_limit)


@transaction.atomic
def await_user(
    key: TurnKey, *, stop_reason: str, details: Mapping[str, Mapping[str, Any]] = NO_DETAILS
) -> tuple[str, ...]:
    """Leave the turn open until the user answers; end it if its session has ended meanwhile.

    `details` are shown besides the inputs of pending calls, by `tool_use_id`. Returns the ids of the calls
    that expired with it.
    """
    session = lock_session_of(key.turn_id)
    turn = pause_turn(key, stop_reason=stop_reason)
    for call in turn.calls.filter(tool_use_id__in=details):
        call.metadata[CARD_DETAILS] = dict(details[call.tool_use_id])
        call.save(update_fields=["metadata"])
    if session.status != SessionStatus.ACTIVE:
        expired = _end_waiting_turn(
            session, ToolCallState.EXPIRED, EXPIRED, TurnStatus.COMPLETED, is_part=True
        )
        return tuple(call.tool_use_id for call in expired)
    asked = [_asked(call) for call in read_pending_calls(turn)[:1]]  # they are shown one after another
    append(session, *asked, part_ended(turn))
    return ()


def supersede_pending_calls(session: Session) -> tuple[ToolCallRecord, ...]:
    """Close a waiting turn because the user wrote a message; return the calls that were pending.

    The caller has locked the session's row, in the transaction that opens the new turn.
    """
    return _end_waiting_turn(session, ToolCallState.SUPERSEDED, SUPERSEDED, TurnStatus.SUPERSEDED)


def expire_pending_calls(session: Session) -> tuple[ToolCallRecord, ...]:
    """Close a waiting turn because its session ends; return the calls that were pending."""
    return _end_waiting_turn(session, ToolCallState.EXPIRED, EXPIRED, TurnStatus.INTERRUPTED)


def read_pending_calls(turn: Turn) -> list[ToolCallRecord]:
    return list(turn.calls.filter(state=ToolCallState.PENDING).order_by("round_number", "position"))


def _locked_call(
    *, user_id: int, session_id: uuid.UUID, tool_use_id: object
) -> tuple[Session, ToolCallRecord]:
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    call = locked_call_of(session, tool_use_id)
    if call is None:
        raise Refused(_("That question isn’t in this conversation."))
    if call.state != ToolCallState.PENDING or call.turn.status != TurnStatus.AWAITING_USER:
        raise Refused(_("This question isn’t open any more."))
    if session.status != SessionStatus.ACTIVE:
        raise Refused(_("This conversation has ended."))
    return session, call


def locked_call_of(session: Session, tool_use_id: object) -> ToolCallRecord | None:
    """Return the session's newest call of this id, locked; None for anything else."""
    if not isinstance(tool_use_id, str) or "\x00" in tool_use_id:
        return None
    calls = ToolCallRecord.within(session).select_for_update(of=("self",), no_key=True)
    found = calls.select_related("turn").filter(tool_use_id=mended(tool_use_id))
    return found.order_by("-turn__messages__number").first()


def _end_call(call: ToolCallRecord, state: ToolCallState, result: CallResult, *, value: Any = None) -> None:
    call.state = state
    call.result = mended(result.content)
    call.is_error = result.is_error
    call.value = value
    call.finished_at = timezone.now()
    call.metadata.get(CARD_DETAILS, {}).pop(UNTIL_ANSWERED, None)
    call.save(
        update_fields=["state", "result", "is_error", "value", "metadata", "look_due_at", "finished_at"]
    )


def _go_on(session: Session, call: ToolCallRecord, *, owner: str, rate_limit: RateLimit) -> EndedCall:
    turn = call.turn
    waiting = read_pending_calls(turn)
    if waiting:
        append(session, _ended(call), _asked(waiting[0]))
        return EndedCall(turn=turn, call=call)
    heard = (ToolCallState.ANSWERED, ToolCallState.RUNNING)
    if not turn.calls.filter(round_number=call.round_number, state__in=heard).exists():
        dismissed = Ending(status=TurnStatus.COMPLETED, stop_reason=DISMISSED_STOP_REASON)
        end_turn(session, turn, dismissed, facts=[_ended(call)])
        return EndedCall(turn=turn, call=call, is_over=True)
    refuse_over_limits(user_id=session.user_id, rate_limit=rate_limit)
    turn.status = TurnStatus.RUNNING
    turn.owner = owner
    turn.fence += 1
    turn.part += 1
    turn.part_started_at = timezone.now()
    turn.is_stop_requested = False
    fields = ["status", "owner", "fence", "part", "part_started_at", "is_stop_requested"]
    write_together(changed={turn: fields, session: [COUNTER]}, added=numbered(session, [_ended(call)]))
    key = TurnKey(turn_id=turn.id, fence=turn.fence)
    return EndedCall(turn=turn, call=call, resumed=key)


def _asked(call: ToolCallRecord) -> CallAsked:
    return CallAsked(turn_id=str(call.turn_id), tool_use_id=call.tool_use_id, call=call)


def _ended(call: ToolCallRecord) -> CallEnded:
    return CallEnded(turn_id=str(call.turn_id), tool_use_id=call.tool_use_id, call=call)


def _end_waiting_turn(
    session: Session, state: ToolCallState, result: str, status: TurnStatus, *, is_part: bool = False
) -> tuple[ToolCallRecord, ...]:
    """Close a waiting turn. `is_part`: nobody has been told that its part ended, or of its question."""
    turn = session.turns.select_for_update(no_key=True).filter(status=TurnStatus.AWAITING_USER).first()
    if turn is None:
        return ()
    calls = read_pending_calls(turn)
    for call in calls:
        _end_call(call, state, CallResult(content=result, is_error=False))
    ended = [_ended(call) for call in calls]
    end_turn(session, turn, Ending(status=status, stop_reason=state), facts=ended, is_part=is_part)
    return tuple(calls)
