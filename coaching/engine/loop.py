"""One part of a turn: round after round until the model has answered, waits for the user, or fails.

It persists through the recorder, shows through `emit`, and knows neither coaching nor a database. After an
answer or a restart the turn goes on in another part, with the messages so far and `rounds_before`.
"""

from typing import TypeVar

from coaching.engine.decisions import decide, finish_calls, on_too_long
from coaching.engine.errors import UpstreamError
from coaching.engine.part import Part
from coaching.engine.setup import PartSetup
from coaching.engine.spans import span
from coaching.engine.transitions import NextRound, PartResult, SameRound, Transition, failed

C = TypeVar("C")


async def run_part(setup: PartSetup[C]) -> PartResult:
    """Run rounds until the part ends, and return how.

    Raises only what the recorder raises (`StaleRunnerError` among it), with the upstream closed.
    """
    part = Part(setup)
    transition: Transition = NextRound(request=setup.request)
    try:
        if setup.resumed:
            transition = await finish_calls(part, setup.resumed.finished, known=setup.resumed.results)
        while not isinstance(transition, PartResult):
            with span("round"):
                transition = await _run_round(part, transition)
    except UpstreamError as failure:
        transition = failed(failure, setup.words)
    return await part.close(transition)


async def _run_round(part: Part[C], transition: NextRound | SameRound) -> Transition:
    try:
        reply = await part.request_round(transition)
    except UpstreamError as failure:
        if failure.reason == "too_long":
            return await on_too_long(part, failure)
        raise
    return reply if isinstance(reply, PartResult) else await decide(part, reply)
