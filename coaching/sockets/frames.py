"""Events as JSON frames, for programs (`sage.json`). Names are the public contract of the WebSocket."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from coaching import events
from coaching.tools import presentation_of
from coaching.tools.going_lines import lines_going
from coaching.tools.presentation import Question, QuestionKind
from coaching.transcript.notices import shown_notice

Frame = dict[str, Any]

SAFETY_PAGE = "/safety/"


def frame_of(event: events.TurnEvent) -> Frame | None:
    """Return the event's frame, or None for an event that programs don't see."""
    return FRAMES[type(event)](event)


def _text(event: events.TextDelta) -> Frame:
    return {"text": event.text}


def _note(event: events.NoteDelta) -> Frame:
    return {"note": event.text}


def _call_started(event: events.ToolCallStarted) -> Frame:
    return {"toolCall": {"id": event.tool_use_id, "name": event.name}}


def _call_finished(event: events.ToolCallFinished) -> Frame:
    return {"toolDone": {"id": event.tool_use_id}}


def _round_boundary(_: events.RoundBoundary) -> Frame:
    return {"roundBoundary": True}


def _model_reads(event: events.ModelReads) -> Frame:
    return {"reading": {"seconds": event.seconds}}


def _history_changed(event: events.HistoryChanged) -> Frame:
    return {"withdrawn": {"from": event.first_number}}


def _answer_chosen(event: events.AnswerChosen) -> Frame:
    return {"chosen": {"turn": event.turn_id, "number": event.number, "text": event.text}}


def _message_stored(event: events.MessageStored) -> Frame:
    values: Frame = {"id": event.id, "number": event.number, "text": event.text}
    if event.documents:
        values["documents"] = [_attached(document) for document in event.documents]
    return {"message": values}


def _attached(document: events.AttachedDocument) -> Frame:
    return {"id": document.id, "state": document.state, "reason": document.reason}


def _document_moved(event: events.DocumentMoved) -> Frame:
    return {"document": _attached(event.document)}


def _step(event: events.StepShown) -> Frame:
    values = {
        "id": event.id,
        "state": event.state,
        "title": event.title,
        "due": event.due or None,
        "quote": event.quote,
        "toolUseId": event.tool_use_id or None,
    }
    return {"step": values}


def _call_answered(event: events.CallAnswered) -> Frame:
    return {"answered": {"toolUseId": event.tool_use_id, "state": event.state, "value": event.value}}


def _mode_changed(event: events.ModeChanged) -> Frame:
    return {"modeChange": event.arc}


def _arc_completed(event: events.ArcCompleted) -> Frame:
    return {"arcCompleted": event.arc}


def _title_changed(event: events.TitleChanged) -> Frame:
    return {"title": {"session": event.session_id, "text": event.title}}


def _session_completed(_: events.SessionCompleted) -> Frame:
    return {"sessionCompleted": True}


def _session_continued(event: events.SessionContinued) -> Frame:
    return {"continued": {"session": event.session_id}}


def _error(event: events.ErrorShown) -> Frame:
    return {"error": shown_notice(event.message)}


def _done(event: events.TurnDone) -> Frame:
    return {"done": {"turn": event.turn_id, "stopReason": event.stop_reason}}


def _no_frame(_: events.TurnEvent) -> None:
    """Send nothing: a Sync follows a restart and a closed session; the rest only matters to a page."""


def _safety(shown: events.SafetyShown) -> Frame:
    """Return the card: its message (number) or answer (`toolUseId`), the danger, the lines."""
    danger, offer = shown.card.danger, shown.card.offer
    values = {
        "level": danger.level,
        "about": danger.about,
        "topic": danger.topic,
        "message": shown.number,
        "toolUseId": shown.tool_use_id or None,
        "country": offer.country or None,
        "lines": [asdict(line) for line in offer.lines],
        "page": SAFETY_PAGE,
        **({"foreign": True} if shown.card.is_foreign else {}),
    }
    return {"safety": values}


def _sync(sync: events.Sync) -> Frame:
    values = {
        "status": sync.status,
        "turn": sync.turn_id or None,
        "text": sync.text,
        "notes": list(sync.notes),
        "running": [{"id": tool_use_id, "name": name} for tool_use_id, name in sync.running.items()],
        "pending": [_call_pending(pending) for pending in sync.pending],
    }
    if sync.ended:
        values["ended"] = sync.ended
    return {"sync": values}


def _call_pending(pending: events.CallPending) -> Frame:
    question = presentation_of(pending.name).question(pending.input)
    return QUESTION_FRAMES[question.kind](pending, question)


def _show_options(pending: events.CallPending, question: Question) -> Frame:
    options = [{"label": label, "value": value} for label, value in question.options]
    values = {"toolUseId": pending.tool_use_id, "prompt": question.prompt, "options": options}
    return {"showOptions": values}


def _show_pulse_check(pending: events.CallPending, question: Question) -> Frame:
    domains = [str(domain) for domain in question.domains]
    values = {"toolUseId": pending.tool_use_id, "context": question.prompt, "domains": domains}
    return {"showPulseCheck": values}


def _confirm(pending: events.CallPending, _: Question) -> Frame:
    values: Frame = {"toolUseId": pending.tool_use_id, "tool": pending.name, "input": dict(pending.input)}
    if going := lines_going(pending.details):
        values["lines"] = [each.as_values() for each in going]
    if pending.sources:
        values["sources"] = list(pending.sources)
    return {"confirm": values}


QUESTION_FRAMES: Mapping[QuestionKind, Callable[[events.CallPending, Question], Frame]] = {
    "options": _show_options,
    "pulse": _show_pulse_check,
    "confirm": _confirm,
    "other": _confirm,
}

FRAMES: Mapping[type[events.TurnEvent], Callable[[Any], Frame | None]] = {
    events.TextDelta: _text,
    events.NoteDelta: _note,
    events.ToolCallStarted: _call_started,
    events.ToolCallFinished: _call_finished,
    events.RoundBoundary: _round_boundary,
    events.RoundRestarted: _no_frame,
    events.CallPending: _call_pending,
    events.Sync: _sync,
    events.MessageStored: _message_stored,
    events.HistoryChanged: _history_changed,
    events.AnswerChosen: _answer_chosen,
    events.TurnStarted: _no_frame,
    events.ModelReads: _model_reads,
    events.ModelHasRead: _no_frame,
    events.RoundClosed: _no_frame,
    events.CallAnswered: _call_answered,
    events.SafetyShown: _safety,
    events.ModeChanged: _mode_changed,
    events.ArcCompleted: _arc_completed,
    events.TitleChanged: _title_changed,
    events.DocumentMoved: _document_moved,
    events.StepShown: _step,
    events.SessionCompleted: _session_completed,
    events.SessionClosed: _no_frame,
    events.SessionContinued: _session_continued,
    events.ErrorShown: _error,
    events.TurnDone: _done,
}
"""One function for each event; a test holds the keys against the union."""
