"""What can follow a round: another round, the same one again, or the end of the part."""

import logging
from dataclasses import dataclass
from typing import Literal

from coaching.engine.errors import UpstreamError
from coaching.engine.events import CallPending
from coaching.engine.messages import ModelRequest
from coaching.engine.ports import PartWords

Outcome = Literal["completed", "awaiting_user", "stopped", "failed"]
Remedy = Literal["more_tokens", "smaller_window", "format_in_words", "no_tools"]
"""What is changed when a round is requested again. Each but the window is tried once in a part."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRound:
    request: ModelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class SameRound:
    """The running round again, under the same number; what it has shown is discarded."""

    request: ModelRequest
    remedy: Remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """How a part ended.

    `stop_reason` is the model's, or ours: `stopped`, `error`. `pending` are the calls that wait for
    the user, in order. `user_message` is a sentence to show as an error.
    """

    outcome: Outcome
    stop_reason: str
    pending: tuple[CallPending, ...] = ()
    failure: UpstreamError | None = None
    user_message: str | None = None


Transition = NextRound | SameRound | PartResult

STOPPED = PartResult(outcome="stopped", stop_reason="stopped")


def failed(failure: UpstreamError, words: PartWords) -> PartResult:
    """Build the result of a part that failed, and log why."""
    _log.warning("part failed: %s", str(failure))
    return PartResult(
        outcome="failed", stop_reason="error", failure=failure, user_message=words.failure(failure)
    )
