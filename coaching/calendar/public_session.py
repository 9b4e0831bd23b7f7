"""HTTP sessions that connect only where `connection_rule` allows it.

The socket is opened to exactly the address that was checked, so a name can't point inside the network, not
even by changing its answer. Whoever follows redirects does it by hand, through the same session.
"""

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from coaching.calendar.connection_rule import ConnectionRule, CurrentRule


@asynccontextmanager
async def open_session(
    rule: ConnectionRule, headers: Mapping[str, str]
) -> AsyncIterator[aiohttp.ClientSession]:
    """Open a session without cookies, proxies, time limit and decompression."""
    current = await rule.current()

    def open_socket(info: tuple[Any, ...]) -> socket.socket:
        # The final check, which no spelling of an address bypasses.
        family, kind, protocol, _, target = info
        current.check([str(target[0])], int(target[1]))
        return socket.socket(family, kind, protocol)

    connector = aiohttp.TCPConnector(
        resolver=_CheckingResolver(current),
        use_dns_cache=False,
        force_close=True,
        happy_eyeballs_delay=None,
        socket_factory=open_socket,
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None),
    ) as session:
        yield session


class _CheckingResolver(AbstractResolver):
    """Resolves a name only if all its addresses may be connected to."""

    def __init__(self, rule: CurrentRule) -> None:
        self._rule = rule

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return a name's addresses. Raises OSError if it has none, or a forbidden one."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in await self._rule.addresses_of(host, port)
        ]

    async def close(self) -> None:
        """Nothing to close."""
