"""The input of a part, as one value."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from coaching.engine.budget import PartLimits, StopSignal
from coaching.engine.events import EngineEvent
from coaching.engine.messages import FinishedRound, ModelRequest
from coaching.engine.ports import (
    DEFAULT_TIMEOUTS,
    ModelClient,
    PartWords,
    Recorder,
    StreamTimeouts,
    TextFilter,
)
from coaching.engine.tools import WAITING_KINDS, ToolCall, ToolKind, ToolResult, Toolset

C = TypeVar("C")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedRound:
    """A round that was recorded before its runner was lost, with the results of its calls so far.

    `is_words_only`: it was the part's last round, so calls that it made anyway don't run.
    """

    finished: FinishedRound
    results: Mapping[str, ToolResult]
    is_words_only: bool = False


def holds_none(_: ToolCall) -> bool:
    """Hold no call: only the kinds of tools decide what waits."""
    return False


def runs_none() -> bool:
    """Run no call that is only text: some text may be by others."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSetup(Generic[C]):
    """The input of a part.

    `shrink` builds a smaller request if the model's window is full, or returns None. The calls of
    `resumed`, the last round of a lost runner, are finished first. `used_call_ids` are those of the
    turn's earlier rounds. `bracket_filter` makes a filter for the text of a round: what it leaves out is
    neither shown nor recorded, except in the model's own blocks. It may change only what follows a bracket.
    `is_held` is asked after a round is recorded: a held call waits for the user's yes, whatever its kind.
    So is `has_to_ask` about calls of the kind `evidence`, which run at once or wait for a yes. `runs_written`
    is asked before each request: whether a call that a model without a profile writes as text may run.
    `last_round_text` tells the model in its last round to answer, where a tool choice would make the cache of
    the messages useless.
    """

    request: ModelRequest
    client: ModelClient
    toolset: Toolset[C]
    words: PartWords
    context_for: Callable[[ToolCall], C]
    recorder: Recorder
    emit: Callable[[EngineEvent], None]
    limits: PartLimits
    stop: StopSignal = field(default_factory=StopSignal)
    rounds_before: int = 0
    shrink: Callable[[ModelRequest], Awaitable[ModelRequest | None]] | None = None
    waiting_kinds: frozenset[ToolKind] = WAITING_KINDS
    timeouts: StreamTimeouts = DEFAULT_TIMEOUTS
    resumed: ResumedRound | None = None
    used_call_ids: Iterable[str] = ()
    bracket_filter: Callable[[], TextFilter] | None = None
    is_held: Callable[[ToolCall], bool] = holds_none
    has_to_ask: Callable[[ToolCall], bool] = holds_none
    runs_written: Callable[[], bool] = runs_none
    last_round_text: str = ""
