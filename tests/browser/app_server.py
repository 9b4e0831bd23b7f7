"""Sage behind a port of its own that can close and open, for browsers that may have service workers."""

import asyncio
import re

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from playwright.async_api import Page, Worker

from tests.browser.fixtures import WAIT_MS
from tests.live_sage import LiveSage


class Server:
    """Sage behind a port of its own, which can close, and with a worker of another version."""

    def __init__(self, sage: LiveSage) -> None:
        self._sage = sage
        self._runner: web.AppRunner | None = None
        self.port = 0
        self.version = ""
        self.is_offline_page_private = False

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.port}"

    async def open(self) -> None:
        """Serve, on the same port as before."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True).start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Be gone."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _answer(self, request: web.Request) -> web.Response:
        url = f"http://127.0.0.1:{self._sage.port}{request.raw_path}"
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False) as session,
            session.request(
                request.method, url, headers=request.headers, data=await request.read(), allow_redirects=False
            ) as response,
        ):
            body = await response.read()
            if self.version and request.path == "/service-worker.js":
                body = re.sub(rb'"version": "\w+"', f'"version": "{self.version}"'.encode(), body)
            dropped = {"Content-Length", "Transfer-Encoding", "Connection"}
            if self.is_offline_page_private and request.path == "/offline/":
                dropped.add("Cache-Control")
            kept = CIMultiDict(item for item in response.headers.items() if item[0] not in dropped)
            if "Cache-Control" in dropped:
                kept["Cache-Control"] = "private, no-store"
            return web.Response(status=response.status, body=body, headers=kept)


async def until(page: Page | Worker, script: str) -> None:
    """Wait until a script of the page is true: Playwright's own way needs `eval`."""
    async with asyncio.timeout(WAIT_MS / 1000):
        while not await page.evaluate(script):  # noqa: ASYNC110 - the browser's own
            await asyncio.sleep(0.05)


async def until_controlled(page: Page) -> None:
    await until(page, "() => navigator.serviceWorker.controller !== null")
