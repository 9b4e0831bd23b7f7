"""aiohttp responses: stream headers, JSON, errors, and faults before a stream.

HTTP only, no conversations.
"""

from typing import Any

import orjson
from aiohttp import web

from coaching.practice.api.delivery import break_connection, stay_silent
from coaching.practice.api.errors import ApiError, error_body
from coaching.practice.api.records import ReceivedRequest
from coaching.practice.api.validation import MAX_REQUEST_BYTES
from coaching.practice.faults.fault import Fault


async def answer_early(
    request: web.Request, fault: Fault, record: ReceivedRequest, request_id: str
) -> web.StreamResponse | None:
    """Return the response of a fault that prevents a reply, or None after its delay."""
    if fault.kind == "status":
        response = error_response(record, fault.status, fault.message, request_id)
        if fault.retry_after is not None:
            response.headers["retry-after"] = fault.retry_after
        return response
    if fault.kind == "slow_start" and fault.place != "after_headers":
        await stay_silent(fault.seconds)
        return None
    if fault.kind == "empty_body":
        record.status = 200
        response = bytes_response(b"", request_id)
        response.content_type = "text/event-stream"
        return response
    if fault.place == "before_first_byte" and fault.kind in {"cut", "reset", "end_early"}:
        break_connection(request, is_reset=fault.kind == "reset")
        return web.Response()
    if fault.place == "before_first_byte" and fault.kind == "stall":
        await stay_silent(fault.seconds)
    return None


async def read_body(request: web.Request) -> bytes:
    """Return a request's body; raises a 413 `ApiError` over the limit."""
    if (request.content_length or 0) > MAX_REQUEST_BYTES:
        raise ApiError(413)
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise ApiError(413) from error


def stream_response(request_id: str) -> web.StreamResponse:
    """Build the headers of an event stream."""
    response = web.StreamResponse(
        headers={
            "Content-Type": "text/event-stream; charset=utf-8",
            "Cache-Control": "no-cache",
            "request-id": request_id,
        }
    )
    response.enable_chunked_encoding()
    return response


def error_response(record: ReceivedRequest, status: int, message: str, request_id: str) -> web.Response:
    record.status = status
    text = message or str(ApiError(status))
    response = json_response(error_body(status, text, request_id), request_id)
    response.set_status(status)
    return response


def json_response(value: Any, request_id: str) -> web.Response:
    return bytes_response(orjson.dumps(value), request_id)


def bytes_response(body: bytes, request_id: str) -> web.Response:
    """Build a response of bytes in place of JSON."""
    return web.Response(body=body, content_type="application/json", headers={"request-id": request_id})
