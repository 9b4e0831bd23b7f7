"""Builds the item of a turn: its rounds and calls, its notice, and what can be done about it.

The page, a fragment and a reload build it here, so they can't differ. Nothing is read or changed here.
Rendering markdown may take seconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.formats import time_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from coaching.events import RoundShown, Sync
from coaching.library.rows.attached import attached_to
from coaching.sandbox.blocks import split_unfinished
from coaching.sandbox.markdown import render_blocks, render_replies
from coaching.tools import presentation_of
from coaching.transcript.calls import QuestionItem, ShownCall, old_calls_by_round, with_given, written_texts
from coaching.transcript.cards import Cards
from coaching.transcript.items import (
    AnswersItem,
    DoneView,
    FeedbackItem,
    RoundItem,
    RunningCall,
    ShownTime,
    TurnItem,
)
from coaching.transcript.made_files import files_written, files_written_by
from coaching.transcript.names import note_in_words
from coaching.transcript.notices import seconds_to_retry, shown_notice
from coaching.transcript.old_replies import old_calls, texts_of_rounds
from coaching.transcript.rows import CallRows, DoneRows, TurnRows
from coaching.transcript.trace import read_trace
from coaching.transcript.why import why_of
from sessions_app.models import Message, Turn, TurnStatus

_TEXT_JOIN = "\n\n"

Rendered = Mapping[str, SafeString]
"""HTML by text."""
Round = tuple[str, str, Sequence[ShownCall]]
"""Text, notes and calls of a finished round."""


def texts_of_answer(answer: Message | None) -> list[str]:
    """Return the texts to render for a stored answer."""
    if answer is None:
        return []
    return [*(text for text, _ in rounds_of_answer(answer)), *written_texts(answer)]


def texts_of_open_turn(turn: Turn) -> list[str]:
    """Return the texts to render for the open turn: those of its finished rounds."""
    return [row.text for row in turn.rounds.all()]


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
