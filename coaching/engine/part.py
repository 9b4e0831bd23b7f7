"""The state of one running part: its request, the running round and what was recorded.

Only this module changes that state; `decisions` interprets replies.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Generic, TypeVar, assert_never

from coaching.engine.budget import PartBudget
from coaching.engine.calls import NOTHING_KNOWN, PAUSED, WORDS_ONLY, CallRunner, RoundOutcome
from coaching.engine.errors import UpstreamError
from coaching.engine.events import TextDelta
from coaching.engine.messages import FinishedRound, canonical_json, with_text
from coaching.engine.profiles import profile_for
from coaching.engine.reply import Reply
from coaching.engine.requesting import RoundRequester, RunningRound
from coaching.engine.rounds import calls_of, with_unique_ids
from coaching.engine.setup import PartSetup
from coaching.engine.tools import ToolResult
from coaching.engine.transitions import STOPPED, NextRound, PartResult, Remedy, SameRound, failed

CUT = "cut"
"""The stop reason of a reply that never ended."""

C = TypeVar("C")


class Part(Generic[C]):
    """One running part. Before its first round, `round` is the last one of the previous part."""

    def __init__(self, setup: PartSetup[C]) -> None:
        self.setup = setup
        self.request = setup.request
        self.round = RunningRound(
            setup.rounds_before,
            setup.emit,
            shows_notes=False,
            is_words_only=setup.resumed is not None and setup.resumed.is_words_only,
        )
        self.tried: set[Remedy] = set()
        self.shrinks = 0
        self.failed_rounds = 0
        self.has_shown_anything = False
        self._budget = PartBudget(setup.limits)
        self._requester = RoundRequester(setup, self._budget)
        self._calls = CallRunner(setup, self._budget)
        self._used_call_ids = set(setup.used_call_ids)

    async def request_round(self, transition: NextRound | SameRound) -> Reply | PartResult:
        """Request a round and show its reply; return a result if the part ends before that.

        Raises `UpstreamError`.
        """
        if self.setup.stop.is_requested:
            return STOPPED
        await self._record_usage()
        self.request = transition.request
        match transition:
            case NextRound():
                if not self._budget.remaining_seconds():
                    late = UpstreamError("out_of_time", detail=f"before round {self._budget.rounds + 1}")
                    return failed(late, self.setup.words)
                self.round = self._open_round()
            case SameRound():
                self.tried.add(transition.remedy)
                self.shrinks += transition.remedy == "smaller_window"
                self.round.restart()
            case _:
                assert_never(transition)
        request = replace(self.request, written_calls=self._written_calls())
        if self.forbids_tools_in_text:
            request = with_text(request, self.setup.last_round_text)
        elif self.round.is_words_only:
            request = replace(request, tool_choice={"type": "none"})
        return await self._requester.request(request, self.round)

    @property
    def forbids_tools_in_text(self) -> bool:
        """Whether the running round is the last, and is only told so: that leaves the cache as it is."""
        return self.round.is_words_only and bool(self.setup.last_round_text) and "no_tools" not in self.tried

    def replace_shown(self, text: str) -> None:
        """Discard what the running round has shown, and show a text instead."""
        self.round.restart()
        self.round.show(TextDelta(text))

    async def record(self, reply: Reply, *, is_last: bool = False) -> FinishedRound:
        """Record a complete round, before any of its calls runs."""
        self.round.begin()
        await self.round.finish()
        reply = with_unique_ids(reply, self._used_call_ids)
        finished = FinishedRound(
            number=self.round.number,
            blocks=reply.blocks,
            blocks_json=canonical_json(reply.blocks),
            text=self.round.text,
            notes=self.round.notes,
            calls=calls_of(reply, self.round.number),
            stop_reason=reply.stop_reason or "",
            message_id=reply.message_id,
            model=reply.model or self.request.model,
            is_last=is_last,
        )
        await self._record(finished)
        return finished

    async def record_words(self, reply: Reply | None) -> None:
        """Record only the text of a round, without its thinking and calls.

        `reply` is None for a round that never ended.
        """
        self.round.begin()
        await self.round.finish()
        words = self.round.text
        blocks = ({"type": "text", "text": words},) if words.strip() else ()
        await self._record(
            FinishedRound(
                number=self.round.number,
                blocks=blocks,
                blocks_json=canonical_json(blocks),
                text=words,
                notes=self.round.notes,
                calls=(),
                stop_reason=(reply and reply.stop_reason) or CUT,
                message_id=reply.message_id if reply else "",
                model=(reply and reply.model) or self.request.model,
                is_partial=reply is None,
                is_last=True,
            )
        )

    async def run_calls(
        self, finished: FinishedRound, *, known: Mapping[str, ToolResult] = NOTHING_KNOWN
    ) -> RoundOutcome:
        """Run the calls of a recorded round that have no `known` result; none of a reply that was paused."""
        is_paused = finished.stop_reason == "pause_turn"
        refusal = WORDS_ONLY if self.round.is_words_only else PAUSED if is_paused else ""
        ran = await self._calls.run(finished.calls, refusal=refusal, known=known)
        if not is_paused:
            self.failed_rounds = self.failed_rounds + 1 if ran.all_failed() else 0
        return ran

    async def close(self, result: PartResult) -> PartResult:
        """Record what a round has shown that was never recorded, and return the result."""
        await self.round.finish()
        if self.round.has_shown:
            await self.record_words(None)
        await self._record_usage()
        return result

    def has_time(self, seconds: float) -> bool:
        """Whether more time than that is left."""
        return self._budget.remaining_seconds() > seconds

    def _written_calls(self) -> frozenset[str]:
        if self.round.is_words_only or not self.setup.runs_written():
            return frozenset()
        return frozenset(tool["name"] for tool in self.request.tools)

    def _open_round(self) -> RunningRound:
        is_words_only = self._budget.open_round()
        number = self.setup.rounds_before + self._budget.rounds
        shows_notes = profile_for(self.request.model).shows_notes(is_first_round=number == 1)
        return RunningRound(
            number,
            self.setup.emit,
            shows_notes=shows_notes,
            is_words_only=is_words_only,
            bracket_filter=self.setup.bracket_filter,
        )

    async def _record(self, finished: FinishedRound) -> None:
        self.has_shown_anything = self.has_shown_anything or bool(finished.text.strip())
        await self.setup.recorder.record_round(finished, self.round.close())

    async def _record_usage(self) -> None:
        """Record the usage of a reply that became no round, because the round is requested again."""
        if usage := self.round.take_usage():
            await self.setup.recorder.record_usage(usage)
