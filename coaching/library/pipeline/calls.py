"""Asks the model about documents so that an answer, once committed, is never paid for again.

Rounds with tools are committed one by one: after a kill the call goes on after the last of them.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.utils.translation import gettext_noop

from coaching.engine.budget import PartLimits
from coaching.engine.errors import FailureReason, UpstreamError
from coaching.engine.events import EngineEvent
from coaching.engine.loop import run_part
from coaching.engine.messages import FinishedRound, ModelRequest, canonical_json
from coaching.engine.ports import ModelClient, PartWords
from coaching.engine.rounds import extend_request
from coaching.engine.setup import PartSetup, ResumedRound
from coaching.engine.tools import ToolCall, ToolResult, Toolset
from coaching.engine.transitions import PartResult
from coaching.engine.usage import RoundUsage
from coaching.library.pipeline import call_records
from coaching.library.pipeline.call_records import CallPlan, StoredRound, begin_call, open_call, read_rounds
from coaching.model_client.patience import job_seconds, timeouts_within
from coaching.models import DocumentCall, DocumentCallState
from sessions_app.database import in_database

MAX_ROUNDS = 3
MAX_TOOL_CALLS = 24
LAST_ROUND = (
    "This is the last round: no tool can be called any more. Answer now, in the form that was asked for."
)
CALL_SECONDS = 180.0
_POLL_SECONDS = 0.2

UPSTREAM_REASONS: frozenset[FailureReason] = frozenset(
    {"rate_limited", "overloaded", "unavailable", "unauthorized", "unknown_model", "circuit_open"}
)
"""Failures that say nothing about the documents: the call is made later."""

REFUSED = gettext_noop("The AI model declined to read it.")
TOO_LONG = gettext_noop("It has too much text for the AI model.")
CUT = gettext_noop("The AI model’s answer was cut off.")
NO_ANSWER = gettext_noop("The AI model gave no answer.")
GIVEN_UP = gettext_noop("Reading it was interrupted several times.")
WITHDRAWN = "One of its documents was deleted or withheld."

C = TypeVar("C")


class CallFailed(Exception):
    """There is no answer, and another attempt at the same call gives none. `str()` is a sentence."""


class CallWithdrawn(CallFailed):
    """One of the call's documents was deleted or withheld since: a call about the others is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTools(Generic[C]):
    """The tools of a call, and how each gets its context."""

    toolset: Toolset[C]
    context_for: Callable[[DocumentCall, ToolCall], C]


NO_LIMIT: AbstractAsyncContextManager[None] = nullcontext()
NO_TOOLS: CallTools[None] = CallTools(toolset=Toolset(()), context_for=lambda _row, _call: None)


async def make_call(
    plan: CallPlan,
    *,
    client: ModelClient,
    tools: CallTools[Any] = NO_TOOLS,
    slot: AbstractAsyncContextManager[None] = NO_LIMIT,
) -> DocumentCall:
    """Return the call with its answer: the committed one, or the model's. `slot` is held while it is asked.

    Raises `CallFailed`, `UpstreamError` where the model can't be reached, `Refused` where the user's budget
    is used up, and `StaleRunnerError` if another runner has taken the call over.
    """
    call = await in_database(open_call, plan)
    return await resume_call(call, plan.request, client=client, tools=tools, slot=slot)


async def resume_call(
    call: DocumentCall,
    request: ModelRequest,
    *,
    client: ModelClient,
    tools: CallTools[Any] = NO_TOOLS,
    slot: AbstractAsyncContextManager[None] = NO_LIMIT,
) -> DocumentCall:
    """Return a call with its answer; `request` gives model, tools and system. See `make_call`."""
    if call.state == DocumentCallState.FAILED:
        raise CallFailed(call.error or NO_ANSWER)
    while call.state == DocumentCallState.OPEN:
        # Held for one attempt at a time: the call that this one waits for may need the slot.
        async with slot:
            if await _begin(call):
                recorder = _Recorder(call)
                result = await run_part(_setup(call, request, client=client, tools=tools, recorder=recorder))
                if call.state != DocumentCallState.ANSWERED:
                    await _fail(call, result)
                return call
        await asyncio.sleep(_POLL_SECONDS)
    return call


def prefix_of(request: ModelRequest) -> str:
    """Return a name for what the cache of a request's model begins with."""
    prefix = canonical_json([request.model, request.tools, request.system])
    return hashlib.sha256(prefix.encode()).hexdigest()


async def _begin(call: DocumentCall) -> bool:
    """Count an attempt; False while the first call with the same prefix is under way."""
    admission = await in_database(begin_call, call, daily_tokens=settings.SAGE_DAILY_TOKENS)
    if admission == "given_up":
        await in_database(call_records.fail_call, call, GIVEN_UP)
        raise CallFailed(GIVEN_UP)
    if admission == "withdrawn":
        raise CallWithdrawn(WITHDRAWN)
    return admission == "go"


async def _fail(call: DocumentCall, result: PartResult) -> None:
    """Raise why there is no answer."""
    if result.failure is not None and result.failure.reason in UPSTREAM_REASONS:
        raise result.failure
    sentence = result.user_message or (REFUSED if result.stop_reason == "refusal" else NO_ANSWER)
    await in_database(call_records.fail_call, call, sentence)
    raise CallFailed(sentence)


def _setup(
    call: DocumentCall,
    request: ModelRequest,
    *,
    client: ModelClient,
    tools: CallTools[Any],
    recorder: "_Recorder",
) -> PartSetup[Any]:
    rounds = read_rounds(call)
    request = replace(request, messages=json.loads(call.request) if call.request else request.messages)
    if prefix_of(request) != call.prefix:
        rounds = [_without_thinking(each) for each in rounds]
    resumed = None
    for stored in rounds:
        finished, results = _finished(stored), _results(stored)
        if any(each.tool_use_id not in results for each in finished.calls):
            resumed = ResumedRound(
                finished=finished, results=results, is_words_only=len(rounds) >= MAX_ROUNDS
            )
        else:
            request = extend_request(request, finished, results, tools.toolset.saved_fields)
    seconds = job_seconds(CALL_SECONDS)
    return PartSetup(
        request=request,
        client=client,
        toolset=tools.toolset,
        words=_WORDS,
        context_for=lambda each: tools.context_for(call, each),
        recorder=recorder,
        emit=_emit_nothing,
        limits=PartLimits(
            max_rounds=max(1, MAX_ROUNDS - len(rounds)), seconds=seconds, max_tool_calls=MAX_TOOL_CALLS
        ),
        timeouts=timeouts_within(seconds),
        rounds_before=len(rounds),
        resumed=resumed,
        waiting_kinds=frozenset(),
        used_call_ids=[each for stored in rounds for each in stored["call_ids"]],
        last_round_text=LAST_ROUND if tools.toolset.definitions() else "",
    )


class _Recorder:
    """The engine's `Recorder` for one run of a call."""

    def __init__(self, call: DocumentCall) -> None:
        self._call = call

    async def record_round(self, finished: FinishedRound, usage: RoundUsage | None) -> None:
        await in_database(call_records.store_round, self._call, finished, usage)

    async def record_result(self, call: ToolCall, result: ToolResult) -> None:
        await in_database(call_records.store_result, self._call, call.tool_use_id, result)

    async def record_usage(self, usage: RoundUsage) -> None:
        await in_database(call_records.store_usage, self._call, usage)


def _emit_nothing(_event: EngineEvent) -> None:
    """Nobody reads along."""


def _failure_words(failure: UpstreamError) -> str:
    return TOO_LONG if failure.reason == "too_long" else NO_ANSWER


_WORDS = PartWords(
    refused=REFUSED,
    cut_in_words=CUT,
    cut_in_call=CUT,
    too_long=TOO_LONG,
    nothing_said=NO_ANSWER,
    repeated_itself=CUT,
    failure=_failure_words,
)


def _finished(stored: StoredRound) -> FinishedRound:
    blocks = tuple(stored["blocks"])
    inputs = {block["id"]: block for block in blocks if block["type"] == "tool_use"}
    calls = tuple(
        ToolCall(
            tool_use_id=each,
            name=inputs[each]["name"],
            input_json=canonical_json(inputs[each]["input"]),
            round_number=stored["number"],
            position=position,
        )
        for position, each in enumerate(stored["call_ids"])
    )
    return FinishedRound(
        number=stored["number"],
        blocks=blocks,
        blocks_json=canonical_json(blocks),
        text="",
        notes="",
        calls=calls,
        stop_reason=stored["stop_reason"],
        message_id=stored["message_id"],
        model=stored["model"],
    )


def _results(stored: StoredRound) -> Mapping[str, ToolResult]:
    return {key: ToolResult(**result) for key, result in stored["results"].items()}


def _without_thinking(stored: StoredRound) -> StoredRound:
    kept = [block for block in stored["blocks"] if block["type"] not in ("thinking", "redacted_thinking")]
    return {**stored, "blocks": kept}
