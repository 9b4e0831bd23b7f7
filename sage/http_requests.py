"""Requests as Daphne gets them: bodies in pieces, and none of a program that sends too much."""
# ruff: noqa: N802 - Twisted's names

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import IO, Any
from urllib.parse import unquote

from daphne.http_protocol import WebRequest

from sage.held_refusals import Held
from sage.outlet import write_now

PIECE_BYTES = 1 << 16

_HEAD_OF_REFUSAL = (
    b"HTTP/1.1 429 Too Many Requests\r\n"
    b"Content-Type: application/json\r\n"
    b"Content-Length: %d\r\n"
    b"Retry-After: %d\r\n"
    b"Cache-Control: private, no-store\r\n"
)

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who sends a program's request: `Authorization`, `Accept-Language`, `X-Forwarded-For`, and the peer."""

    authorization: str
    accepted: str
    forwarded: str
    peer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The answer to a request of a program that has sent too many: in how many seconds there is room again.

    It is sent after `delay` seconds. Where too many wait already, of the program or address that `by`
    stands for or of all, it is sent at once and ends the connection.
    """

    seconds: int
    body: bytes
    delay: float = 0.0
    by: bytes = b""


class BoundedRequest(WebRequest):  # type: ignore[misc]  # Daphne has no types
    """A request whose body is passed on in pieces; its logged `repr` leaves out the path."""

    content: Any
    has_head = False
    """Whether its headers have arrived, and weren't refused."""

    def __init__(self, channel: Any, *_: object) -> None:
        # Django parses forms; Daphne would do it in memory, on the event loop.
        super().__init__(channel, parsePOSTFormSubmission=False)
        self._limits = channel.limits
        self._body: IO[bytes] | None = None
        self._size = 0
        self._is_announced = False
        self._sender: Sender | None = None
        """Of a program's request."""
        self._held: Held | None = None
        """Its refusal, which waits."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def gotLength(self, length: int | None) -> None:
        self.has_head = True
        super().gotLength(length)

    def process(self) -> Any:
        """Refuse a program over its rate. Set the body aside: Daphne would queue all of it at once."""
        if unquote(self.path.decode("latin-1")).startswith(self._limits.programs):
            self._sender = self._read_sender()
            if refusal := self._limits.refused(self._sender):
                self.content.close()  # nothing reads the body
                self.channel.give_back_room()
                self._hold_or_refuse(refusal)
                return None
        self._size = self.content.seek(0, os.SEEK_END)
        self.content.seek(0)
        if self._size:
            self._body, self.content = self.content, BytesIO()
        return super().process()

    def handle_reply(self, message: Message) -> None:
        """Send a part of the answer. A program's token that doesn't hold is counted."""
        if self._sender and message.get("status") == HTTPStatus.UNAUTHORIZED:
            self._limits.unknown(self._sender)
        super().handle_reply(message)

    def _hold_or_refuse(self, refusal: Refusal) -> None:
        if refusal.delay:
            send, held = partial(self._refuse, refusal), self.channel.held
            self._held = held.hold(refusal.by, send, seconds=refusal.delay)
            if self._held:
                return
            self.channel.persistent = 0
        self._refuse(refusal)

    def _refuse(self, refusal: Refusal) -> None:
        """Send it as it is: answers of the application take several times as long to write."""
        self._held = None
        self.startedWriting = 1
        body = b"" if self.method == b"HEAD" else refusal.body
        head = _HEAD_OF_REFUSAL % (len(refusal.body), refusal.seconds)
        end = b"\r\n" if self.channel.persistent else b"Connection: close\r\n\r\n"
        write_now(self.channel.transport, head + end + body)
        self.finish()
        self._leave_server()

    def _read_sender(self) -> Sender:
        names = (b"Authorization", b"Accept-Language", b"X-Forwarded-For")
        lines = (self.requestHeaders.getRawHeaders(name, []) for name in names)
        authorization, accepted, forwarded = (b",".join(each).decode("latin-1") for each in lines)
        peer = str(getattr(self.client, "host", ""))
        return Sender(authorization=authorization, accepted=accepted, forwarded=forwarded, peer=peer)

    async def receive(self, receive: Receive) -> Message:
        """Return the application's next message: a piece of the body, while there is one."""
        body = self._body
        if body is None:
            return await receive()
        if not self._is_announced:
            self._is_announced = True
            await receive()  # Daphne's message for the body, which it saw as empty
        await asyncio.sleep(0)
        if body.closed:
            return await receive()
        piece = body.read(PIECE_BYTES)
        has_more = body.tell() < self._size
        if not has_more:
            self._drop_body()
        return {"type": "http.request", "body": piece, "more_body": has_more}

    def finish(self) -> None:
        self._drop_body()
        super().finish()

    def connectionLost(self, reason: Any) -> None:
        """Discard the unread rest of the body, and a refusal that waits."""
        self._drop_body()
        super().connectionLost(reason)
        if self._held:
            self.channel.held.give_up(self._held)
            self._leave_server()

    def _leave_server(self) -> None:
        """Free a refused request now, since no application of it runs.

        Daphne goes through all that are over once a second. Those of a flood would be hundreds, freed
        together, and old enough by then for collections of garbage to go through them, too.
        """
        self.server.connections.pop(self, None)

    def _drop_body(self) -> None:
        if self._body is not None:
            self._body.close()
            self._body = None
