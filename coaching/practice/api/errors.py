"""Errors in the API's format.

Independent of HTTP except for a status number, so that faults and validation share it.
"""

from typing import Any

ERROR_TYPES: dict[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}

DEFAULT_MESSAGES: dict[int, str] = {
    400: "The request was refused.",
    401: "invalid x-api-key",
    403: "Your API key does not have permission to use the specified resource.",
    404: "Not Found",
    408: "Request timed out",
    409: "Conflict",
    413: "Request exceeds the maximum size",
    422: "The request could not be processed.",
    429: "This request would exceed your organization's rate limit. Please try again later.",
    500: "Internal server error",
    503: "Service unavailable",
    504: "Gateway timeout",
    529: "Overloaded",
}


class ApiError(Exception):
    """A refusal with a status; `str()` is the client's message."""

    def __init__(self, status: int, message: str = "") -> None:
        super().__init__(message or DEFAULT_MESSAGES.get(status, "Something went wrong."))
        self.status = status


def invalid(message: str) -> ApiError:
    """Build the 400 for an invalid request."""
    return ApiError(400, message)


def error_body(status: int, message: str, request_id: str) -> dict[str, Any]:
    """Build the JSON body of an error answer."""
    kind = ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": request_id,
    }
