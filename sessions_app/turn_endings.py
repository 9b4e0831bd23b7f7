"""Ends a running turn, or leaves it open for its user's answer.

Each first locks the turn's row at the runner's fencing number, like the writes of `turn_records`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from sessions_app.history import next_message, store_message
from sessions_app.models import (
    Message,
    MessageRole,
    ModelUsage,
    Round,
    Session,
    SessionStatus,
    Turn,
    TurnStatus,
)
from sessions_app.queries import run_queries, write_together
from sessions_app.session_events import COUNTER, Ended, Fact, PartEnded, Withdrawn, numbered
from sessions_app.text import mended
from sessions_app.turn_answers import (
    TurnContent,
    build_answer,
    close_calls,
    content_of,
    content_queries,
    keep_shown,
)
from sessions_app.turn_locks import TurnKey, lock_turn, locked_session_of_turn, locked_turn, running_turn
from sessions_app.turn_records import put_into, usage_of

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRound:
    """A round that ends its turn and is stored when the turn is closed, and its usage."""

    round: Round
    usage: ModelUsage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a turn part ended: our status, the model's stop reason, and messages for operator and user."""

    status: TurnStatus
    stop_reason: str
    failure: str = ""
    user_notice: str = ""


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
            locked_session_of_turn(turn=key.turn_id),
            locked_turn(turn=key.turn_id, fence=key.fence),
            *content_queries(key.turn_id, has_rounds=has_rounds),
        ]
    )
    turn = running_turn(turns, sessions, key)
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
        rounds, usage = [put_into(turn, last.round)], usage_of(turn, last.usage)
        added = [*rounds, *usage]
        content = replace(content, rounds=[*content.rounds, *rounds], usage=[*content.usage, *usage])
    text, metadata = build_answer(content)
    if turn.is_unanswered_opening and turn.status == TurnStatus.RUNNING and not text:
        if not turn.is_withdrawn:  # else the message that replaces it says so
            facts = [*facts, Withdrawn(turn_ids=[str(turn.id)], first_number=1)]
        turn.is_withdrawn = True
    _put_ending(turn, ending, now)
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


def _put_ending(turn: Turn, ending: Ending, now: datetime) -> None:
    turn.status = ending.status
    turn.stop_reason = mended(ending.stop_reason)[:40]
    turn.failure = ending.failure
    turn.user_notice = ending.user_notice
    turn.prefix = ""
    turn.shown = ""
    turn.ended_at = now


def part_ended(turn: Turn, *, answer: Message | None = None) -> PartEnded:
    """Build the fact that a turn has closed, or waits."""
    return PartEnded(
        turn_id=str(turn.id), status=turn.status, stop_reason=turn.stop_reason, turn=turn, answer=answer
    )
