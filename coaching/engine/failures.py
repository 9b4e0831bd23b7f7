"""Maps what the upstream says of a failure to our reasons, and parses `retry-after`. No I/O.

Servers have statuses and error types in common, but each its own words for a request that is too long.
"""

import email.utils
import time
from collections.abc import Iterable, Mapping
from typing import Any

from coaching.engine.errors import FailureCause, FailureReason, UpstreamError
from coaching.engine.server_words import error_text

MAX_RETRY_AFTER_SECONDS = 24 * 3600.0
MAX_READ = 4_000
"""Characters of an error's text that are read."""

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
_MAY_BE_TOO_LONG = frozenset({400, 413, 422, 500})
"""A 429 speaks of tokens a minute."""
_TOO_LONG = (
    "exceed_context_size",  # llama.cpp's type
    "context_length_exceeded",  # OpenAI's code, which LM Studio and others share
    "contextwindowexceeded",  # LiteLLM's class
    "maximum context length is",  # vLLM and OpenAI
    "maximum model length",  # vLLM
    "max_model_len",
    "prompt is too long",  # Anthropic
    "prompt too long",  # Ollama
    "input is too long",  # Bedrock
)
_CONTEXT = ("context length", "context size", "context window", "context limit", "input token count")
_EXCESS = ("exceed", "longer than", "larger than", "too long", "too large", "not enough", "overflow")
"""Words of each together say it, too: a setting of the context may be at fault for something else."""


def failure_in_stream(event: dict[str, Any], headers: Mapping[str, str], *, words: str = "") -> UpstreamError:
    """Build the failure of an `error` event in a stream."""
    error = event.get("error")
    kind = str(error.get("type", "")) if isinstance(error, dict) else ""
    status = _STATUS_BY_ERROR_TYPE.get(kind, 500)
    return failure_of(status, f"in stream, {kind or 'untyped'}", headers, body=event, words=words)


def failure_of(
    status: int, detail: str, headers: Mapping[str, str], *, body: Any = None, words: str = ""
) -> UpstreamError:
    """Build the failure of a response with that status; `words` are the server's, for the log."""
    is_too_long = status in _MAY_BE_TOO_LONG and _says_too_long(body)
    reason = _REASON_BY_STATUS.get(status, "unavailable" if status >= 500 else "rejected")
    return UpstreamError(
        "too_long" if is_too_long else reason,
        detail=" ".join(filter(None, [f"status {status}", detail, headers.get("request-id"), words])),
        is_retryable=not is_too_long and (status >= 500 or status in _RETRYABLE_BELOW_500),
        retry_after_seconds=_retry_after(headers),
        cause="request" if is_too_long else _cause_of(status),
    )


def _says_too_long(body: Any) -> bool:
    """Whether an error's body says that the request doesn't fit the model's context."""
    text = " ".join(each[:MAX_READ] for each in _said(body) if isinstance(each, str)).lower()
    if any(words in text for words in _TOO_LONG):
        return True
    return any(words in text for words in _CONTEXT) and any(words in text for words in _EXCESS)


def _said(body: Any) -> Iterable[object]:
    """Return what an error's body says in its fields."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return [error]
    return [error.get("type"), error.get("code"), error_text(body)]


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
