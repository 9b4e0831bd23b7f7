"""Builds the items of a conversation from the rows that `rows` has read.

The page builds the whole list, a fragment one item of it, so a reload and the stream can't differ. Nothing
is read or changed here. Rendering markdown may take seconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import groupby
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.formats import time_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from coaching.clock.days import local_day
from coaching.events import AttachedDocument, MessagePlace, MessageStored, RoundShown, Sync
from coaching.library.rows.attached import attached_to
from coaching.sandbox.blocks import split_unfinished
from coaching.sandbox.markdown import render_blocks, render_replies
from coaching.tools import presentation_of
from coaching.transcript.calls import (
    QuestionItem,
    ShownCall,
    old_calls_by_round,
    with_given,
    written_texts,
)
from coaching.transcript.cards import Cards
from coaching.transcript.items import (
    AnswersItem,
    CardItem,
    DayItem,
    DoneView,
    FeedbackItem,
    RoundItem,
    RunningCall,
    SaidItem,
    ShownItem,
    ShownTime,
    TurnItem,
)
from coaching.transcript.made_files import files_written, files_written_by
from coaching.transcript.names import note_in_words
from coaching.transcript.notices import seconds_to_retry, shown_notice
from coaching.transcript.old_replies import old_calls, texts_of_rounds
from coaching.transcript.rows import CallRows, DoneRows, HistoryRows, TurnRows
from coaching.transcript.trace import read_trace
from coaching.transcript.why import why_of
from sessions_app.history import PROGRAM_KEY
from sessions_app.models import Message, MessageRole, Turn, TurnStatus
from sessions_app.opening_message import OPENING_ID

_TEXT_JOIN = "\n\n"

Rendered = Mapping[str, SafeString]
"""HTML by text."""
Round = tuple[str, str, Sequence[ShownCall]]
"""Text, notes and calls of a finished round."""


@dataclass(slots=True)
class _Days:
    zone: ZoneInfo
    last: date | None = field(default=None)

    def line_before(self, said_at: datetime) -> list[DayItem]:
        day = local_day(said_at, self.zone)
        if day == self.last:
            return []
        self.last = day
        return [DayItem(date=day)]


def texts_of_history(rows: HistoryRows) -> list[str]:
    """Return the texts to render for a piece of history."""
    answers = (message for message in rows.messages if message.role == MessageRole.ASSISTANT)
    return [text for answer in answers for text in texts_of_answer(answer)]


def texts_of_answer(answer: Message | None) -> list[str]:
    """Return the texts to render for a stored answer."""
    if answer is None:
        return []
    return [*(text for text, _ in rounds_of_answer(answer)), *written_texts(answer)]


def texts_of_open_turn(turn: Turn) -> list[str]:
    """Return the texts to render for the open turn: those of its finished rounds."""
    return [row.text for row in turn.rounds.all()]


def items_of(rows: HistoryRows, *, zone: ZoneInfo, rendered: Rendered | None = None) -> list[ShownItem]:
    """Build the items of a piece of history, without the turn that is still open.

    `rendered` is given if the page renders further texts in the same call.
    """
    rendered = render_replies(texts_of_history(rows)) if rendered is None else rendered
    days = _Days(zone)
    items: list[ShownItem] = []
    said_after = {row.number: row.content for row in rows.messages if row.role == MessageRole.USER}
    for turn_id, group in groupby(rows.messages, key=lambda message: message.turn_id):
        messages = list(group)
        for message in messages:
            if message.role != MessageRole.USER:
                continue
            if message.client_id == OPENING_ID:
                days.line_before(message.created_at)  # the page's head says when the conversation began
            elif not message.metadata.get("is_hidden"):
                items += [*days.line_before(message.created_at), said_item(message, rows.documents)]
            if shown := rows.cards.of_message(message):
                items.append(CardItem(card=shown.card))
        turn = messages[0].turn
        answer = next((message for message in messages if message.role == MessageRole.ASSISTANT), None)
        if turn.is_open:
            continue
        ended = TurnRows(
            turn=turn,
            answer=answer,
            shown=CallRows(calls=rows.calls.get(turn_id, ()), cards=rows.cards),
            spent=rows.spent.get(turn_id),
            verdict=rows.cards.verdict_among(messages),
            zone=zone,
            old_files=rows.old_files,
            said_next=said_after.get(messages[-1].number + 1, ""),
            answered_by=rows.answered_by.get(turn.message_number or 0, ()),
            has_message=any(message.role == MessageRole.USER for message in messages),
            documents=rows.documents,
            rating=rows.ratings.get(turn_id, ""),
        )
        if item := turn_item(ended, rendered=rendered):
            items.append(item)
    return items


def said_item(message: Message, documents: Mapping[int, AttachedDocument]) -> SaidItem:
    """Build the item of a user's message; `documents` are those that are still there."""
    return SaidItem(
        session_id=str(message.session_id),
        number=message.number,
        client_id=message.client_id or "",
        text=message.content,
        documents=attached_to(message, documents),
        program=message.metadata.get(PROGRAM_KEY, ""),
    )


def said_items(event: MessageStored, place: MessagePlace) -> list[ShownItem]:
    """Build the items of a new message: a line for a new day if needed, then the message."""
    days = _Days(ZoneInfo(place.timezone))
    if place.before_at:
        days.line_before(place.before_at)
    said = SaidItem(
        session_id=place.session_id,
        number=event.number,
        client_id=event.id,
        text=event.text,
        documents=event.documents,
        program=event.program,
    )
    return [*days.line_before(place.said_at), said]


def done_view(rows: DoneRows) -> DoneView:
    """Build the end of a part."""
    return DoneView(
        item=turn_item(rows.turn) if rows.turn else None,
        made=files_written(rows.open_calls),
        head=rows.head,
        ending=rows.ending,
    )


def answered_item(rows: TurnRows | CallRows) -> QuestionItem | TurnItem | None:
    """Build the end of a pending call: the question as it stays, or its turn."""
    return rows.cards.question(rows.calls[0]) if isinstance(rows, CallRows) else turn_item(rows)


def turn_item(ended: TurnRows, *, rendered: Rendered | None = None) -> TurnItem | None:
    """Build a closed turn from its rows; None if it has neither text nor a notice."""
    turn, answer, rows = ended.turn, ended.answer, ended.shown
    is_stopped = turn.status == TurnStatus.STOPPED
    if answer is None and not turn.user_notice and not is_stopped:
        return None
    rendered = render_replies(texts_of_answer(answer)) if rendered is None else rendered
    calls = rows.cards.calls_by_round(rows.calls, is_waiting=False)
    if answer and (old := old_calls(answer, zone=ended.zone)):
        calls |= old_calls_by_round(old, rendered=rendered, paths=ended.old_files, said_next=ended.said_next)
    return TurnItem(
        turn_id=str(turn.id),
        rounds=_round_items(
            [
                (text, notes, calls.get(number, ()))
                for number, (text, notes) in enumerate(rounds_of_answer(answer), start=1)
                if text.strip() or notes.strip() or number in calls
            ],
            rendered,
        ),
        number=answer.number if answer else None,
        at=_time_of(answer.created_at, ended.zone) if answer else None,
        made=files_written_by(answer, rows.calls) if answer else (),
        documents=attached_to(answer, ended.documents) if answer else (),
        why=why_of(read_trace(turn, rows.calls, ended.spent, ended.verdict)) if answer else None,
        notice=shown_notice(turn.user_notice),
        is_stopped=is_stopped,
        can_retry=turn.can_be_retried,
        retry_seconds=seconds_to_retry(turn.user_notice, ended_at=turn.ended_at),
        can_continue=turn.can_be_continued,
        can_ask_again=turn.can_be_answered_again and ended.has_message,
        answers=_answers_item(turn, ended.answered_by),
        feedback=_feedback_item(turn, ended.rating) if answer else None,
    )


def _feedback_item(turn: Turn, rating: str) -> FeedbackItem | None:
    """Return the buttons to rate an answer; another app's has none."""
    if "is_imported" in turn.metadata:
        return None
    return FeedbackItem(session_id=str(turn.session_id), rating=rating)


def _answers_item(turn: Turn, answered_by: Sequence[UUID]) -> AnswersItem | None:
    if turn.id not in answered_by:
        return None
    place = answered_by.index(turn.id)
    neighbours = ["", *map(str, answered_by), ""]
    return AnswersItem(
        session_id=str(turn.session_id),
        place=place + 1,
        count=len(answered_by),
        previous=neighbours[place],
        following=neighbours[place + 2],
    )


def open_turn_item(
    turn: Turn, cards: Cards, *, given: object = None, rendered: Rendered | None = None
) -> TurnItem:
    """Build the open turn: finished rounds, and the running one as last stored.

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
    calls = cards.calls_by_round(records, is_waiting=is_waiting)
    if given is not None:
        calls = {number: [_with_given(call, given) for call in row] for number, row in calls.items()}
    item = live_turn_item(str(turn.id), rounds, calls, rendered=rendered)
    return replace(item, made=files_written(records) if is_waiting else ())


def _with_given(call: ShownCall, given: object) -> ShownCall:
    return with_given(call, given) if isinstance(call, QuestionItem) and call.is_pending else call


def running_calls(names: Mapping[str, str]) -> list[RunningCall]:
    """Return the labels of running calls, given as `tool_use_id` to tool name."""
    return [
        RunningCall(tool_use_id=tool_use_id, label=gettext(presentation_of(name).activity))
        for tool_use_id, name in names.items()
    ]


def synced_turn_item(sync: Sync, rows: CallRows | None) -> TurnItem:
    """Build the open turn of a snapshot; without `rows` only its text."""
    is_waiting = sync.status == "awaiting_user"
    if rows is None:
        return live_turn_item(sync.turn_id, sync.rounds)
    calls = rows.cards.calls_by_round(rows.calls, is_waiting=is_waiting)
    item = live_turn_item(sync.turn_id, sync.rounds, calls)
    return replace(item, made=files_written(rows.calls) if is_waiting else ())


def live_turn_item(
    turn_id: str,
    rounds: Iterable[RoundShown] = (),
    calls: Mapping[int, Sequence[ShownCall]] | None = None,
    *,
    rendered: Rendered | None = None,
) -> TurnItem:
    """Build an open turn from the rounds that it has shown, and their calls."""
    rounds = list(rounds)
    calls = calls or {}
    live = next((shown for shown in rounds if not shown.is_finished), None)
    finished, rest = split_unfinished(live.text) if live else ([], "")
    return TurnItem(
        turn_id=turn_id,
        rounds=_round_items(
            [
                (shown.text, shown.notes, calls.get(shown.number, ()))
                for shown in rounds
                if shown.is_finished and (shown.text.strip() or shown.notes.strip() or shown.number in calls)
            ],
            rendered,
        ),
        is_open=True,
        live_html=render_blocks(finished) if finished else "",
        live_text=rest,
        live_notes=note_in_words(live.notes) if live else "",
    )


def round_item(text: str, notes: str) -> RoundItem:
    """Build one finished round without calls."""
    (item,) = _round_items([(text, notes, ())], None)
    return item


def _round_items(rounds: Sequence[Round], rendered: Rendered | None) -> list[RoundItem]:
    rendered = render_replies(text for text, _, _ in rounds) if rendered is None else rendered
    return [
        RoundItem(notes=note_in_words(notes.strip()), html=rendered[text], calls=calls)
        for text, notes, calls in rounds
    ]


def _time_of(moment: datetime, zone: ZoneInfo) -> ShownTime:
    local = moment.astimezone(zone)
    return ShownTime(iso=local.isoformat(timespec="seconds"), clock=time_format(local))


def rounds_of_answer(answer: Message | None) -> list[tuple[str, str]]:
    """Split a stored answer into the text and notes of each round."""
    if answer is None:
        return []
    notes = {note["round"]: note["text"] for note in answer.metadata.get("notes", [])}
    return [
        (text.removeprefix(_TEXT_JOIN) if number > 1 else text, notes.get(number, ""))
        for number, text in enumerate(texts_of_rounds(answer), start=1)
    ]
