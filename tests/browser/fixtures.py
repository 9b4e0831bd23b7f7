"""A real Chromium with a running Sage, and a watcher for errors on its pages."""

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from django.contrib.auth.hashers import PBKDF2PasswordHasher, make_password
from django.contrib.auth.models import User
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    async_playwright,
    expect,
)

from coaching.practice.server import PracticeServer
from tests.browser.contexts import Contexts, Reusable
from tests.browsers import browser_of
from tests.conftest import PASSWORD
from tests.groups import require
from tests.live_sage import LiveSage, serve_practice

# The first is the same browser without a window system: half the CPU.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in PROGRAMS if (path := shutil.which(name))), "")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # One process draws all pages: starting one for each, and one more in advance, took a fifth of the CPU.
    "--renderer-process-limit=1",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
]
BLOCKED = "Service Worker registration blocked by Playwright"
WAIT_MS = 30_000
expect.set_options(timeout=WAIT_MS)  # tolerant of a busy machine


class Watcher:
    """Records what must not happen: dialogs, script errors, policy violations, requests to other hosts."""

    def __init__(self, own_host: str) -> None:
        self.own_host = own_host
        self.faults: list[str] = []

    def watch(self, page: Page) -> None:
        """Listen to a page."""
        page.on("dialog", self._on_dialog)
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        page.on("console", self._on_console)
        # A request to another host fails, because none resolves; intercepting all of ours costs time.
        page.on("requestfailed", self._on_request)

    async def _on_dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and message.text != BLOCKED:
            self.faults.append(f"console {message.type}: {message.text}")

    def _on_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.netloc != self.own_host:
            self.faults.append(f"request to {request.url}")


OpenContext = Callable[..., Awaitable[BrowserContext]]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium on this machine."""
    require("browser", bool(CHROMIUM) and Path(CHROMIUM).exists(), "a Chromium on the PATH")
    return CHROMIUM


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """The browser of all tests here; each opens its own contexts."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=ARGUMENTS, env=dict(os.environ)
        )
        yield browser
        await browser.close()


@pytest.fixture
def watcher(live_sage: LiveSage) -> Watcher:
    """The watcher of this test's pages; the test asserts that it recorded nothing."""
    return Watcher(f"localhost:{live_sage.port}")


@pytest_asyncio.fixture(loop_scope="session")
async def practice(live_sage: LiveSage) -> AsyncIterator[PracticeServer]:
    """The model behind `live_sage`, in these tests' event loop."""
    async with serve_practice(live_sage) as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def contexts(browser: Browser) -> Contexts:
    """The contexts of this browser that several tests use."""
    return Contexts(browser)


@pytest_asyncio.fixture(loop_scope="session")
async def open_context(
    browser: Browser,
    contexts: Contexts,
    live_sage: LiveSage,
    watcher: Watcher,
    request: pytest.FixtureRequest,
) -> AsyncIterator[OpenContext]:
    """Open a browser context, for as long as the test; with a cookie of `cookie_of` it is signed in.

    One with options of its own, or `is_new`, has served no other test.
    """
    opened: list[BrowserContext] = []
    taken: list[Reusable] = []
    failed = request.session.testsfailed
    # Animations would be drawn sixty times a second on every page.
    # A service worker would store its files in each of them.
    usual = {"reduced_motion": "reduce", "service_workers": "block"}

    async def open_one(session_id: str = "", *, is_new: bool = False, **options: object) -> BrowserContext:
        if is_new or options:
            context = await browser.new_context(**{"base_url": live_sage.origin, **usual, **options})  # type: ignore[arg-type]
            opened.append(context)
        else:
            taken.append(await contexts.take(live_sage.origin, **usual))
            context = taken[-1].context
        context.set_default_timeout(WAIT_MS)
        context.on("page", watcher.watch)
        if session_id:
            await context.add_cookies([{"name": "sessionid", "value": session_id, "url": live_sage.origin}])
        return context

    yield open_one
    for used in taken:
        used.context.remove_listener("page", watcher.watch)
        if request.session.testsfailed > failed:
            opened.append(used.context)
        else:
            await contexts.give_back(used)
    for context in opened:
        await context.close()


@pytest.fixture
def cookie(user: User) -> str:
    """The person's browser session."""
    return browser_of(user).cookies["sessionid"].value


@pytest.fixture
def known_user(user: User) -> User:
    """The person with a password hash that the web process knows, too: the suite's own is a quick one."""
    user.password = make_password(PASSWORD, hasher=PBKDF2PasswordHasher())
    user.save()
    return user


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_context: OpenContext, cookie: str) -> Page:
    """A page of the signed-in person."""
    context = await open_context(cookie)
    return await context.new_page()
