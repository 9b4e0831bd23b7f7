"""The engine's ports: the model client, the recorder and the product's sentences."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from coaching.engine.errors import UpstreamError
from coaching.engine.messages import FinishedRound, ModelRequest
from coaching.engine.reply import Reply, ReplyDelta
from coaching.engine.tools import ToolCall, ToolResult
from coaching.engine.usage import RoundUsage, TokenCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTimeouts:
    """How long a stream may take to connect, between two reads, and in total.

    `repeats_slow`: a request whose server merely was slow may be sent again.
    """

    connect_seconds: float = 10.0
    read_idle_seconds: float = 20.0
    total_seconds: float | None = None
    repeats_slow: bool = True


DEFAULT_TIMEOUTS = StreamTimeouts()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartWords:
    """Sentences that a part shows to the user.

    `refused` replaces the answer if the model refuses; the others are shown below the answer.
    """

    refused: str
    cut_in_words: str
    cut_in_call: str
    too_long: str
    nothing_said: str
    repeated_itself: str
    failure: Callable[[UpstreamError], str]


class TextFilter(Protocol):
    """Decides what of a streamed text is shown; it may hold some until more has come, or it was checked."""

    def feed(self, text: str) -> str:
        """Return what can be shown now."""
        ...

    def close(self) -> str:
        """Return what was held, but for what is to be checked: nothing follows."""
        ...

    @property
    def has_claims(self) -> bool:
        """Whether held text waits to be checked."""
        ...

    async def check(self) -> str:
        """Check what is held, and return what can be shown then. A cancelled check changes nothing."""
        ...


class ReplyStream(Protocol):
    """A reply being received. Iterating yields the deltas of each network read, already merged."""

    def __aiter__(self) -> "ReplyStream": ...

    async def __anext__(self) -> Sequence[ReplyDelta]:
        """Read the next deltas. Raises `UpstreamError` for every kind of failure."""
        ...

    def reply(self) -> Reply:
        """Return the reply so far; complete only after `message_stop`."""
        ...


class ModelClient(Protocol):
    def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = ...
    ) -> AbstractAsyncContextManager[ReplyStream]:
        """Open a stream; leaving the block closes the connection. Raises `UpstreamError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The answer to a request of a batch; without a `stop_reason` there is none."""

    text: str = ""
    stop_reason: str = ""
    tokens: TokenCounts = field(default_factory=TokenCounts)


class BatchModelClient(Protocol):
    """Answers requests in batches, at a lower price and within a day."""

    async def create_batch(self, requests: Mapping[str, ModelRequest]) -> str:
        """Send requests under keys of ours; return the batch's id. Raises `UpstreamError`."""
        ...

    async def batch_results(self, batch_id: str) -> Mapping[str, BatchResult] | None:
        """Return the results of a batch by key; None while it is under way. Raises `UpstreamError`."""
        ...


class Recorder(Protocol):
    """Stores what happens in a part. Any method may raise `StaleRunnerError`."""

    async def record_round(self, finished: FinishedRound, usage: RoundUsage | None, /) -> None:
        """Commit a round's blocks and calls, before any of its calls runs.

        A round that `is_last` may be committed later, together with how the part ended. `usage` is None if
        it was recorded before.
        """
        ...

    async def record_result(self, call: ToolCall, result: ToolResult, /) -> None: ...

    async def record_usage(self, usage: RoundUsage, /) -> None:
        """Store the usage of a reply that becomes no round."""
        ...
