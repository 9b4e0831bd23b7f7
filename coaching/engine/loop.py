"""One part of a turn: round after round until the model has answered, waits for the user, or fails.

The whole idea is `run_part`: ask, then do what the stop reason says. It persists through the
recorder, shows through `emit`, and knows neither coaching nor a database. A second part of the same
turn, after an answer or a restart, is another `run_part` with the messages so far and
`rounds_before`. It is longer than other functions, since most of it names what it is given: its steps are the
ten lines at its end, and belong on one page with that.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from coaching.engine.asking import Asker
from coaching.engine.budget import PartBudget, PartLimits, PartStoppedError, StopSignal
from coaching.engine.calls import WAITING_KINDS, CallRunner
from coaching.engine.decisions import Decision, decision_for, finish_calls
from coaching.engine.errors import UpstreamError
from coaching.engine.events import EngineEvent
from coaching.engine.messages import ModelRequest
from coaching.engine.part import Part, PartResult, ResumedRound, Shrink, failed
from coaching.engine.ports import ModelClient, Recorder, StreamTimeouts, Words
from coaching.engine.spans import span
from coaching.engine.tools import ToolCall, ToolKind, Toolset

__all__ = ["ModelClient", "PartLimits", "PartResult", "Recorder", "StopSignal", "run_part"]

C = TypeVar("C")


async def run_part(
    *,
    request: ModelRequest,
    client: ModelClient,
    toolset: Toolset[C],
    words: Words,
    context_for: Callable[[ToolCall], C],
    recorder: Recorder,
    emit: Callable[[EngineEvent], None],
    limits: PartLimits,
    rounds_before: int = 0,
    stop: StopSignal | None = None,
    shrink: Shrink | None = None,
    waiting_kinds: frozenset[ToolKind] = WAITING_KINDS,
    timeouts: StreamTimeouts | None = None,
    resumed: ResumedRound | None = None,
    used_call_ids: Iterable[str] = (),
) -> PartResult:
    """Run rounds until the part ends, and return how.

    `shrink` makes a smaller request when the model's window is full. `waiting_kinds` are the kinds
    of tools that wait for the user. `resumed` is the last round of a runner that was lost: its
    calls are finished first. `used_call_ids` are those of the turn's earlier rounds.

    Raises only what the recorder raises (`StaleRunnerError` among it), with the upstream closed.
    """
    stop = stop or StopSignal()
    budget = PartBudget(limits)
    part = Part(
        request=request,
        budget=budget,
        words=words,
        recorder=recorder,
        emit=emit,
        rounds_before=rounds_before,
        shrink=shrink,
        asker=Asker(
            client=client, recorder=recorder, budget=budget, stop=stop, timeouts=timeouts or StreamTimeouts()
        ),
        runner=CallRunner(
            toolset=toolset,
            context_for=context_for,
            recorder=recorder,
            emit=emit,
            budget=budget,
            stop=stop,
            waiting_kinds=waiting_kinds,
        ),
        used_call_ids=used_call_ids,
        saved_fields=toolset.saved_fields,
    )
    try:
        step: PartResult | Decision = "next_round"
        if resumed:
            part.is_words_only = resumed.is_words_only
            step = await finish_calls(part, resumed.finished, known=resumed.results)
        while not isinstance(step, PartResult):
            if stop.is_requested:
                raise PartStoppedError
            part.is_same_round = step == "same_round"
            with span("round"):
                reply = await part.ask()
                step = await decision_for(reply)(part, reply)
        return step
    except PartStoppedError:
        return await part.close_unfinished(PartResult(outcome="stopped", stop_reason="stopped"))
    except UpstreamError as failure:
        return await part.close_unfinished(failed(failure))
