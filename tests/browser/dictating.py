"""Pages that dictate: Chromium hears a file, a real server gets it, and a real worker asks for its words."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from django.test import override_settings
from playwright.async_api import Browser, BrowserContext, Locator, Page, async_playwright

from coaching.jobs.worker import JobWorker
from coaching.models import Profile
from sessions_app.database import in_database
from tests.browser.fixtures import ARGUMENTS, WAIT_MS, Watcher
from tests.groups import require
from tests.jobs.conftest import empty_queue
from tests.live_sage import LiveSage, SharedSage, free_port
from tests.voice.transcription_server import TranscriptionServer, transcription_server

PORT = free_port()
URL = f"http://127.0.0.1:{PORT}"
HOST = URL.removeprefix("http://")
HEARS = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
"""The headless shell has no microphone."""
KEPT = """async () => {
    const request = indexedDB.open("sage-recordings");
    const database = await new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
    const stores = [...database.objectStoreNames];
    if (!stores.length) return 0;
    const counts = stores.map((name) => database.transaction(name).objectStore(name).count());
    await Promise.all(counts.map((count) => new Promise((resolve) => (count.onsuccess = resolve))));
    database.close();
    return counts.reduce((sum, count) => sum + count.result, 0);
}"""
"""How many recordings and pieces are kept in this browser."""

OpenPage = Callable[..., Awaitable[Page]]


@asynccontextmanager
async def hearing_browser(sound: Path) -> AsyncIterator[Browser]:
    """A browser whose microphone hears a WAV file, once, each time it is opened."""
    require("browser", bool(HEARS), "a Chromium on the PATH that isn’t the headless shell")
    device = ["--use-fake-device-for-media-stream", f"--use-file-for-fake-audio-capture={sound}%noloop"]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=HEARS, args=[*ARGUMENTS, *device])
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
def shared_sage(django_db_setup: None) -> Iterator[SharedSage]:
    """A web process that knows the transcription server."""
    shared = SharedSage(SAGE_TRANSCRIBE_URL=URL)
    yield shared
    shared.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def server(live_sage: LiveSage) -> AsyncIterator[TranscriptionServer]:
    """The transcription server, and a worker that asks it."""
    await in_database(empty_queue)
    async with transcription_server(PORT) as server:
        with override_settings(SAGE_TRANSCRIBE_URL=URL):
            async with JobWorker():
                yield server
    await in_database(empty_queue)


@pytest_asyncio.fixture(loop_scope="session")
async def open_in(live_sage: LiveSage, watcher: Watcher, cookie: str) -> AsyncIterator[OpenPage]:
    """Open a page of the person in a browser; they may use the microphone."""
    opened: list[BrowserContext] = []

    async def open_in(browser: Browser, address: str, *, may_hear: bool = True, **options: object) -> Page:
        usual = {"base_url": live_sage.origin, "reduced_motion": "reduce", "service_workers": "block"}
        context = await browser.new_context(**{**usual, **options})  # type: ignore[arg-type]  # options of any type
        opened.append(context)
        context.set_default_timeout(WAIT_MS)
        context.on("page", watcher.watch)
        if may_hear:
            await context.grant_permissions(["microphone"])
        await context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_sage.origin}])
        page = await context.new_page()
        await page.goto(address)
        return page

    yield open_in
    for context in opened:
        await context.close()


@pytest.fixture
def agreed(user: User) -> User:
    """The person has agreed to the server."""
    Profile.unscoped.create(user=user, name="Ada", heard_by=HOST, timezone="Europe/Berlin")
    return user


def microphone(form: Locator | Page) -> Locator:
    return form.get_by_role("button", name="Dictate")


def field(page: Page) -> Locator:
    return page.locator("#composer-text")


async def until_heard(page: Page, seconds: float, *, wait_ms: float = WAIT_MS) -> None:
    """Wait until so many seconds are recorded."""
    clock = page.locator("[data-voice-time]:visible")
    async with asyncio.timeout(wait_ms / 1000):
        while _seconds(await clock.text_content()) < seconds:  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.1)


def _seconds(shown: str | None) -> int:
    minutes, _, seconds = (shown or "0:0").partition(":")
    return 60 * int(minutes) + int(seconds)


async def until_true(holds: Callable[[], bool]) -> None:
    """Wait until something holds in the database."""
    async with asyncio.timeout(WAIT_MS / 1000):
        while not await in_database(holds):  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.1)
