"""One request to `/mcp` through the SDK's own HTTP transport: stateless, answered by JSON.

The transport is an ASGI application. It gets the request that Django has read, and its answer becomes
Django's, so that all of Sage's limits on requests hold here too.
"""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from coaching.api.mcp.access import Access
from coaching.api.mcp.server import build_server

Message = dict[str, Any]

_PASSED = ("accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name")
"""The headers that the transport reads; nothing else of the request is its business."""


async def answer(request: HttpRequest, access: Access) -> HttpResponse:
    """Answer a request of a program. Raises `NotKnown` if its access has ended meanwhile."""
    answered = _Answer(request)
    manager = StreamableHTTPSessionManager(build_server(access), json_response=True, stateless=True)

    async def handle() -> None:
        async with manager.run():
            await manager.handle_request(answered.scope(), answered.receive, answered.send)

    await access.while_it_holds(handle())
    return answered.response


class _Answer:
    """A request as ASGI has it, and the response to it."""

    def __init__(self, request: HttpRequest) -> None:
        self.response = HttpResponse(b"")
        self._request = request
        self._is_read = False

    def scope(self) -> Message:
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in self._request.headers.items()
            if name.lower() in _PASSED or name.lower().startswith("mcp-param-")
        ]
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": self._request.scheme,
            "path": self._request.path,
            "raw_path": self._request.path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": headers,
        }

    async def receive(self) -> Message:
        if self._is_read:
            await asyncio.Event().wait()  # the client stays connected; the transport is cancelled otherwise
        self._is_read = True
        return {"type": "http.request", "body": self._request.body, "more_body": False}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.response.status_code = message["status"]
            for name, value in message["headers"]:
                if name.lower() != b"content-length":
                    self.response[name.decode("latin-1")] = value.decode("latin-1")
        elif message["type"] == "http.response.body":
            self.response.write(message.get("body", b""))
