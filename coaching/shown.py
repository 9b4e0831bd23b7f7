"""What a page shows of a session, as values: the same ones for a page and for the stream.

The page builds the whole list, a fragment one item of it, so a reload and a stream can't differ. No HTML
is written here (rendered markdown comes from `markdown`) and nothing is changed.
"""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import groupby
from typing import Any, Literal
from zoneinfo import ZoneInfo

from django.utils.safestring import SafeString

from coaching.days import local_day
from coaching.markdown import render_markdown
from coaching.models import Profile
from coaching.shown_names import folder_name, shown_name
from coaching.turn_events import RoundShown, Sync
from sessions_app.models import CallState, Message, MessageRole, Turn, TurnStatus

# What the reader sees while a tool runs.
ACTIVITY_OF_TOOL: Mapping[str, str] = {"save_file": "Writing it down", "read_file": "Looking it up"}
ANY_ACTIVITY = "Working on it"

_CAN_RETRY = (TurnStatus.FAILED, TurnStatus.INTERRUPTED, TurnStatus.STOPPED)
_CUT_FOR_LENGTH = "max_tokens"
_TEXT_JOIN = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayItem:
    """The line between two days."""

    date: date
    kind: Literal["day"] = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidItem:
    """What the person said."""

    number: int
    client_id: str
    text: str
    kind: Literal["said"] = "said"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundItem:
    """One finished round: notes as they are, text rendered. Never both empty."""

    notes: str
    html: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFile:
    """A file that Sage wrote in a turn."""

    path: str
    folder: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTime:
    """A moment on the user's clock. Text, because a template would move a datetime to the server's zone."""

    iso: str
    clock: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnItem:
    """What Sage answered; while `is_open` with the running round's text as it is."""

    turn_id: str
    rounds: Sequence[RoundItem] = ()
    number: int | None = None
    at: ShownTime | None = None
    made: Sequence[MadeFile] = ()
    notice: str = ""
    is_stopped: bool = False
    can_retry: bool = False
    can_continue: bool = False
    is_open: bool = False
    live_text: str = ""
    live_notes: str = ""
    kind: Literal["turn"] = "turn"


ShownItem = DayItem | SaidItem | TurnItem


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCall:
    """A call that runs, in the reader's words."""

    tool_use_id: str
    label: str


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
    days = _Days(zone)
    items: list[ShownItem] = []
    for _, group in groupby(history, key=lambda message: message.turn_id):
        messages = list(group)
        for message in messages:
            if message.role == MessageRole.USER and not message.metadata.get("is_hidden"):
                items += [*days.line_before(message), said_item(message)]
        turn = messages[0].turn
        answer = next((message for message in messages if message.role == MessageRole.ASSISTANT), None)
        if not turn.is_open and (item := closed_turn_item(turn, answer, zone=zone)):
            items.append(item)
    return items


def said_item(message: Message) -> SaidItem:
    """Build what the page shows of a user's message."""
    return SaidItem(number=message.number, client_id=message.client_id or "", text=message.content)


def stored_said_items(turn_id: str, *, number: int) -> tuple[str, list[ShownItem]]:
    """Read a stored user message; return its session's title and what its arrival shows.

    That is the message, under a new day's line where one is due.
    """
    message = Message.objects.select_related("session").get(turn_id=uuid.UUID(turn_id), number=number)
    before = (
        Message.objects.filter(
            session_id=message.session_id, role=MessageRole.USER, number__lt=number, turn__is_withdrawn=False
        )
        .exclude(metadata__is_hidden=True)
        .order_by("-number")
        .first()
    )
    days = _Days(zone_of(message.session.user_id))
    if before:
        days.line_before(before)
    return message.session.title, [*days.line_before(message), said_item(message)]


def stored_turn_item(turn_id: str) -> TurnItem | None:
    """Read a turn that has closed and build what the page shows of it, or None where it shows nothing."""
    turn = Turn.objects.select_related("session").get(id=uuid.UUID(turn_id))
    if turn.is_open or turn.is_withdrawn:
        return None
    answer = turn.messages.filter(role=MessageRole.ASSISTANT).first()
    return closed_turn_item(turn, answer, zone=zone_of(turn.session.user_id))


def closed_turn_item(turn: Turn, answer: Message | None, *, zone: ZoneInfo) -> TurnItem | None:
    """Build what the page shows of a closed turn, or None where it left neither words nor a notice."""
    is_stopped = turn.status == TurnStatus.STOPPED
    if answer is None and not turn.user_notice and not is_stopped:
        return None
    return TurnItem(
        turn_id=str(turn.id),
        rounds=[
            round_item(text, notes) for text, notes in _rounds_of(answer) if text.strip() or notes.strip()
        ],
        number=answer.number if answer else None,
        at=_time_of(answer.created_at, zone) if answer else None,
        made=_made_files(answer.metadata.get("tool_calls", [])) if answer else (),
        notice=turn.user_notice,
        is_stopped=is_stopped,
        can_retry=turn.status in _CAN_RETRY,
        can_continue=turn.stop_reason == _CUT_FOR_LENGTH,
    )


def open_turn_item(turn: Turn) -> TurnItem:
    """Build what the page shows of the open turn: finished rounds, and the running one as last stored."""
    rounds = [
        RoundShown(number=row.number, text=row.text, notes=row.notes, is_finished=True)
        for row in turn.rounds.all()
    ]
    shown = json.loads(turn.shown) if turn.shown else {}
    rounds.append(
        RoundShown(
            number=len(rounds) + 1,
            text=shown.get("text", ""),
            notes=shown.get("notes", ""),
            is_finished=False,
        )
    )
    return live_turn_item(str(turn.id), rounds)


def running_calls_of(turn: Turn) -> list[RunningCall]:
    """Return the calls of the open turn that still run."""
    return running_calls(
        {call.tool_use_id: call.name for call in turn.calls.all() if call.state == CallState.RUNNING}
    )


def running_calls(names: Mapping[str, str]) -> list[RunningCall]:
    """Return running calls (tool_use_id to tool name) in the reader's words."""
    return [
        RunningCall(tool_use_id=tool_use_id, label=ACTIVITY_OF_TOOL.get(name, ANY_ACTIVITY))
        for tool_use_id, name in names.items()
    ]


def synced_turn_item(sync: Sync) -> TurnItem | None:
    """Build what a snapshot shows of the open turn, or None where the session is idle."""
    return live_turn_item(sync.turn_id, sync.rounds) if sync.turn_id else None


def live_turn_item(turn_id: str, rounds: Iterable[RoundShown] = ()) -> TurnItem:
    """Build what the page shows of an open turn from the rounds that it has shown."""
    rounds = list(rounds)
    live = next((shown for shown in rounds if not shown.is_finished), None)
    return TurnItem(
        turn_id=turn_id,
        rounds=[
            round_item(shown.text, shown.notes)
            for shown in rounds
            if shown.is_finished and (shown.text.strip() or shown.notes.strip())
        ],
        is_open=True,
        live_text=live.text if live else "",
        live_notes=live.notes if live else "",
    )


def round_item(text: str, notes: str) -> RoundItem:
    """Build what the page shows of one finished round."""
    return RoundItem(notes=notes.strip(), html=render_markdown(text))


def _time_of(moment: datetime, zone: ZoneInfo) -> ShownTime:
    local = moment.astimezone(zone)
    return ShownTime(iso=local.isoformat(timespec="seconds"), clock=f"{local:%H:%M}")


def _rounds_of(answer: Message | None) -> list[tuple[str, str]]:
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


def _made_files(calls: Iterable[Mapping[str, Any]]) -> list[MadeFile]:
    paths = [
        _path_in(call.get("result")) for call in calls if call["name"] == "save_file" and not call["is_error"]
    ]
    return [
        MadeFile(path=path, folder=folder_name(path), name=shown_name(path))
        for path in dict.fromkeys(paths)
        if path
    ]


def _path_in(result: object) -> str:
    try:
        values = json.loads(result) if isinstance(result, str) else None
    except ValueError:
        return ""
    path = values.get("path") if isinstance(values, dict) else None
    return path if isinstance(path, str) else ""
