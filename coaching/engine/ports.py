"""The seams of the engine: what it asks of a model, of whoever keeps what happened, and of the product.

A breaker that is shared by all users fits here as a `ModelClient` around another one.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from coaching.engine.errors import UpstreamError
from coaching.engine.messages import FinishedRound, ModelRequest
from coaching.engine.reply import Reply, ReplyDelta
from coaching.engine.tools import ToolCall, ToolResult
from coaching.engine.usage import RoundUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTimeouts:
    """How long a stream may take to connect, between two reads, and altogether."""

    connect_seconds: float = 10.0
    read_idle_seconds: float = 20.0
    total_seconds: float | None = None


DEFAULT_TIMEOUTS = StreamTimeouts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a part says to the user in the product's own voice.

    `refused` is shown as the answer where the model refuses; the others are sentences below it.
    """

    refused: str
    cut_in_words: str
    cut_in_call: str
    too_long: str
    nothing_said: str
    failure: Callable[[UpstreamError], str]


class ReplyStream(Protocol):
    """A reply on its way. Iterating yields what each network read brought, already merged."""

    def __aiter__(self) -> "ReplyStream":
        """Return itself: a stream is read once."""
        ...

    async def __anext__(self) -> Sequence[ReplyDelta]:
        """Read on. Raises `UpstreamError` for every way in which a stream can fail."""
        ...

    def reply(self) -> Reply:
        """Return what has come so far; whole only after `message_stop`."""
        ...


class ModelClient(Protocol):
    """Whatever answers a request with a stream."""

    def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = ...
    ) -> AbstractAsyncContextManager[ReplyStream]:
        """Open a stream; leaving the block closes it upstream. Raises `UpstreamError`."""
        ...


class Recorder(Protocol):
    """Keeps what happens in a part. Any method may raise `StaleRunnerError`."""

    async def record_round(self, finished: FinishedRound, usage: RoundUsage | None, /) -> None:
        """Commit a round's blocks and calls, before any of its calls runs.

        `usage` is what its answer cost; None where that was recorded before.
        """
        ...

    async def record_result(self, call: ToolCall, result: ToolResult, /) -> None:
        """Commit the result of one call."""
        ...

    async def record_usage(self, usage: RoundUsage, /) -> None:
        """Store what one upstream answer cost of which no round comes."""
        ...
