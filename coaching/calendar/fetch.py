"""Fetches feeds from public addresses only.

`connection_rule` checks the address of each connection; redirects are followed by hand. Time and size are
limited in total, and unpacked bytes are counted as they come. A feed's address is a secret: nothing here logs
it.
"""

import asyncio
import zlib
from http import HTTPStatus

import aiohttp
from django.utils.translation import gettext_noop
from yarl import URL

from coaching.calendar.addresses import checked_redirect
from coaching.calendar.connection_rule import (
    ConnectionRule,
    OddPortError,
    OwnAddressError,
    PrivateAddressError,
    forbidden,
    resolve_name,
)
from coaching.calendar.fetchers import Fetched
from coaching.calendar.own_addresses import Resolve
from coaching.calendar.public_session import open_session
from coaching.calendar.reading import MAX_BYTES, TOO_LARGE
from sessions_app.errors import Refused

FETCH_SECONDS = 20.0
MAX_REDIRECTS = 3
CHUNK_BYTES = 1 << 16
MAX_VALIDATOR_CHARACTERS = 500

REDIRECTS = (301, 302, 303, 307, 308)
HEADERS = {
    "Accept": "text/calendar, */*;q=0.5",
    "Accept-Encoding": "gzip",
    "User-Agent": "Sage (calendar reader)",
}

PRIVATE = gettext_noop("The address is in a private network, which Sage doesn’t access.")
OWN = gettext_noop("The address leads back to this server, which Sage doesn’t fetch calendars from.")
ODD_PORT = gettext_noop("Sage doesn’t fetch calendars from that port.")
NOT_FOUND = gettext_noop("There’s nothing at this address any more. Check whether the link has changed.")
NEEDS_PASSWORD = gettext_noop(
    "The address requires a password. Use the calendar’s private or secret link instead."
)
UNKNOWN_NAME = gettext_noop("No server was found at this address. Check it for typos.")
UNREACHABLE = gettext_noop("The server couldn’t be reached.")
TOO_SLOW = gettext_noop("The server took too long to answer.")
UNTRUSTED = gettext_noop("The server’s certificate isn’t valid.")
INCOMPLETE = gettext_noop("The server’s response was incomplete.")
UNREADABLE_RESPONSE = gettext_noop("Sage couldn’t read the server’s response.")
TOO_MANY_REDIRECTS = gettext_noop("The address redirects too many times.")
SERVER_TROUBLE = gettext_noop("The server has a problem right now.")
NO_CALENDAR = gettext_noop("The server sent an error instead of a calendar.")


class FeedFetcher:
    """Fetches feeds. `allowed` (address, port) count as public, for tests only: no setting adds one."""

    def __init__(
        self,
        *,
        allowed: frozenset[tuple[str, int]] = frozenset(),
        resolve: Resolve = resolve_name,
        seconds: float = FETCH_SECONDS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._rule = ConnectionRule(allowed=allowed, resolve=resolve)
        self._seconds = seconds
        self._max_bytes = max_bytes

    async def fetch(self, url: URL, *, etag: str = "", last_modified: str = "") -> Fetched:
        """Fetch a feed within the limits on time and size. Raises `Refused` with a message."""
        headers = dict(HEADERS)
        if etag:
            headers["If-None-Match"] = etag
        if last_modified:
            headers["If-Modified-Since"] = last_modified
        try:
            async with asyncio.timeout(self._seconds), open_session(self._rule, headers) as session:
                return await self._follow(session, url)
        except TimeoutError:
            raise Refused(TOO_SLOW) from None
        except (aiohttp.ClientError, OSError, zlib.error, ValueError) as error:
            raise Refused(_message_for(error)) from None

    async def _follow(self, session: aiohttp.ClientSession, url: URL) -> Fetched:
        for _ in range(MAX_REDIRECTS + 1):
            async with session.get(url, allow_redirects=False) as response:
                if response.status not in REDIRECTS:
                    return await self._taken(response)
                url = checked_redirect(url, response.headers.get("Location", ""))
        raise Refused(TOO_MANY_REDIRECTS)

    async def _taken(self, response: aiohttp.ClientResponse) -> Fetched:
        validators = {
            "etag": _short(response.headers.get("ETag", "")),
            "last_modified": _short(response.headers.get("Last-Modified", ""))[:100],
        }
        if response.status == HTTPStatus.NOT_MODIFIED:
            return Fetched(body=None, **validators)
        if response.status != HTTPStatus.OK:
            raise Refused(_message_for_status(response.status))
        if (response.content_length or 0) > self._max_bytes:
            raise Refused(TOO_LARGE)
        return Fetched(body=await self._body(response), **validators)

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise Refused(UNREADABLE_RESPONSE)
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if "gzip" in encoding else None
        body = bytearray()
        async for chunk in response.content.iter_chunked(CHUNK_BYTES):
            # Unpack at most one byte over the limit.
            body += unpacker.decompress(chunk, self._max_bytes + 1 - len(body)) if unpacker else chunk
            if len(body) > self._max_bytes:
                raise Refused(TOO_LARGE)
        if unpacker and not unpacker.eof:
            raise Refused(INCOMPLETE)
        return bytes(body)


def _short(header: str) -> str:
    return header if len(header) <= MAX_VALIDATOR_CHARACTERS and header.isprintable() else ""


def _message_for(error: BaseException) -> str:
    match forbidden(error) or error:
        case PrivateAddressError():
            return PRIVATE
        case OwnAddressError():
            return OWN
        case OddPortError():
            return ODD_PORT
        case aiohttp.ClientConnectorDNSError() | UnicodeError():
            return UNKNOWN_NAME
        case aiohttp.InvalidURL():
            # Numbers that only some programs accept as an address.
            return PRIVATE
        case aiohttp.ClientSSLError():
            return UNTRUSTED
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError():
            return INCOMPLETE
        case aiohttp.ClientResponseError() | zlib.error() | ValueError():
            return UNREADABLE_RESPONSE
    return UNREACHABLE


def _message_for_status(status: int) -> str:
    if status in (401, 403, 407):
        return NEEDS_PASSWORD
    if status in (404, 410):
        return NOT_FOUND
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500:
        return SERVER_TROUBLE
    return NO_CALENDAR
