"""Reads. Every access to a session goes through `accessible_session`: another user's looks missing."""

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from django.db.models import ExpressionWrapper, IntegerField, QuerySet, Subquery

from sessions_app.models import (
    OPEN_TURN_STATUSES,
    USED,
    Message,
    MessageRole,
    SafetyVerdict,
    Session,
    SessionStatus,
    ToolCallRecord,
    Turn,
    TurnStatus,
    VerdictLevel,
    listed,
)
from sessions_app.queries import Columns, over_all, parameter, prepared, run_query
from sessions_app.turn_answers import OPEN_CALL_STATES, call_in_message

_MESSAGE = Columns(Message)
_VERDICT_LOOKUPS = [f"safety_verdict__{name}" for name in ("id", "level", "about", "topic")]
_ROWS_STEP = 64
"""The steps of the most messages that are read: each number is a statement of its own."""


@cache
def _tail_query(most: int) -> prepared:
    """Return the query of the last messages before a number, the newest first, at most so many.

    They begin with number `lowest`, or earlier by as many as are withdrawn: each row has that number.
    """
    lookups = (*_MESSAGE.lookups, *_VERDICT_LOOKUPS)
    withdrawn = Subquery(_withdrawn_before())
    return prepared(lambda: _tail_rows().order_by("-number").values_list(*lookups, withdrawn)[:most])


def _tail_rows() -> QuerySet[Message]:
    messages = Message.unscoped.filter(session=parameter("session"), turn__is_withdrawn=False)
    messages = messages.filter(number__lt=parameter("before"))
    # Without this bound, a plan that is made for all sessions reads a whole conversation and sorts it.
    lowest = parameter("lowest") - Subquery(_withdrawn_before())
    return messages.filter(number__gte=ExpressionWrapper(lowest, output_field=IntegerField()))


def _withdrawn_before() -> QuerySet[Any, Any]:
    withdrawn = Turn.unscoped.filter(session=parameter("session"), is_withdrawn=True)
    before = withdrawn.filter(messages__number__lt=parameter("before")).order_by()
    return before.values_list(over_all("COUNT", "messages__id"))


@prepared
def _numbers_before() -> QuerySet[Any, Any]:
    messages = Message.unscoped.filter(session=parameter("session"), number__lt=parameter("before"))
    return messages.order_by().values_list(over_all("COUNT", "number"))


def accessible_session(*, user_id: int, session_id: uuid.UUID, is_locked: bool = False) -> Session:
    """Return the user's session; with `is_locked` its row is locked until the transaction ends.

    A session's row is locked before its turn's, everywhere, so that no two transactions deadlock. Its key
    isn't locked, so that inserting a row that refers to it never waits.

    Raises `Session.DoesNotExist` for a missing session and for another user's alike.
    """
    sessions = Session.of(user_id)
    return (sessions.select_for_update(no_key=True) if is_locked else sessions).get(id=session_id)


def recent_sessions(*, user_id: int, limit: int) -> Sequence[Session]:
    """Return the sessions that lists show, the last active first, without archived ones."""
    sessions = Session.of(user_id).filter(listed(), archived_at=None).defer("opening")
    return list(sessions.order_by("-last_active_at")[:limit])


def session_to_go_on_with(*, user_id: int, kind: str) -> Session | None:
    """Return the most recent active session of that kind in which the user said something, or None."""
    sessions = Session.of(user_id).filter(USED, kind=kind, status=SessionStatus.ACTIVE, archived_at=None)
    return sessions.defer("opening").order_by("-last_active_at").first()


def was_begun_by(*, user_id: int, client_id: str) -> bool:
    """Return whether the user has a session that was started by the form with that id."""
    return bool(client_id) and Session.of(user_id).filter(client_id=client_id).exists()


def history(session: Session) -> Sequence[Message]:
    """Return the session's messages in order, each with its turn, without those of withdrawn turns."""
    return list(session.messages.filter(turn__is_withdrawn=False).select_related("turn").order_by("number"))


def history_page(session: Session, *, before: int | None, limit: int) -> tuple[Sequence[Message], bool]:
    """Return the last messages of the history in order, each with its turn, and whether there are earlier.

    At most `limit`, of those before the number `before` where it is given. The oldest turn is left out if it
    doesn't fit whole, unless it is the only one.
    """
    messages = session.messages.filter(turn__is_withdrawn=False).select_related("turn")
    if before is not None:
        messages = messages.filter(number__lt=before)
    page = list(messages.order_by("-number")[: limit + 1])[::-1]
    if len(page) <= limit:
        return page, False
    cut_turn = page[0].turn_id
    whole = [message for message in page[1:] if message.turn_id != cut_turn]
    return whole or page[1:], True


def read_alternatives(session: Session, turns: Iterable[Turn]) -> Mapping[int, Sequence[uuid.UUID]]:
    """Return, by number of message, the turns that answer it, in order, where it was answered more than once.

    Reads nothing where none of `turns` shares its message.
    """
    shown = {turn.message_number: turn.id for turn in turns if turn.message_number is not None}
    if not shown:
        return {}
    answers = session.messages.filter(role=MessageRole.ASSISTANT, turn__message_number__in=shown)
    answers = answers.exclude(turn__status=TurnStatus.SUPERSEDED).order_by("number")
    found: dict[int, list[uuid.UUID]] = {number: [] for number in shown}
    for answer in answers.only("turn_id", "turn__message_number").select_related("turn"):
        found[answer.turn.message_number or 0].append(answer.turn_id)
    for number, turn_id in shown.items():
        if turn_id not in found[number]:  # it has no words
            found[number].append(turn_id)
    return {number: turn_ids for number, turn_ids in found.items() if len(turn_ids) > 1}


def number_after(session: Session, number: int, *, count: int) -> int | None:
    """Return the number of the message that follows `count` others after `number`; None near the end."""
    later = session.messages.filter(turn__is_withdrawn=False, number__gt=number)
    return later.order_by("number").values_list("number", flat=True)[count : count + 1].first()


def history_tail(
    session: Session, *, limit: int, newest: Message | None = None
) -> tuple[Sequence[Message], int]:
    """Return the last `limit` messages of the history in order, and how many there are before them.

    `newest` is the last of them if it isn't stored yet; messages with higher numbers are left out then.
    """
    if newest is None:
        return _tail(session, before=session.last_message_number + 1, limit=limit)
    if newest.number == 1:  # saves a query that can't find anything
        return [newest], 0
    before, left_out = _tail(session, before=newest.number, limit=limit - 1)
    return [*before, newest], left_out


def _tail(session: Session, *, before: int, limit: int) -> tuple[Sequence[Message], int]:
    """Return the last messages before a number in order, and how many there are before them.

    How many there are follows from how many are withdrawn: numbers have gaps only where other answers were
    imported, and their import undone.
    """
    gaps = _gaps(session, before=before) if session.imported_until else 0
    query = _tail_query(math.ceil(limit / _ROWS_STEP) * _ROWS_STEP)
    rows = run_query(query(session=session.id, before=before, lowest=before - limit - gaps))
    if not rows:
        return [], 0
    count = before - 1 - gaps - rows[0][-1]
    found = [_message_of(row, session) for row in reversed(rows[:limit])]
    return found, count - len(found)


def _gaps(session: Session, *, before: int) -> int:
    """Return how many numbers before this one no message has."""
    ((numbered,),) = run_query(_numbers_before(session=session.id, before=before))
    return before - 1 - int(numbered)


def _message_of(row: Sequence[Any], session: Session) -> Message:
    """Make a message of its row, with its safety verdict where that saw danger."""
    message = _MESSAGE.object_of(row[: len(_MESSAGE)])
    known = message._state.fields_cache
    known["session"], known["safety_verdict"] = session, None
    key, level, about, topic, _ = row[len(_MESSAGE) :]
    if level not in (None, VerdictLevel.NONE):
        known["safety_verdict"] = SafetyVerdict(
            id=key, session=session, message=message, level=level, about=about, topic=topic
        )
    return message


def read_call(session: Session, tool_use_id: str) -> Mapping[str, Any] | None:
    """Return the newest call with that id that has a result, as a message stores it; None without one.

    It is the open turn's or a finished one's.
    """
    calls = ToolCallRecord.of(session.user_id).exclude(state__in=OPEN_CALL_STATES)
    of_open_turn = calls.filter(turn__session=session, turn__status__in=OPEN_TURN_STATUSES)
    if record := of_open_turn.filter(tool_use_id=tool_use_id).first():
        return call_in_message(record)
    answers = session.messages.filter(turn__is_withdrawn=False)
    found = answers.filter(metadata__tool_calls__contains=[{"id": tool_use_id}]).order_by("-number").first()
    stored = found.metadata["tool_calls"] if found else ()
    return next((call for call in reversed(stored) if call["id"] == tool_use_id), None)


def transcript(session: Session) -> Sequence[Message]:
    """Return the history as a page shows it: without the messages that the user never wrote."""
    return [message for message in history(session) if not message.metadata.get("is_hidden")]


def read_open_turn_status(session_id: uuid.UUID) -> str | None:
    """Return the status of the session's open turn, None where there is none."""
    turns = Turn.unscoped.filter(session_id=session_id, status__in=OPEN_TURN_STATUSES)
    return turns.values_list("status", flat=True).first()


def read_open_turn(session: Session) -> Turn | None:
    """Return the session's open turn with its rounds and calls loaded, or None."""
    return (
        session.turns.filter(status__in=OPEN_TURN_STATUSES)
        .prefetch_related("rounds", "calls")
        .order_by("-started_at")
        .first()
    )
