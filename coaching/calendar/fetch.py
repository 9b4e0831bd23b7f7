"""Fetches feeds from public addresses only.

Names are resolved here, once per request, and the socket is opened to exactly the address that was checked,
so a name can't point inside the network, not even by changing its answer. Redirects are followed by hand and
checked the same way. Time and size are limited in total, and unpacked bytes are counted as they come. A
feed's address is a secret: nothing here logs it.
"""

import asyncio
import socket
import zlib
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from coaching.calendar.addresses import checked_redirect, is_public
from coaching.calendar.fetchers import Fetched
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

PRIVATE = "The address is in a private network, which Sage doesn’t access."
NOT_FOUND = "There’s nothing at this address any more. Check whether the link has changed."
NEEDS_PASSWORD = "The address requires a password. Use the calendar’s private or secret link instead."  # noqa: S105 - a sentence, no password
UNKNOWN_NAME = "No server was found at this address. Check it for typos."
UNREACHABLE = "The server couldn’t be reached."
TOO_SLOW = "The server took too long to answer."
UNTRUSTED = "The server’s certificate isn’t valid."
INCOMPLETE = "The server’s response was incomplete."
UNREADABLE_RESPONSE = "Sage couldn’t read the server’s response."
TOO_MANY_REDIRECTS = f"The address redirects more than {MAX_REDIRECTS} times."

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class _PrivateAddressError(OSError):
    """A private name or address. An OSError, like other connection errors."""


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """Return all addresses of a name. Raises OSError if there are none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


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
        self._allowed = allowed
        self._resolve = resolve
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
            async with asyncio.timeout(self._seconds), self._session(headers) as session:
                return await self._follow(session, url)
        except TimeoutError:
            raise Refused(TOO_SLOW) from None
        except (aiohttp.ClientError, OSError, zlib.error, ValueError) as error:
            raise Refused(_message_for(error)) from None

    def _session(self, headers: dict[str, str]) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=_CheckingResolver(self._resolve, self._is_allowed),
            use_dns_cache=False,
            force_close=True,
            happy_eyeballs_delay=None,
            socket_factory=self._open_socket,
        )
        return aiohttp.ClientSession(
            connector=connector,
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None),
        )

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

    def _is_allowed(self, address: str, port: int) -> bool:
        return is_public(address) or (address, port) in self._allowed

    def _open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Open a socket to an address: the final check, which no spelling of an address bypasses."""
        family, kind, protocol, _, target = info
        if not self._is_allowed(str(target[0]), int(target[1])):
            raise _PrivateAddressError
        return socket.socket(family, kind, protocol)


class _CheckingResolver(AbstractResolver):
    """Resolves a name only if all its addresses are public."""

    def __init__(self, resolve: Resolve, is_allowed: Callable[[str, int], bool]) -> None:
        self._resolve = resolve
        self._is_allowed = is_allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return a name's addresses. Raises OSError if it has none, or a private one."""
        addresses = list(dict.fromkeys(await self._resolve(host, port)))
        if not all(self._is_allowed(address, port) for address in addresses):
            raise _PrivateAddressError
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Nothing to close."""


def _short(header: str) -> str:
    return header if len(header) <= MAX_VALIDATOR_CHARACTERS and header.isprintable() else ""


def _message_for(error: BaseException) -> str:
    if isinstance(getattr(error, "os_error", error), _PrivateAddressError):
        return PRIVATE
    match error:
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
        return f"The server has a problem right now (error {status})."
    return f"The server returned error {status} instead of a calendar."
