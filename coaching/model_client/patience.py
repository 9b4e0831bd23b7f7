"""How long a model may take, and how long its replies may be.

A model on a local server may read a prompt for minutes, and such a server answers one request at a time.

Nothing here waits: a server that hasn't described itself yet counts as not local.
"""

from datetime import timedelta

from django.conf import settings

from coaching.engine.errors import FailureReason, UpstreamError
from coaching.engine.ports import DEFAULT_TIMEOUTS, StreamTimeouts
from coaching.model_client.servers import is_local_server

TURN_SECONDS, LOCAL_TURN_SECONDS = 55, 300
LOOK_SECONDS, LOCAL_LOOK_SECONDS = 3.0, 60.0
LOCAL_JOB_FACTOR = 10
REPLY_TOKENS, LOCAL_REPLY_TOKENS = 8_192, 1_024
"""A small model may write on without end, and everybody else waits."""
LOCAL_JOB_TOKENS = 0.25
"""The share of a limit that leaves room for long thinking: what is asked for takes less."""

_FINAL_REASONS: frozenset[FailureReason] = frozenset(
    {"rejected", "too_long", "unauthorized", "unknown_model"}
)


def turn_seconds() -> float:
    """Return how long a part of a turn may take."""
    unset = LOCAL_TURN_SECONDS if is_local_server() else TURN_SECONDS
    return unset if settings.SAGE_TURN_SECONDS is None else settings.SAGE_TURN_SECONDS


def job_seconds(seconds: float) -> float:
    """Return how long background work may take, given the `seconds` that it has with a quick server."""
    return seconds * LOCAL_JOB_FACTOR if is_local_server() else seconds


def job_time(time: timedelta) -> timedelta:
    """Return `job_seconds` of a period."""
    return timedelta(seconds=job_seconds(time.total_seconds()))


def turn_tokens() -> int:
    """Return how long a reply of a turn may be, in tokens."""
    unset = LOCAL_REPLY_TOKENS if is_local_server() else REPLY_TOKENS
    return unset if settings.SAGE_MAX_TOKENS is None else settings.SAGE_MAX_TOKENS


def job_tokens(tokens: int) -> int:
    """Return how long a reply outside of turns may be, given the `tokens` that it has with a quick server."""
    return int(tokens * LOCAL_JOB_TOKENS) if is_local_server() else tokens


def page_tokens(tokens: int) -> int:
    """Return `job_tokens` of a reply that is no more than a page: a model that rambles is cut off sooner."""
    return min(job_tokens(tokens), LOCAL_REPLY_TOKENS) if is_local_server() else tokens


def look_seconds() -> float:
    """Return how long a second look may take."""
    return LOCAL_LOOK_SECONDS if is_local_server() else LOOK_SECONDS


def look_delay() -> timedelta:
    """Return how much later than with a quick server a look may end: it waits for the answer."""
    return timedelta(seconds=turn_seconds() + LOCAL_LOOK_SECONDS if is_local_server() else 0)


def is_worth_repeating(error: UpstreamError) -> bool:
    """Return whether another attempt of a job may help, and doesn't just keep others waiting again."""
    return error.reason not in _FINAL_REASONS and not (error.cause == "slow" and is_local_server())


def timeouts_within(seconds: float) -> StreamTimeouts:
    """Return the timeouts of requests that have `seconds` together.

    A local server may be silent for all of them, and what merely was slow isn't asked again: the request
    would wait behind the one that was given up.
    """
    if not is_local_server():
        return DEFAULT_TIMEOUTS
    return StreamTimeouts(read_idle_seconds=max(seconds, 1.0), repeats_slow=False)
