"""Limits on headers and body, in size and time, before Sage sees a request.

Twisted collects a whole request before the application runs, and Daphne then queues all of it. Here a body
over its route's limit is refused by its Content-Length or by count; collected bodies are on disk and reach
the application in pieces. Routes are known by path only. People are known by what the process remembers of
their browsers: it asks no database.
"""
# ruff: noqa: N802, N815 - Twisted's names

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.utils.translation.trans_null import gettext_noop  # works without settings
from twisted.web.http import HTTPChannel

from sage.held_refusals import MAX_OF_ONE, HeldRefusals
from sage.http_requests import BoundedRequest, Refusal, Sender

BODY_BYTES = 1 << 20
REQUEST_SECONDS = 30.0
IDLE_SECONDS = 60.0
UPLOAD_BYTES_PER_SECOND = 10_000
LINGER_SECONDS = 2.0
LINGER_BYTES = 1 << 20
"""How long, and how much, a refused client may keep sending: closed at once, it might not read why."""
SPOOLED_BYTES = 1 << 30
"""The disk space for the bodies of all uploads together, kept until their requests are answered."""
UPLOADER_BYTES = SPOOLED_BYTES // 2
"""The part of it for one person, and for all who aren't known to be signed in together."""
FORM_BYTES = 256 << 20
"""The extra space for other bodies, so that uploads don't block forms."""
RETRY_SECONDS = 10
STRANGERS, FORMS = "strangers", "forms"
"""Who sends an upload from a browser that isn't known, and who any other body."""
MAX_HEADERS = 100

_RETRIED = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)

_WHY = {
    HTTPStatus.BAD_REQUEST: gettext_noop("This request can’t have a body."),
    HTTPStatus.REQUEST_TIMEOUT: gettext_noop("The request took too long to arrive."),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: gettext_noop("That’s larger than Sage accepts here."),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: gettext_noop("The request’s headers are too large."),
    HTTPStatus.TOO_MANY_REQUESTS: gettext_noop(
        "Your other uploads are still arriving. Please wait until they’re done."
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: gettext_noop(
        "Too many uploads are arriving right now. Please try again in a moment."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Limits for a request. `uploads`: larger bodies by path, at `UPLOAD_BYTES_PER_SECOND` or faster.

    `programs` are the beginnings of paths whose errors are JSON whatever is accepted. `refused` counts
    a request there, and returns its refusal if it is one too many. `unknown` is told of each that was
    answered with 401.

    `uploader_of` returns who sends a `Cookie` header, None for strangers, who share one part of the space.
    `translated` returns an error in the language of a header `Accept-Language`.
    """

    uploads: Mapping[str, int] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    refused: Callable[[Sender], Refusal | None] = lambda _: None
    unknown: Callable[[Sender], None] = lambda _: None
    uploader_of: Callable[[str], str | None] = lambda _: None
    translated: Callable[[str, str], str] = lambda sentence, _accepted: sentence
    body_bytes: int = BODY_BYTES
    spooled_bytes: int = SPOOLED_BYTES
    uploader_bytes: int = UPLOADER_BYTES
    held_of_one: int = MAX_OF_ONE
    request_seconds: float = REQUEST_SECONDS
    idle_seconds: float = IDLE_SECONDS

    def upload_bytes(self, request_line: bytes) -> int | None:
        """Return the limit of the upload route in a request line, if it is one."""
        return self.uploads.get(_path_in(request_line))

    def is_for_programs(self, request_line: bytes) -> bool:
        return _path_in(request_line).startswith(self.programs)


def _path_in(request_line: bytes) -> str:
    _, _, rest = request_line.partition(b" ")
    target, _, _ = rest.partition(b" ")
    path, _, _ = target.partition(b"?")
    return path.decode("latin-1")


@dataclass(slots=True)
class Spool:
    """The size in bytes of the bodies that all connections keep now, also by who sends them."""

    size: int = 0
    by_uploader: Counter[str] = field(default_factory=Counter)


_Channel: Any = HTTPChannel
"""Only partly typed."""


class BoundedChannel(_Channel):  # type: ignore[misc]  # only partly typed
    """A connection whose requests stay within the limits; otherwise it gets an error and is closed."""

    maxHeaders = MAX_HEADERS

    def __init__(self, limits: HttpLimits, spool: Spool, held: HeldRefusals) -> None:
        super().__init__()
        self.limits = limits
        self.held = held
        self._spool = spool
        self._spooled = 0
        self._request_line = b""
        self._upload_bytes: int | None = None
        self._uploader = FORMS
        self._body_bytes = 0
        self._is_answering = False
        self._has_sent = False
        self._is_refused = False
        self._dropped = 0
        self._began = 0.0
        self._clock: Any = None

    # --- Twisted's parser callbacks ---------------------------------------------------------------

    def connectionMade(self) -> None:
        self.requestFactory = BoundedRequest
        self.timeOut = self.limits.idle_seconds
        super().connectionMade()
        self._start_clock()

    def dataReceived(self, data: bytes) -> None:
        """Handle data; drop it from a refused client, and soon stop reading."""
        if self._is_refused:
            self._dropped += len(data)
            if self._dropped > LINGER_BYTES:
                self.transport.pauseProducing()
            return
        if self._clock is None and not self._is_answering:
            self._start_clock()
        self._has_sent = True
        super().dataReceived(data)

    def lineReceived(self, line: bytes) -> None:
        if line and not self._request_line:
            self._request_line = line
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:
        self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def allHeadersReceived(self) -> None:
        """Refuse a body by its headers, before any of it arrives."""
        self._upload_bytes = self.limits.upload_bytes(self._request_line)
        headers = self.requests[-1].requestHeaders
        self._uploader = FORMS
        if self._upload_bytes is not None:
            self._uploader = self.limits.uploader_of(self._header(b"Cookie", b"; ")) or STRANGERS
        upgrade = headers.getRawHeaders(b"Upgrade", [b""])[0]
        if upgrade.lower() == b"websocket" and self.length != 0:
            self._refuse(HTTPStatus.BAD_REQUEST)
        elif self.length is not None and self.length > self._max_body_bytes:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        elif self.length != 0 and (refusal := self._no_room(self.length or 0)):
            self._refuse(refusal)
        else:
            super().allHeadersReceived()

    def rawDataReceived(self, data: bytes) -> None:
        """Count a body as it arrives; with chunked encoding the framing counts, too."""
        if self._is_refused:
            return
        if not self._is_answering:
            self._body_bytes += len(data)
            if self.length is None and self._body_bytes > self._max_body_bytes:
                self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
                return
            if refusal := self._no_room(len(data)):
                self._refuse(refusal)
                return
            self._spooled += len(data)
            self._spool.size += len(data)
            self._spool.by_uploader[self._uploader] += len(data)
        super().rawDataReceived(data)

    def allContentReceived(self) -> None:
        """Stop the clock: the request is complete."""
        self._stop_clock()
        self._is_answering = True
        self._request_line = b""
        super().allContentReceived()

    def requestDone(self, request: Any) -> None:
        self.give_back_room()
        self._is_answering = False
        super().requestDone(request)

    def connectionLost(self, reason: Any) -> None:
        self._stop_clock()
        self.give_back_room()
        super().connectionLost(reason)

    @property
    def _max_body_bytes(self) -> int:
        return self.limits.body_bytes if self._upload_bytes is None else self._upload_bytes

    def _no_room(self, size: int) -> HTTPStatus | None:
        """Return why there is no room for so many bytes more; None if there is."""
        most = self.limits.spooled_bytes
        if self._upload_bytes is None:
            most += FORM_BYTES
        elif self._spool.by_uploader[self._uploader] + size > max(
            self.limits.uploader_bytes, self._upload_bytes
        ):
            is_stranger = self._uploader == STRANGERS
            return HTTPStatus.SERVICE_UNAVAILABLE if is_stranger else HTTPStatus.TOO_MANY_REQUESTS
        return HTTPStatus.SERVICE_UNAVAILABLE if self._spool.size + size > most else None

    def give_back_room(self) -> None:
        """Count the bodies that this connection kept as gone."""
        self._spool.size -= self._spooled
        self._spool.by_uploader[self._uploader] -= self._spooled
        if not self._spool.by_uploader[self._uploader]:
            del self._spool.by_uploader[self._uploader]
        self._spooled = 0

    # --- Timing and closing -----------------------------------------------------------------------

    def _start_clock(self) -> None:
        self._began = time.monotonic()
        self._has_sent = False
        self._body_bytes = 0
        self._upload_bytes = None
        self._clock = self.callLater(self.limits.request_seconds, self._check_clock)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _check_clock(self) -> None:
        """Refuse a late request; an upload gets more time for the data that has arrived."""
        self._clock = None
        allowed = self.limits.request_seconds
        if self._upload_bytes is not None:
            allowed += self._body_bytes / UPLOAD_BYTES_PER_SECOND
        left = self._began + allowed - time.monotonic()
        if left > 0:
            self._clock = self.callLater(left, self._check_clock)
        elif not self._has_sent:
            self._abort()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _refuse(self, status: HTTPStatus) -> None:
        """Send the error, discard input for a moment, and close."""
        self._is_refused = True
        self._stop_clock()
        if self.requests and self.requests[-1].content:
            self.requests[-1].content.close()
        self.give_back_room()
        self.setTimeout(None)
        sentence = self.limits.translated(_WHY[status], self._header(b"Accept-Language"))
        why, kind = sentence.encode(), b"text/plain; charset=utf-8"
        if self._wants_json():
            why, kind = json.dumps({"error": sentence}).encode(), b"application/json"
        retry = b"Retry-After: %d\r\n" % RETRY_SECONDS if status in _RETRIED else b""
        self.transport.write(
            b"HTTP/1.1 %d %b\r\nConnection: close\r\nContent-Type: %b\r\n%b"
            b"Content-Length: %d\r\n\r\n%b" % (status, status.phrase.encode(), kind, retry, len(why), why)
        )
        self.transport.loseWriteConnection()
        self._clock = self.callLater(LINGER_SECONDS, self._abort)

    def _wants_json(self) -> bool:
        """Return whether a program asks: browsers name HTML, too, or no type."""
        if self.limits.is_for_programs(self._request_line):
            return True
        kinds = self._header(b"Accept").lower()
        return "application/json" in kinds and "text/html" not in kinds

    def _header(self, name: bytes, between: bytes = b",") -> str:
        """Return a header of the request; empty if there is none, or the headers haven't arrived."""
        lines = self.requests[-1].requestHeaders.getRawHeaders(name, []) if self.requests else []
        return between.join(lines).decode("latin-1")

    def _abort(self) -> None:
        self._clock = None
        self.transport.abortConnection()
