"""The errors that may leave the engine."""

from typing import Literal

FailureReason = Literal[
    "rate_limited",  # 429 after the last attempt
    "overloaded",  # 529 or an overloaded_error inside a stream
    "unavailable",  # 5xx, connection refused or lost, timeouts
    "rejected",  # 400, 413, 422: the request itself is at fault
    "too_long",  # the server says that the request doesn't fit the model's context
    "unauthorized",  # 401, 403: key or permission
    "unknown_model",  # 404
    "broken_stream",  # cut, stalled or malformed after the last attempt
    "out_of_time",  # the part's wall clock ran out
    "tools_failing",  # two rounds in a row in which every call failed
    "circuit_open",  # the breaker refused to ask upstream
    "internal",  # anything unexpected of ours
]

FailureCause = Literal["server", "slow", "request"]
"""Whether a failure says that the server is down, that it was slow, or nothing but about its request."""


class ToolInputError(ValueError):
    """The input of a call doesn't fit its schema. The message is for the model."""


class ToolError(Exception):
    """A tool refused. The message tells the model what happened and what would work."""


class UpstreamError(Exception):
    """The model couldn't be reached or broke off. `str()` is for the log and holds no message text.

    `is_retryable`: the same request may succeed when it is sent again, not before
    `retry_after_seconds` when the server named a wait. `cause` is for the breaker.
    """

    def __init__(
        self,
        reason: FailureReason,
        detail: str = "",
        *,
        is_retryable: bool = False,
        retry_after_seconds: float | None = None,
        cause: FailureCause = "server",
    ) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason: FailureReason = reason
        self.is_retryable = is_retryable
        self.retry_after_seconds = retry_after_seconds
        self.cause: FailureCause = cause


class StaleRunnerError(Exception):
    """Another runner has taken over the turn: this one stops at once and writes nothing more."""
