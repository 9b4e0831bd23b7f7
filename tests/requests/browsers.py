"""Headless clients: signed in, with a CSRF token, many requests at once."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from django.contrib.auth.models import User

from coaching.live.upkeep import LATE_BEAT_SECONDS
from sessions_app.database import in_database
from tests.live_sage import LiveSage, session_cookie
from tests.patience import measure_slowness

TOKEN = "t" * 32
PATIENCE = 2.0
"""How much longer than measured anything may take: other tests start meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A response, and how long it took."""

    status: int
    headers: Mapping[str, str]
    text: str
    seconds: float


class Browser:
    """One person's browser."""

    def __init__(self, client: aiohttp.ClientSession, origin: str) -> None:
        self._client = client
        self._origin = origin

    async def get(self, path: str, **headers: str) -> Answered:
        """Ask for a page."""
        return await self._ask("GET", path, None, headers)

    async def post(
        self, path: str, fields: Mapping[str, object] | aiohttp.FormData | None = None, **headers: str
    ) -> Answered:
        """Send a form."""
        return await self._ask("POST", path, fields, headers)

    async def _ask(self, method: str, path: str, data: object, headers: Mapping[str, str]) -> Answered:
        began = time.monotonic()
        async with self._client.request(
            method, self._origin + path, data=data, headers=headers, allow_redirects=False
        ) as response:
            text = (await response.read()).decode(errors="replace")
            seconds = time.monotonic() - began
            return Answered(status=response.status, headers=response.headers, text=text, seconds=seconds)


@asynccontextmanager
async def browser_of(user: User | None, sage: LiveSage) -> AsyncIterator[Browser]:
    """Open the browser of a person, or of nobody."""
    cookie = f"csrftoken={TOKEN}"
    if user is not None:
        cookie += f"; {await in_database(session_cookie, user)}"
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        headers={"Cookie": cookie, "X-CSRFToken": TOKEN},
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=90),
    ) as client:
        yield Browser(client, sage.origin)


async def measure_patience(sage: LiveSage) -> float:
    """Return by what factor time limits are to be stretched on this machine at the moment."""
    return PATIENCE * await measure_slowness(sage.origin)


def heart_was_in_time(log: str, patience: float) -> bool:
    """Say whether no heartbeat was late by more than a second, times `patience`."""
    late = [json.loads(line)["seconds"] for line in log.splitlines() if "late_heartbeat" in line]
    return max(late, default=0.0) <= LATE_BEAT_SECONDS * patience


async def slowest_page_during(work: "asyncio.Future[Any]", browser: Browser, path: str = "/") -> float:
    """Request a page repeatedly until the work is done; return the longest response time.

    If a page fails, the work is cancelled: its errors would be logged during another test.
    """
    slowest = 0.0
    try:
        while not work.done():
            page = await browser.get(path)
            assert page.status == 200, (page.status, page.text[:300])
            slowest = max(slowest, page.seconds)
            await asyncio.sleep(0.05)
    except BaseException:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        raise
    return slowest
