"""Events as JSON frames, for programs (`sage.json`). Names are the public contract of the WebSocket."""

from dataclasses import asdict
from typing import Any, assert_never

from coaching.events import (
    ArcCompleted,
    CallAnswered,
    CallPending,
    ErrorShown,
    HistoryChanged,
    MessageStored,
    ModeChanged,
    NoteDelta,
    RoundBoundary,
    RoundClosed,
    RoundRestarted,
    SafetyShown,
    SessionClosed,
    SessionCompleted,
    SessionContinued,
    Sync,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnDone,
    TurnEvent,
    TurnStarted,
)
from coaching.models import LifeDomain
from sessions_app.models import SessionStatus

Frame = dict[str, Any]

SAFETY_PAGE = "/safety/"


def frame_of(event: TurnEvent) -> Frame | None:
    """Return the event's frame, or None for an event that programs don't see."""
    match event:
        case TextDelta(text=text):
            return {"text": text}
        case NoteDelta(text=text):
            return {"note": text}
        case ToolCallStarted(tool_use_id=tool_use_id, name=name):
            return {"toolCall": {"id": tool_use_id, "name": name}}
        case ToolCallFinished(tool_use_id=tool_use_id):
            return {"toolDone": {"id": tool_use_id}}
        case RoundBoundary():
            return {"roundBoundary": True}
        case SafetyShown():
            return {"safety": _safety_values(event)}
        case HistoryChanged(first_number=first_number):
            return {"withdrawn": {"from": first_number}}
        case SessionContinued(session_id=session_id):
            return {"continued": {"session": session_id}}
        case RoundRestarted() | RoundClosed() | TurnStarted() | SessionClosed():
            return None  # a Sync follows the first and the last; the others only change what a page shows
        case _:
            return _frame_of_turn_event(event)


def _frame_of_turn_event(
    event: CallPending
    | Sync
    | MessageStored
    | CallAnswered
    | ModeChanged
    | ArcCompleted
    | SessionCompleted
    | ErrorShown
    | TurnDone,
) -> Frame:
    match event:
        case CallPending():
            return _frame_of_pending(event)
        case Sync():
            return {"sync": _sync_values(event)}
        case MessageStored(id=message_id, number=number, text=text):
            return {"message": {"id": message_id, "number": number, "text": text}}
        case CallAnswered(tool_use_id=tool_use_id, state=state, value=value):
            return {"answered": {"toolUseId": tool_use_id, "state": state, "value": value}}
        case ModeChanged(arc=arc):
            return {"modeChange": arc}
        case ArcCompleted(arc=arc):
            return {"arcCompleted": arc}
        case SessionCompleted():
            return {"sessionCompleted": True}
        case ErrorShown(message=message):
            return {"error": message}
        case TurnDone(turn_id=turn_id, stop_reason=stop_reason):
            return {"done": {"turn": turn_id, "stopReason": stop_reason}}
        case _:
            assert_never(event)


def _safety_values(shown: SafetyShown) -> Frame:
    """Return what a program shows: beside which words (number or `toolUseId`), how near, and the lines."""
    danger, offer = shown.card.danger, shown.card.offer
    return {
        "level": danger.level,
        "about": danger.about,
        "topic": danger.topic,
        "message": shown.number,
        "toolUseId": shown.tool_use_id or None,
        "country": offer.country or None,
        "lines": [asdict(line) for line in offer.lines],
        "page": SAFETY_PAGE,
    }


def _sync_values(sync: Sync) -> Frame:
    values = {
        "status": sync.status,
        "turn": sync.turn_id or None,
        "text": sync.text,
        "notes": list(sync.notes),
        "running": [{"id": tool_use_id, "name": name} for tool_use_id, name in sync.running.items()],
        "pending": [_frame_of_pending(pending) for pending in sync.pending],
    }
    if sync.facts is not None and sync.facts.status != SessionStatus.ACTIVE:
        values["ended"] = sync.facts.status
    return values


def _frame_of_pending(pending: CallPending) -> Frame:
    values = pending.input
    if pending.name == "show_options":
        options = [
            {"label": option["label"], "value": option.get("value") or option["label"]}
            for option in values["options"]
        ]
        return {
            "showOptions": {
                "toolUseId": pending.tool_use_id,
                "prompt": values.get("prompt") or "",
                "options": options,
            }
        }
    if pending.name == "show_pulse_check":
        return {
            "showPulseCheck": {
                "toolUseId": pending.tool_use_id,
                "context": values.get("context") or "",
                "domains": list(dict.fromkeys(values.get("domains") or LifeDomain.values)),
            }
        }
    return {"confirm": {"toolUseId": pending.tool_use_id, "tool": pending.name, "input": dict(values)}}
