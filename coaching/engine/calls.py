"""Runs the calls of one round: which ones may run, in which order, and what a failure becomes.

Every call gets exactly one result or waits for the user. No input that a model writes raises past
this module.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from coaching.engine.budget import PartBudget
from coaching.engine.errors import StaleRunnerError, ToolError, ToolInputError
from coaching.engine.events import CallPending, ToolCallFinished, ToolCallStarted
from coaching.engine.metrics import TOOL_SECONDS
from coaching.engine.setup import PartSetup
from coaching.engine.spans import span
from coaching.engine.tools import Tool, ToolCall, ToolInput, ToolPhase, ToolResult

UNEXPECTED = "The tool failed unexpectedly. Nothing more is known. Tell the user, or try it once more."
OVER_BUDGET = "Not run: this turn has used up its tool calls. Answer in words now."
WORDS_ONLY = "Not run: no more tools in this turn. Answer in words now."
PAUSED = "Not run: the reply was paused before this call could run. Call it again if it is still needed."
STOPPED = "Not run: the user stopped the turn first."
TOO_LONG = "The tool took too long and was given up. It may have taken effect: check before you repeat it."
NOT_WITH_A_QUESTION = (
    "Not run: this can't be called together with a question to the user. Wait for the answer, then call it "
    "alone."
)
PHASES: Sequence[ToolPhase] = ("first", "normal", "last")
NOTHING_KNOWN: Mapping[str, ToolResult] = {}

_log = logging.getLogger(__name__)

C = TypeVar("C")
DoneT = TypeVar("DoneT")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall(Generic[C]):
    """A call that may run, with its tool and validated input."""

    call: ToolCall
    tool: Tool[C, Any]
    values: ToolInput
    conflict_key: str | None


@dataclass(slots=True, kw_only=True)
class RoundOutcome:
    """Results by `tool_use_id`, and the calls that wait for the user."""

    results: dict[str, ToolResult] = field(default_factory=dict)
    pending: list[CallPending] = field(default_factory=list)

    def all_failed(self) -> bool:
        return bool(self.results) and not self.pending and all(r.is_error for r in self.results.values())


class CallRunner(Generic[C]):
    def __init__(self, setup: PartSetup[C], budget: PartBudget) -> None:
        self._setup = setup
        self._budget = budget

    async def run(
        self, calls: Sequence[ToolCall], *, refusal: str = "", known: Mapping[str, ToolResult] = NOTHING_KNOWN
    ) -> RoundOutcome:
        """Run the calls that may run, and return the outcome of all.

        Each result is recorded as soon as it exists. A call that has started is finished even after a
        stop; only the deadline ends it. A call with a `known` result has run before. With a `refusal`
        no call runs, and each gets it as its error.
        """
        outcome = RoundOutcome(results=dict(known))
        fresh = [call for call in calls if call.tool_use_id not in known]
        planned = await self._plan(fresh, outcome, refusal=refusal)
        waiting, running, refused = self._sorted(planned)
        for item in refused:
            await self._settle(outcome, item.call, ToolResult.error(NOT_WITH_A_QUESTION))
        for phase in PHASES:
            await self._run_phase([item for item in running if item.tool.phase == phase], phase, outcome)
        for item in waiting:
            if self._setup.stop.is_requested:
                await self._settle(outcome, item.call, ToolResult.error(STOPPED))
            else:
                await self._let_wait(item, outcome)
        return outcome

    def _sorted(
        self, planned: Sequence[PlannedCall[C]]
    ) -> tuple[Sequence[PlannedCall[C]], Sequence[PlannedCall[C]], Sequence[PlannedCall[C]]]:
        """Return the calls that wait for the user, those that run now, and those that can't be combined.

        A held call waits alone: it runs after the yes, when the turn goes on, and a message instead of a
        second answer would end the turn before that.
        """
        waiting = [item for item in planned if self._waits(item)]
        others = [item for item in planned if item not in waiting]
        held = [item for item in others if self._setup.is_held(item.call)]
        kept = held[:1] if not waiting else []
        refused = [item for item in held if item not in kept]
        if waiting or kept:
            refused += [item for item in others if item.tool.phase == "last" and item not in held]
        running = [item for item in others if item not in held and item not in refused]
        return [*waiting, *kept], running, refused

    def _waits(self, item: PlannedCall[C]) -> bool:
        if item.tool.kind == "evidence":
            return self._setup.has_to_ask(item.call)
        return item.tool.kind in self._setup.waiting_kinds

    async def _plan(
        self, calls: Sequence[ToolCall], outcome: RoundOutcome, *, refusal: str
    ) -> list[PlannedCall[C]]:
        """Return the calls that may run; the others get an error result."""
        planned = []
        for call in calls:
            try:
                if refusal:
                    raise ToolError(refusal)
                if not self._budget.admits_call():
                    raise ToolError(OVER_BUDGET)
                planned.append(self._prepare(call))
            except (ToolError, ToolInputError) as error:
                await self._settle(outcome, call, ToolResult.error(str(error)))
        return planned

    def _prepare(self, call: ToolCall) -> PlannedCall[C]:
        tool = self._setup.toolset.get(call.name)
        if tool is None:
            names = ", ".join(self._setup.toolset.names())
            raise ToolError(f"There is no tool of that name. The tools are: {names}.")
        values = tool.parse(call.input_json)
        return PlannedCall(call=call, tool=tool, values=values, conflict_key=tool.conflict_key(values))

    async def _let_wait(self, item: PlannedCall[C], outcome: RoundOutcome) -> None:
        """Let a call wait for the user, unless its tool refuses it first."""
        details: Mapping[str, Any] = {}
        if item.tool.check is not None:
            checked = await self._isolated(item, item.tool.check)
            if isinstance(checked, ToolResult):
                await self._settle(outcome, item.call, checked)
                return
            details = checked
        values = item.values.model_dump(mode="json", exclude_none=True)
        outcome.pending.append(
            CallPending(tool_use_id=item.call.tool_use_id, name=item.call.name, input=values, details=details)
        )

    async def _run_phase(
        self, items: Sequence[PlannedCall[C]], phase: ToolPhase, outcome: RoundOutcome
    ) -> None:
        """Run one phase: chains of conflicting calls concurrently, each chain in order."""
        if not items:
            return
        if self._setup.stop.is_requested:
            for item in items:
                await self._settle(outcome, item.call, ToolResult.error(STOPPED))
            return
        for item in items:
            self._setup.emit(ToolCallStarted(tool_use_id=item.call.tool_use_id, name=item.call.name))
        chains = [list(items)] if phase != "normal" else _chains(items)
        tasks = [asyncio.create_task(self._run_chain(chain, outcome)) for chain in chains]
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            raise
        failures = [failure for task in tasks if (failure := task.exception())]
        if failures:
            raise failures[0]

    async def _run_chain(self, chain: Iterable[PlannedCall[C]], outcome: RoundOutcome) -> None:
        has_begun = False
        for item in chain:
            if has_begun and self._setup.stop.is_requested:
                result = ToolResult.error(STOPPED)
            else:
                has_begun = True
                result = await self._isolated(item, item.tool.run)
            await self._settle(outcome, item.call, result)
            self._setup.emit(ToolCallFinished(tool_use_id=item.call.tool_use_id))

    async def _isolated(
        self, item: PlannedCall[C], act: Callable[[C, ToolInput], Awaitable[DoneT]]
    ) -> DoneT | ToolResult:
        """Return what a tool returns for a call; any failure becomes a result."""
        scope = asyncio.timeout_at(self._budget.deadline)
        try:
            async with scope:
                with span("tool", tool=item.tool.name), TOOL_SECONDS.labels(item.tool.name).time():
                    return await act(self._setup.context_for(item.call), item.values)
        except (ToolError, ToolInputError) as refusal:
            return ToolResult.error(str(refusal))
        except StaleRunnerError:
            raise
        except TimeoutError:
            if scope.expired():
                return ToolResult.error(TOO_LONG)
            return self._unexpected(item.call)
        except Exception:  # noqa: BLE001 - a tool is isolated from the turn: one fixed sentence
            return self._unexpected(item.call)

    def _unexpected(self, call: ToolCall) -> ToolResult:
        _log.exception("tool %s failed in call %s", call.name, call.tool_use_id)
        return ToolResult.error(UNEXPECTED)

    async def _settle(self, outcome: RoundOutcome, call: ToolCall, result: ToolResult) -> None:
        await self._setup.recorder.record_result(call, result)
        outcome.results[call.tool_use_id] = result


def _chains(items: Sequence[PlannedCall[C]]) -> list[list[PlannedCall[C]]]:
    """Group conflicting calls, in the order written; a call without a key is its own group."""
    chains: dict[object, list[PlannedCall[C]]] = {}
    for item in items:
        key = item.call.position if item.conflict_key is None else item.conflict_key
        chains.setdefault(key, []).append(item)
    return list(chains.values())
