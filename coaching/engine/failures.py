"""Maps HTTP statuses and error types of the upstream to our reasons, and parses `retry-after`. No I/O."""

import email.utils
import time
from collections.abc import Mapping
from typing import Any

from coaching.engine.errors import FailureCause, FailureReason, UpstreamError

MAX_RETRY_AFTER_SECONDS = 24 * 3600.0

_REASON_BY_STATUS: Mapping[int, FailureReason] = {
    401: "unauthorized",
    402: "unauthorized",
    403: "unauthorized",
    404: "unknown_model",
    408: "unavailable",
    409: "unavailable",
    429: "rate_limited",
    529: "overloaded",
}
_STATUS_BY_ERROR_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "timeout_error": 408,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}
_RETRYABLE_BELOW_500 = frozenset({408, 409, 429})


def failure_in_stream(event: dict[str, Any], headers: Mapping[str, str], *, words: str = "") -> UpstreamError:
    """Build the failure of an `error` event in a stream."""
    error = event.get("error")
    kind = str(error.get("type", "")) if isinstance(error, dict) else ""
    status = _STATUS_BY_ERROR_TYPE.get(kind, 500)
    return failure_of(status, f"in stream, {kind or 'untyped'}", headers, words=words)


def failure_of(status: int, detail: str, headers: Mapping[str, str], *, words: str = "") -> UpstreamError:
    """Build the failure of a response with that status; `words` are the server's, for the log."""
    return UpstreamError(
        _REASON_BY_STATUS.get(status, "unavailable" if status >= 500 else "rejected"),
        detail=" ".join(filter(None, [f"status {status}", detail, headers.get("request-id"), words])),
        is_retryable=status >= 500 or status in _RETRYABLE_BELOW_500,
        retry_after_seconds=_retry_after(headers),
        cause=_cause_of(status),
    )


def _cause_of(status: int) -> FailureCause:
    """Return what a status says about others' requests: some servers answer 500 to what they can't read."""
    if status in (408, 504):
        return "slow"
    return "request" if status in (400, 409, 413, 422, 500) else "server"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Parse the wait that the server requests, in seconds, given as a number or a date; None if invalid."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return _wait(float(headers.get(name, "")) * scale)
        except ValueError:
            continue
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return _wait(date.timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _wait(seconds: float) -> float | None:
    """Clamp a wait to 0; None if it is longer than a day or not a number."""
    return max(0.0, seconds) if seconds <= MAX_RETRY_AFTER_SECONDS else None
