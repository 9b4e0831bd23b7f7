"""The state of one part while it runs, and how a part ends.

It holds the request as it grows, the round on the screen and what was recorded. What a reply means
is decided elsewhere.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from coaching.engine.asking import Asker, ShownRound, shows_notes, text_round
from coaching.engine.budget import PartBudget
from coaching.engine.calls import NOTHING_KNOWN, PAUSED, WORDS_ONLY, CallRunner, RoundOutcome
from coaching.engine.errors import UpstreamError
from coaching.engine.events import EngineEvent
from coaching.engine.messages import (
    FinishedRound,
    ModelRequest,
    append_round,
    call_ids_in,
    canonical_json,
    shorten_saved,
    unique_ids,
    with_call_ids,
)
from coaching.engine.ports import Recorder, Words
from coaching.engine.profiles import profile_for
from coaching.engine.reply import Reply
from coaching.engine.tools import SavedFields, ToolCall, ToolResult
from coaching.engine.usage import RoundUsage

Shrink = Callable[[ModelRequest], Awaitable[ModelRequest | None]]
"""Makes a request smaller for a model whose window is full; None where it can't be."""
Outcome = Literal["completed", "awaiting_user", "stopped", "failed"]

_log = logging.getLogger(__name__)

C = TypeVar("C")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """How a part ended.

    `stop_reason` is the model's word, or ours: `stopped`, `error`. `pending` are the calls that
    wait, in order. `user_message` is a sentence to show as an error.
    """

    outcome: Outcome
    stop_reason: str
    pending: tuple[ToolCall, ...] = ()
    failure: UpstreamError | None = None
    user_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedRound:
    """A round that was recorded before its runner was lost, with the results that its calls have.

    `is_words_only`: it was the part's last, so calls that it made all the same don't run.
    """

    finished: FinishedRound
    results: Mapping[str, ToolResult]
    is_words_only: bool = False


class Part(Generic[C]):
    """The state of one running part; the decisions below are functions over it."""

    def __init__(
        self,
        *,
        request: ModelRequest,
        budget: PartBudget,
        words: Words,
        recorder: Recorder,
        emit: Callable[[EngineEvent], None],
        rounds_before: int,
        shrink: Shrink | None,
        asker: Asker,
        runner: CallRunner[C],
        used_call_ids: Iterable[str],
        saved_fields: SavedFields,
    ) -> None:
        self.request = request
        self.words = words
        self.recorder = recorder
        self.emit = emit
        self.runner = runner
        self.is_same_round = False
        self.is_words_only = False
        self.has_doubled_tokens = False
        self.has_shown_anything = False
        self.failed_rounds = 0
        self.shown: ShownRound | None = None
        self._asker = asker
        self._budget = budget
        self._rounds_before = rounds_before
        self._shrink = shrink
        self._used_call_ids = set(used_call_ids)
        self._saved_fields = saved_fields
        self._usage: RoundUsage | None = None

    async def ask(self) -> Reply:
        """Ask for the next round, or for the same one again, and show it."""
        await self._record_usage()
        if not self.is_same_round or self.shown is None:
            self.shown = None
            self.is_words_only = self._budget.open_round()
            number = self._rounds_before + self._budget.rounds
            self.shown = ShownRound(
                number, self.emit, shows_notes=shows_notes(self.request, is_first_round=number == 1)
            )
        else:
            self.shown.restart()
        request = self.request
        if self.is_words_only:
            request = replace(request, tool_choice={"type": "none"})
        reply, self._usage = await self._asker.ask(request, self.shown)
        return reply

    async def record(self, reply: Reply) -> FinishedRound:
        """Record a whole round as it came, before anything of it runs."""
        shown = self._running_round()
        shown.begin()
        reply = _with_unique_ids(reply, self._used_call_ids)
        finished = FinishedRound(
            number=shown.number,
            blocks=reply.blocks,
            blocks_json=canonical_json(reply.blocks),
            text=shown.text,
            notes=shown.notes,
            calls=_calls_of(reply, shown.number),
            stop_reason=reply.stop_reason or "",
            message_id=reply.message_id,
            model=reply.model or self.request.model,
        )
        await self._record(finished)
        return finished

    async def record_words(self, reply: Reply) -> None:
        """Record only the words of a round: its calls never ran and never will."""
        shown = self._running_round()
        shown.begin()
        await self._record(text_round(shown, reply=reply, model=self.request.model, is_partial=False))

    async def close_unfinished(self, result: PartResult) -> PartResult:
        """Keep what was shown of the running round, if it never was recorded, and return the result."""
        if self.shown is not None and (unfinished := self.shown.unfinished(self.request.model)):
            await self._record(unfinished)
        await self._record_usage()
        return result

    async def run_calls(
        self,
        finished: FinishedRound,
        *,
        is_paused: bool = False,
        known: Mapping[str, ToolResult] = NOTHING_KNOWN,
    ) -> RoundOutcome:
        """Run a recorded round's calls, without those whose result is `known`; none where it `is_paused`."""
        refusal = WORDS_ONLY if self.is_words_only else PAUSED if is_paused else ""
        ran = await self.runner.run(finished.calls, refusal=refusal, known=known)
        if not is_paused:
            self.failed_rounds = self.failed_rounds + 1 if ran.all_failed() else 0
        return ran

    def extend_request(self, finished: FinishedRound, ran: RoundOutcome) -> None:
        """Put a round and its results behind the messages, ready for the next round."""
        messages = extend_messages(self.request, finished, ran.results, self._saved_fields)
        self.request = replace(self.request, messages=messages)

    async def shrink_request(self) -> bool:
        """Make the request smaller, once in a part, and return whether that was possible."""
        shrink, self._shrink = self._shrink, None
        smaller = await shrink(self.request) if shrink else None
        if smaller is None:
            return False
        self.request = smaller
        return True

    def _running_round(self) -> ShownRound:
        if self.shown is None:
            raise RuntimeError("no round is running")
        return self.shown

    async def _record(self, finished: FinishedRound) -> None:
        self.has_shown_anything = self.has_shown_anything or bool(finished.text.strip())
        self.shown = None
        usage, self._usage = self._usage, None
        await self.recorder.record_round(finished, usage)

    async def _record_usage(self) -> None:
        """Record what an answer cost of which no round came: the same round is asked again."""
        if self._usage is not None:
            usage, self._usage = self._usage, None
            await self.recorder.record_usage(usage)


def failed(failure: UpstreamError) -> PartResult:
    """Build the result of a part that failed."""
    _log.warning("part failed: %s", str(failure))
    return PartResult(
        outcome="failed", stop_reason="error", failure=failure, user_message=failure.user_message
    )


def _with_unique_ids(reply: Reply, used: set[str]) -> Reply:
    """Return a reply whose calls have ids that are new to the turn, and note them: a model may repeat one."""
    given = [call.tool_use_id for call in reply.calls]
    ids = unique_ids(given, used)
    used.update(ids.values())
    if given == list(ids.values()):
        return reply
    _log.warning("%s call ids were used before in this turn", sum(new != old for old, new in ids.items()))
    return replace(
        reply,
        blocks=tuple(with_call_ids(reply.blocks, ids)),
        calls=tuple(replace(call, tool_use_id=ids[call.tool_use_id]) for call in reply.calls),
    )


def _calls_of(reply: Reply, round_number: int) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            tool_use_id=call.tool_use_id,
            name=call.name,
            input_json=call.input_json,
            round_number=round_number,
            position=position,
        )
        for position, call in enumerate(reply.calls)
    )


def extend_messages(
    request: ModelRequest,
    finished: FinishedRound,
    results: Mapping[str, ToolResult],
    saved_fields: SavedFields,
) -> list[dict[str, Any]]:
    """Return the request's messages with a round and all its results behind them.

    The blocks are verbatim where the model binds thinking to its turn; elsewhere saved text is
    left out from the first time on. The API wants every id once in a request, so a call whose id an
    earlier turn had goes under another one. A runner that takes the turn over builds the same bytes.
    """
    blocks: Sequence[dict[str, Any]] = finished.blocks
    if not profile_for(request.model).is_thinking_bound:
        blocks = [_without_saved_text(block, results, saved_fields) for block in blocks]
    ids = {}
    if finished.calls:
        ids = unique_ids([call.tool_use_id for call in finished.calls], call_ids_in(request.messages))
        blocks = with_call_ids(blocks, ids)
    answered = [(ids[call.tool_use_id], results[call.tool_use_id]) for call in finished.calls]
    return append_round(request.messages, blocks, answered)


def _without_saved_text(
    block: dict[str, Any], results: Mapping[str, ToolResult], saved_fields: SavedFields
) -> dict[str, Any]:
    if block["type"] != "tool_use" or block["name"] not in saved_fields:
        return block
    result = results.get(block["id"])
    if result is None or result.is_error:
        return block
    return {**block, "input": shorten_saved(block["name"], block["input"], saved_fields, is_error=False)}
