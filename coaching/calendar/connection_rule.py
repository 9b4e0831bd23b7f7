"""Which addresses Sage connects to when people name them: public ones, on the web's ports, never its own.

Names are resolved here, once per request; the caller connects to exactly the addresses that were checked.
"""

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from coaching.calendar.addresses import WEB_PORTS, is_public
from coaching.calendar.own_addresses import IpAddress, OwnAddresses, Resolve


class ForbiddenAddressError(OSError):
    """An address that may not be connected to. An OSError, like other connection errors."""


class PrivateAddressError(ForbiddenAddressError):
    """A private name or address."""


class OwnAddressError(ForbiddenAddressError):
    """An address of this server."""


class OddPortError(ForbiddenAddressError):
    """A port that isn't one of the web's."""


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """Return all addresses of a name. Raises OSError if there are none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def forbidden(error: BaseException) -> ForbiddenAddressError | None:
    """Return why a connection was refused here, if it was."""
    cause = getattr(error, "os_error", error)
    return cause if isinstance(cause, ForbiddenAddressError) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentRule:
    allowed: frozenset[tuple[str, int]]
    own: frozenset[IpAddress]
    resolve: Resolve

    def check(self, addresses: Sequence[str], port: int) -> None:
        """Raise `ForbiddenAddressError` if one of the addresses may not be connected to."""
        strict = [address for address in addresses if (address, port) not in self.allowed]
        if not all(map(is_public, strict)):
            raise PrivateAddressError
        if not self.own.isdisjoint(map(ip_address, strict)):
            raise OwnAddressError
        if strict and port not in WEB_PORTS:
            raise OddPortError

    async def addresses_of(self, host: str, port: int) -> Sequence[str]:
        """Return a name's addresses. Raises OSError if it has none, or one that is forbidden."""
        addresses = list(dict.fromkeys(await self.resolve(host, port)))
        self.check(addresses, port)
        return addresses


class ConnectionRule:
    """Makes rules. `allowed` (address, port) count as public, for tests only: no setting adds one."""

    def __init__(
        self, *, allowed: frozenset[tuple[str, int]] = frozenset(), resolve: Resolve = resolve_name
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._own = OwnAddresses(resolve)

    async def current(self) -> CurrentRule:
        """Return the rule for a request that begins now: the server's own addresses may change."""
        return CurrentRule(allowed=self._allowed, own=await self._own.find(), resolve=self._resolve)
