"""The site as browsers reach it: by its name and over TLS, through nginx. Every request is recorded."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

REQUEST_SECONDS = 120.0
"""Longer than nginx waits for an answer."""
CSRF = "d" * 32
BY_PROXY = frozenset({502, 504})
"""Statuses that only nginx sends."""
LEAST_ERROR = 400
LOST = (aiohttp.ClientError, OSError, TimeoutError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request and how it ended. `status` 0: without an answer. Times are of the loop's clock."""

    kind: str
    began: float
    seconds: float
    status: int

    @property
    def is_refused(self) -> bool:
        """Whether the proxy refused it, or couldn't be reached."""
        return self.status == 0 or self.status in BY_PROXY

    @property
    def is_failed(self) -> bool:
        """Whether Sage answered with an error."""
        return not self.is_refused and self.status >= LEAST_ERROR


class _ThisMachine(AbstractResolver):
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        address = {"hostname": host, "host": "127.0.0.1", "port": port, "family": family}
        return [ResolveResult(**address, proto=0, flags=socket.AI_NUMERICHOST)]  # type: ignore[typeddict-item]  # built from a dict

    async def close(self) -> None:
        """There is nothing to close."""


@dataclass(slots=True)
class Site:
    """Requests and sockets to one origin."""

    origin: str
    asked: list[Asked] = field(default_factory=list)
    _browser: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["Site"]:
        """Keep connections for the length of the block."""
        connector = aiohttp.TCPConnector(resolver=_ThisMachine(), ssl=False, limit=0)
        timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS)
        jar = aiohttp.DummyCookieJar()
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, cookie_jar=jar) as browser:
            self._browser = browser
            yield self

    async def get(self, kind: str, path: str, cookie: str = "") -> str:
        """Return a page, empty if it isn't answered with 200."""
        _, text = await self._ask(kind, "GET", path, headers=self._headers(cookie))
        return text

    async def post(self, kind: str, path: str, cookie: str, form: aiohttp.FormData) -> tuple[int, str]:
        """Send a form as a script of the page does; return status and answer."""
        form.add_field("csrfmiddlewaretoken", CSRF)
        headers = self._headers(f"{cookie}; csrftoken={CSRF}") | {"Accept": "application/json"}
        return await self._ask(kind, "POST", path, headers=headers, data=form)

    @asynccontextmanager
    async def socket(self, path: str, cookie: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Open a page's socket. Raises one of `LOST`."""
        assert self._browser is not None
        began = asyncio.get_running_loop().time()
        try:
            opened = await self._browser.ws_connect(
                self.origin + path, headers=self._headers(cookie), max_msg_size=0
            )
        except LOST as error:
            status = error.status if isinstance(error, aiohttp.WSServerHandshakeError) else 0
            self._note("socket", began, status)
            raise
        self._note("socket", began, 101)
        async with opened:
            yield opened

    async def _ask(self, kind: str, method: str, path: str, **options: Any) -> tuple[int, str]:
        assert self._browser is not None
        began, status, text = asyncio.get_running_loop().time(), 0, ""
        try:
            async with self._browser.request(
                method, self.origin + path, allow_redirects=False, **options
            ) as answer:
                text = await answer.text()
                status = answer.status
        except LOST:
            pass
        self._note(kind, began, status)
        return status, text if status == 200 else ""

    def _headers(self, cookie: str) -> dict[str, str]:
        return {"Origin": self.origin, **({"Cookie": cookie} if cookie else {})}

    def _note(self, kind: str, began: float, status: int) -> None:
        seconds = asyncio.get_running_loop().time() - began
        self.asked.append(Asked(kind=kind, began=began, seconds=seconds, status=status))
