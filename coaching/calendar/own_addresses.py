"""The server's own addresses: those of its network interfaces, and what its names resolve to.

Behind address translation no interface has the public address, so the names in ALLOWED_HOSTS are resolved.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import psutil
from django.conf import settings

IpAddress = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

RESOLVE_SECONDS = 3.0


class OwnAddresses:
    """Finds them anew each time, since both may change. A name that can't be resolved keeps its last ones."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._last: dict[str, frozenset[IpAddress]] = {}

    async def find(self) -> frozenset[IpAddress]:
        """Return all of them. Takes `RESOLVE_SECONDS` at most."""
        names = own_names()
        for name, found in zip(names, await asyncio.gather(*map(self._addresses_of, names)), strict=True):
            if found is not None:
                self._last[name] = found
        return frozenset().union(
            interface_addresses(), *(self._last.get(name, frozenset()) for name in names)
        )

    async def _addresses_of(self, name: str) -> frozenset[IpAddress] | None:
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                return frozenset(_parsed(await self._resolve(name, 443)))
        except (OSError, UnicodeError):  # a TimeoutError is an OSError
            return None


def own_names() -> Sequence[str]:
    """Return the names that the server answers to, without wildcards."""
    names = (host.lstrip(".").strip("[]") for host in settings.ALLOWED_HOSTS)
    return sorted({name for name in names if name and name != "*"})


def interface_addresses() -> frozenset[IpAddress]:
    """Return the addresses of all network interfaces."""
    addresses = (address.address for found in psutil.net_if_addrs().values() for address in found)
    return frozenset(_parsed(addresses))


def _parsed(addresses: Iterable[str]) -> Iterable[IpAddress]:
    for address in addresses:
        try:
            yield ip_address(address.partition("%")[0])
        except ValueError:  # a hardware address
            continue
