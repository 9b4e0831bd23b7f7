"""The steps of a stream with an injected fault.

No sockets: `delivery.py` carries out the steps.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from coaching.practice.api.compose import Answer
from coaching.practice.api.errors import error_body
from coaching.practice.api.wire import Frame, FrameKind, Gate, event_bytes, message_start
from coaching.practice.faults.fault import Fault

_CONNECTION_KINDS = frozenset({"stall", "cut", "reset", "end_early"})
_FRAME_OF_PLACE: dict[str, FrameKind] = {
    "in_text": "text",
    "in_thinking": "thinking",
    "in_tool_json": "json",
    "before_message_delta": "message_delta",
    "before_message_stop": "message_stop",
}
_BROKEN_LINE = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"del\n\n'


@dataclass(frozen=True, slots=True)
class Silence:
    """The stream is silent for `seconds`; None means until the client gives up."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class Ending:
    """The stream ends: `proper` as in HTTP, `cut` by closing, `reset` by an RST."""

    how: Literal["proper", "cut", "reset"]


Step = Frame | Gate | Silence | Ending


def spoil_frames(fault: Fault | None, frames: Sequence[Frame | Gate], answer: Answer) -> list[Step]:
    if fault is None:
        return list(frames)
    at = _position(fault, frames)
    head, tail = list[Step](frames[:at]), list[Step](frames[at:])
    if fault.kind in _CONNECTION_KINDS:
        return _break_connection(fault, frames, head, tail)
    match fault.kind:
        case "broken_json":
            return [*head, Frame("other", _BROKEN_LINE), *tail]
        case "unknown_event":
            payload = {"type": "weather_report", "weather": {"sky": "clear"}}
            return [*head, Frame("other", event_bytes("weather_report", payload)), *tail]
        case "changed_message_id":
            return [*head, message_start(answer, "msg_01changed0000000000000"), *tail]
        case "duplicate_message_start":
            return [*head, message_start(answer, answer.message_id), *tail]
        case "error_event":
            body = error_body(fault.status, fault.message or "Overloaded", "req_practice")
            return [*head, Frame("other", event_bytes("error", body)), Ending("proper")]
        case _:
            return list(frames)


def _break_connection(
    fault: Fault, frames: Iterable[Frame | Gate], head: list[Step], tail: list[Step]
) -> list[Step]:
    if fault.after_bytes is not None:
        whole = b"".join(frame.data for frame in frames if isinstance(frame, Frame))
        head, tail = _frame_of(whole[: fault.after_bytes]), _frame_of(whole[fault.after_bytes :])
    elif fault.kind != "stall" and fault.after_events is None and tail:
        head += _half_of(tail[0])
    match fault.kind:
        case "stall":
            return [*head, Silence(fault.seconds), *tail]
        case "reset":
            return [*head, Ending("reset")]
        case "end_early":
            return [*head, Ending("proper")]
        case _:
            return [*head, Ending("cut")]


def _frame_of(data: bytes) -> list[Step]:
    return [Frame("other", data)] if data else []


def _half_of(step: Step) -> list[Step]:
    """Return the first half of an event, so that a cut also splits a line."""
    if not isinstance(step, Frame) or step.kind in {"message_start", "message_stop"}:
        return []
    return [Frame("other", step.data[: len(step.data) // 2])]


def _position(fault: Fault, frames: Sequence[Frame | Gate]) -> int:
    """Return the index of the step before which the fault occurs."""
    if fault.after_events is not None:
        return min(fault.after_events, len(frames))
    if fault.place in {"before_first_byte", "after_headers"}:
        return 0
    if fault.place == "at_start":
        return 1
    wanted = _FRAME_OF_PLACE[fault.place]
    indexes = [i for i, f in enumerate(frames) if isinstance(f, Frame) and f.kind == wanted]
    return indexes[len(indexes) // 2] if indexes else len(frames) // 2
