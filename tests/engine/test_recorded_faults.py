"""Every recorded fault ends in a message for the user, and no incomplete call runs."""

from typing import Any

import pytest

from coaching.engine.tools import ToolCall, ToolInput, ToolResult
from tests.engine.record import FAULTS, RECORDINGS
from tests.engine.test_recorded_streams import OURS
from tests.engine.upstream import Answer, Bench, saying

ASKED_AGAIN = ("end_turn", ["Thank you"])
HALF = "Good evening. Söndag"
CALLING = "I'll write that down."

# The part's outcome, and the text of each kept round.
OUTCOMES: dict[str, tuple[str, list[str]]] = {
    "broken-json": ASKED_AGAIN,
    "changed-message-id": ASKED_AGAIN,
    "cut-in-tool-json": ASKED_AGAIN,
    "duplicate-message-start": ASKED_AGAIN,
    "empty-body": ASKED_AGAIN,
    "end-early-before-message-stop": ASKED_AGAIN,
    "error-event": ASKED_AGAIN,
    "hand-invalid-utf8": ASKED_AGAIN,
    "hand-no-stop-reason": ASKED_AGAIN,
    "tool-use-without-block": ASKED_AGAIN,
    "hand-input-not-json": ("end_turn", [CALLING, "Thank you"]),  # the model gets an error result
    "hand-unknown-stop-reason": ("of_tomorrow", [CALLING]),
    "pause-turn": ("end_turn", [HALF, "Thank you"]),
    "max-tokens-in-text": ("max_tokens", [HALF]),
    "context-window-exceeded": ("model_context_window_exceeded", [HALF]),
}


class AnyInput(ToolInput):
    """Takes whatever a recording calls with."""

    model_config = {"extra": "allow"}


def test_every_recording_has_its_outcome() -> None:
    names = {path.stem for path in RECORDINGS.glob("*.sse")}
    assert names == OUTCOMES.keys() | OURS.keys()
    assert FAULTS.keys() <= names


@pytest.mark.parametrize("name", OUTCOMES)
async def test_a_recorded_fault_runs_no_call(bench: Bench, name: str) -> None:
    ran: list[dict[str, Any]] = []

    async def run(context: ToolCall, values: AnyInput) -> ToolResult:
        ran.append(values.model_dump())
        return ToolResult.of(ok=True)

    bench.tool("save_note", run, input_model=AnyInput)
    bench.upstream.script(Answer((RECORDINGS / f"{name}.sse").read_bytes()), saying("Thank you"))
    result = await bench.part()
    stop_reason, texts = OUTCOMES[name]
    assert (result.outcome, result.stop_reason) == ("completed", stop_reason)
    assert [item.text for item in bench.recorder.rounds] == texts
    assert len(bench.upstream.requests) == (1 if texts in ([HALF], [CALLING]) else 2)
    assert ran == []
    answers = [item.is_error for item in bench.recorder.results.values()]
    assert answers == ([True] if name == "hand-input-not-json" else [])
