"""HTTP sessions that connect to public addresses only.

Names are resolved here, once per request, and the socket is opened to exactly the address that was checked,
so a name can't point inside the network, not even by changing its answer. Whoever follows redirects does it
by hand, through the same session.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from coaching.calendar.addresses import is_public

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class PrivateAddressError(OSError):
    """A private name or address. An OSError, like other connection errors."""


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """Return all addresses of a name. Raises OSError if there are none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def is_private(error: BaseException) -> bool:
    """Return whether a connection failed because its address isn't public."""
    return isinstance(getattr(error, "os_error", error), PrivateAddressError)


class PublicAddresses:
    """Opens sessions. `allowed` (address, port) count as public, for tests only: no setting adds one."""

    def __init__(
        self, *, allowed: frozenset[tuple[str, int]] = frozenset(), resolve: Resolve = resolve_name
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve

    def open_session(self, headers: Mapping[str, str]) -> aiohttp.ClientSession:
        """Return a session without cookies, proxies, time limit and decompression."""
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

    def _is_allowed(self, address: str, port: int) -> bool:
        return is_public(address) or (address, port) in self._allowed

    def _open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Open a socket to an address: the final check, which no spelling of an address bypasses."""
        family, kind, protocol, _, target = info
        if not self._is_allowed(str(target[0]), int(target[1])):
            raise PrivateAddressError
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
            raise PrivateAddressError
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
