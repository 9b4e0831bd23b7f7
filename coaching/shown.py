"""What a page shows of a session, as values: the same ones for a page and for the stream.

The page builds the whole list, a fragment one item of it, so a reload and a stream can't differ. No HTML
is written here (rendered markdown comes from `markdown`) and nothing is changed.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import groupby
from zoneinfo import ZoneInfo

from django.utils import timezone

from coaching.days import local_day
from coaching.markdown import render_markdown
from coaching.models import Profile
from coaching.shown_arcs import ending_of, head_of
from coaching.shown_calls import (
    SHOWN_STATES,
    QuestionItem,
    ShownCall,
    calls_by_round,
    files_written,
    files_written_by,
    question_of,
    with_given,
)
from coaching.shown_items import (
    DayItem,
    DoneView,
    RoundItem,
    RunningCall,
    SaidItem,
    ShownItem,
    ShownTime,
    TurnItem,
)
from coaching.shown_names import ACTIVITY_OF_TOOL, ANY_ACTIVITY
from coaching.shown_why import why_of
from coaching.turn_events import CallAnswered, RoundShown, Sync
from coaching.turn_trace import read_trace
from sessions_app.models import CallState, Message, MessageRole, ToolCallRecord, Turn, TurnStatus
from sessions_app.spending import Spending, spending_of_session, spending_of_turn

_CAN_RETRY = (TurnStatus.FAILED, TurnStatus.INTERRUPTED, TurnStatus.STOPPED)
_CUT_FOR_LENGTH = "max_tokens"
_TEXT_JOIN = "\n\n"


@dataclass(slots=True)
class _Days:
    zone: ZoneInfo
    last: date | None = field(default=None)

    def line_before(self, message: Message) -> list[DayItem]:
        day = local_day(message.created_at, self.zone)
        if day == self.last:
            return []
        self.last = day
        return [DayItem(date=day)]


def zone_of(user_id: int) -> ZoneInfo:
    """Return the user's time zone; UTC until it is known."""
    profile = Profile.objects.filter(user_id=user_id).first()
    return profile.zone if profile else ZoneInfo("UTC")


def items_of(history: Iterable[Message], *, zone: ZoneInfo) -> list[ShownItem]:
    """Build what a page shows of a session's history, without the turn that is still open."""
    history = list(history)
    calls = _calls_of_session(history[0].session_id) if history else {}
    spent = spending_of_session(history[0].session_id) if history else {}
    days = _Days(zone)
    items: list[ShownItem] = []
    for _, group in groupby(history, key=lambda message: message.turn_id):
        messages = list(group)
        for message in messages:
            if message.role == MessageRole.USER and not message.metadata.get("is_hidden"):
                items += [*days.line_before(message), said_item(message)]
        turn = messages[0].turn
        answer = next((message for message in messages if message.role == MessageRole.ASSISTANT), None)
        if turn.is_open:
            continue
        item = closed_turn_item(turn, answer, calls.get(turn.id, ()), spent.get(turn.id), zone=zone)
        if item is not None:
            items.append(item)
    return items


def said_item(message: Message) -> SaidItem:
    """Build what the page shows of a user's message."""
    return SaidItem(
        session_id=str(message.session_id),
        number=message.number,
        client_id=message.client_id or "",
        text=message.content,
    )


def stored_said_items(turn_id: str, *, number: int) -> tuple[str, list[ShownItem]]:
    """Read a stored user message; return its session's title and what its arrival shows.

    That is the message, under a new day's line where one is due.
    """
    message = Message.objects.select_related("session").get(
        session__turns=uuid.UUID(turn_id), number=number
    )  # not by its own turn: a retry may have moved it
    before = (
        Message.objects.filter(
            session_id=message.session_id, role=MessageRole.USER, number__lt=number, turn__is_withdrawn=False
        )
        .exclude(metadata__has_key="is_hidden")
        .order_by("-number")
        .first()
    )
    days = _Days(zone_of(message.session.user_id))
    if before:
        days.line_before(before)
    return message.session.title, [*days.line_before(message), said_item(message)]


def stored_done(turn_id: str) -> DoneView:
    """Read what the end of a turn part shows."""
    turn = Turn.objects.select_related("session").get(id=uuid.UUID(turn_id))
    return DoneView(
        item=_stored_item(turn),
        made=files_written(_calls_of_turn(turn.id)) if turn.is_open else (),
        head=head_of(turn.session),
        ending=ending_of(turn.session, now=timezone.now()),
    )


def stored_answer(event: CallAnswered) -> QuestionItem | TurnItem | None:
    """Read what the end of a pending call shows: the question as it stays, or its turn where that is over.

    A turn that goes on after an answer is never shown as over: its own end says so.
    """
    turn = Turn.objects.select_related("session").get(id=uuid.UUID(event.turn_id))
    if event.state != CallState.ANSWERED and not turn.is_open:
        return _stored_item(turn)
    call = turn.calls.filter(tool_use_id=event.tool_use_id).first()
    return question_of(call) if call else None


def _stored_item(turn: Turn) -> TurnItem | None:
    if turn.is_open or turn.is_withdrawn:
        return None
    answer = turn.messages.filter(role=MessageRole.ASSISTANT).first()
    return closed_turn_item(
        turn,
        answer,
        _calls_of_turn(turn.id),
        spending_of_turn(turn.id),
        zone=zone_of(turn.session.user_id),
    )


def _calls_of_turn(turn_id: uuid.UUID) -> Sequence[ToolCallRecord]:
    calls = ToolCallRecord.objects.filter(turn_id=turn_id, state__in=SHOWN_STATES)
    return list(calls.order_by("round_number", "position"))


def _calls_of_session(session_id: uuid.UUID) -> Mapping[uuid.UUID, Sequence[ToolCallRecord]]:
    calls = ToolCallRecord.objects.filter(turn__session_id=session_id, state__in=SHOWN_STATES)
    by_turn: dict[uuid.UUID, list[ToolCallRecord]] = defaultdict(list)
    for call in calls.order_by("round_number", "position"):
        by_turn[call.turn_id].append(call)
    return by_turn


def closed_turn_item(
    turn: Turn,
    answer: Message | None,
    records: Sequence[ToolCallRecord],
    spending: Spending | None,
    *,
    zone: ZoneInfo,
) -> TurnItem | None:
    """Build what the page shows of a closed turn, or None where it left neither words nor a notice."""
    is_stopped = turn.status == TurnStatus.STOPPED
    calls = calls_by_round(records, is_waiting=False)
    if answer is None and not turn.user_notice and not is_stopped:
        return None
    return TurnItem(
        turn_id=str(turn.id),
        rounds=[
            round_item(text, notes, calls.get(number, ()))
            for number, (text, notes) in enumerate(rounds_of_answer(answer), start=1)
            if text.strip() or notes.strip() or number in calls
        ],
        number=answer.number if answer else None,
        at=_time_of(answer.created_at, zone) if answer else None,
        made=files_written_by(answer) if answer else (),
        why=why_of(read_trace(turn, records, spending)) if answer else None,
        notice=turn.user_notice,
        is_stopped=is_stopped,
        can_retry=turn.status in _CAN_RETRY,
        can_continue=turn.stop_reason == _CUT_FOR_LENGTH,
    )


def open_turn_item(turn: Turn, *, given: object = None) -> TurnItem:
    """Build what the page shows of the open turn: finished rounds, and the running one as last stored.

    `given` is a refused answer to its question.
    """
    rounds = [
        RoundShown(number=row.number, text=row.text, notes=row.notes, is_finished=True)
        for row in turn.rounds.all()
    ]
    text, notes = turn.words_of_running_round()
    rounds.append(RoundShown(number=len(rounds) + 1, text=text, notes=notes, is_finished=False))
    is_waiting = turn.status == TurnStatus.AWAITING_USER
    records = sorted(turn.calls.all(), key=lambda call: (call.round_number, call.position))
    calls = calls_by_round(records, is_waiting=is_waiting)
    if given is not None:
        calls = {number: [_with_given(call, given) for call in row] for number, row in calls.items()}
    item = live_turn_item(str(turn.id), rounds, calls, is_waiting=is_waiting)
    return replace(item, made=files_written(records) if is_waiting else ())


def _with_given(call: ShownCall, given: object) -> ShownCall:
    return with_given(call, given) if isinstance(call, QuestionItem) and call.is_pending else call


def running_calls(names: Mapping[str, str]) -> list[RunningCall]:
    """Return running calls (tool_use_id to tool name) in the reader's words."""
    return [
        RunningCall(tool_use_id=tool_use_id, label=ACTIVITY_OF_TOOL.get(name, ANY_ACTIVITY))
        for tool_use_id, name in names.items()
    ]


def synced_turn_item(sync: Sync) -> TurnItem | None:
    """Read the turn's calls and build what a snapshot shows of it, or None where the session is idle."""
    if not sync.turn_id:
        return None
    is_waiting = sync.status == "awaiting_user"
    records = _calls_of_turn(uuid.UUID(sync.turn_id))
    calls = calls_by_round(records, is_waiting=is_waiting)
    item = live_turn_item(sync.turn_id, sync.rounds, calls, is_waiting=is_waiting)
    return replace(item, made=files_written(records) if is_waiting else ())


def live_turn_item(
    turn_id: str,
    rounds: Iterable[RoundShown] = (),
    calls: Mapping[int, Sequence[ShownCall]] | None = None,
    *,
    is_waiting: bool = False,
) -> TurnItem:
    """Build what the page shows of an open turn from the rounds that it has shown, and their calls."""
    rounds = list(rounds)
    calls = calls or {}
    live = next((shown for shown in rounds if not shown.is_finished), None)
    return TurnItem(
        turn_id=turn_id,
        rounds=[
            round_item(shown.text, shown.notes, calls.get(shown.number, ()))
            for shown in rounds
            if shown.is_finished and (shown.text.strip() or shown.notes.strip() or shown.number in calls)
        ],
        is_open=True,
        is_waiting=is_waiting,
        live_text=live.text if live else "",
        live_notes=live.notes if live else "",
    )


def round_item(text: str, notes: str, calls: Sequence[ShownCall] = ()) -> RoundItem:
    """Build what the page shows of one finished round."""
    return RoundItem(notes=notes.strip(), html=render_markdown(text), calls=calls)


def _time_of(moment: datetime, zone: ZoneInfo) -> ShownTime:
    local = moment.astimezone(zone)
    return ShownTime(iso=local.isoformat(timespec="seconds"), clock=f"{local:%H:%M}")


def rounds_of_answer(answer: Message | None) -> list[tuple[str, str]]:
    """Take a stored answer apart again: text and notes of each round."""
    if answer is None:
        return []
    notes = {note["round"]: note["text"] for note in answer.metadata.get("notes", [])}
    rounds = []
    start = 0
    for number, end in enumerate(answer.metadata.get("round_ends") or [len(answer.content)], start=1):
        text = answer.content[start:end]
        rounds.append((text.removeprefix(_TEXT_JOIN) if start else text, notes.get(number, "")))
        start = end
    return rounds
