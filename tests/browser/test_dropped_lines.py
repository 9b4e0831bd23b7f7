"""Cut lines, reloads and closed tabs: each recording is written down once, and its words come once."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from playwright.async_api import Browser, Locator, Page, expect
from playwright.async_api import TimeoutError as Late

from coaching.models import Recording
from sessions_app.models import Session
from tests.browser.chat_page import path_of
from tests.browser.dictating import (
    KEPT,
    OpenPage,
    agreed,
    hearing_browser,
    microphone,
    open_in,
    server,
    shared_sage,
    until_heard,
    until_true,
)
from tests.browser.fixtures import WAIT_MS
from tests.live_sage import LiveSage
from tests.thoroughness import DAY, size
from tests.voice.cut_line import CutLine
from tests.voice.sounds import samples_of, tones, wav_file
from tests.voice.transcription_server import TranscriptionServer

__all__ = ["agreed", "open_in", "server", "shared_sage"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FAULTS = size(4, long=50)
SEED = size(DAY, long=32)
RATE = 16_000
LEAST_SAMPLES = round(0.8 * RATE)
"""Of a second that was shown, the last tenth may not have been kept yet when the page was reloaded."""
MOST_BYTES = 40_000
"""About as long as an upload with its headers."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hearing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """A browser that hears tones."""
    sound = tmp_path_factory.mktemp("microphone") / "tones.wav"
    sound.write_bytes(wav_file(tones(20), rate=RATE))
    async with hearing_browser(sound) as browser:
        yield browser


@dataclass
class Dictation:
    """Somebody who dictates, again and again, over a bad line."""

    page: Page
    address: str
    line: CutLine
    server: TranscriptionServer
    chance: random.Random
    count: int = 0
    written: list[str] = field(default_factory=list)
    """The words that the field of this tab must have."""

    @property
    def text(self) -> Locator:
        return self.page.locator("#composer-text")

    @property
    def offer(self) -> Locator:
        return self.page.get_by_role("button", name="Write it down")

    async def record(self) -> None:
        """Begin, and talk for a second."""
        self.count += 1
        await microphone(self.page).click()
        await until_heard(self.page, 1)

    async def end(self) -> None:
        await self.page.get_by_role("button", name="Stop and write down").click()

    async def open_again(self) -> None:
        """Close the tab, and open another one: what was typed went with the tab."""
        page = await self.page.context.new_page()
        await self.page.close()
        self.page, self.written = page, []
        await page.goto(self.address)

    async def until_written(self) -> None:
        """Wait until the words are there, and press the button if it is offered. They are there once."""
        self.written.append(f"words-{self.count}")
        async with asyncio.timeout(WAIT_MS / 1000):
            while await self.text.input_value() != " ".join(self.written):
                if await self.offer.is_visible():
                    with suppress(Late):  # it was sent by itself
                        await self.offer.click(timeout=1000)
                await asyncio.sleep(0.1)
        await expect(self.page.locator(".voice:visible")).to_have_count(0)
        assert await self.text.input_value() == " ".join(self.written)

    async def until_heard_by_server(self) -> None:
        async with asyncio.timeout(WAIT_MS / 1000):
            while len(self.server.requests) < self.count:  # noqa: ASYNC110 - nothing here is told when it happens
                await asyncio.sleep(0.05)


async def cut_while_it_is_sent(one: Dictation) -> None:
    one.line.cut_at = one.chance.randrange(1, MOST_BYTES)
    await one.record()
    await one.end()


async def cut_before_the_answer(one: Dictation) -> None:
    one.line.cuts_answer = True
    await one.record()
    await one.end()


async def server_out_of_reach(one: Dictation) -> None:
    """Nothing is pressed: the page tries again by itself."""
    await one.record()
    one.line.is_down = True
    one.line.lose("reset")
    await one.end()
    await expect(one.page.get_by_text("Sage can’t be reached.")).to_be_visible()
    one.line.is_down = False
    await expect(one.text).to_have_value(" ".join([*one.written, f"words-{one.count}"]))


async def offline(one: Dictation) -> None:
    await one.record()
    await one.page.context.set_offline(True)
    await one.end()
    await expect(one.page.get_by_text("Your recording stays on this device")).to_be_visible()
    await asyncio.sleep(one.chance.random())
    await one.page.context.set_offline(False)


async def reloaded_while_recording(one: Dictation) -> None:
    await one.record()
    await one.page.reload()
    await one.offer.click()


async def closed_while_recording(one: Dictation) -> None:
    await one.record()
    await one.open_again()
    await one.offer.click()


async def reloaded_while_it_is_sent(one: Dictation) -> None:
    await one.record()
    await one.end()
    await asyncio.sleep(0.3 * one.chance.random())
    await one.page.reload()


async def closed_while_it_is_written_down(one: Dictation) -> None:
    one.server.waits = asyncio.Event()
    await one.record()
    await one.end()
    await one.until_heard_by_server()
    await one.open_again()
    one.server.waits.set()


async def reloaded_as_the_words_come(one: Dictation) -> None:
    await one.record()
    await one.page.evaluate(
        "() => document.querySelector('#composer-text')"
        ".addEventListener('input', () => location.reload(), { once: true })"
    )
    async with one.page.expect_navigation():
        await one.end()
    await microphone(one.page).wait_for()


async def second_tab_as_the_words_come(one: Dictation) -> None:
    """The other tab finds the recording, but this one works on it."""
    one.server.waits = asyncio.Event()
    await one.record()
    await one.end()
    await one.until_heard_by_server()
    other = await one.page.context.new_page()
    loading = asyncio.create_task(other.goto(one.address))
    await asyncio.sleep(0.2 * one.chance.random())
    one.server.waits.set()
    await loading
    await expect(one.text).to_have_value(" ".join([*one.written, f"words-{one.count}"]))
    await microphone(other).wait_for()
    assert await other.locator("#composer-text").input_value() == ""
    await other.close()


Fault = Callable[[Dictation], Awaitable[None]]
KINDS: tuple[Fault, ...] = (
    cut_while_it_is_sent,
    reloaded_while_it_is_sent,
    second_tab_as_the_words_come,
    server_out_of_reach,
    cut_before_the_answer,
    closed_while_recording,
    reloaded_as_the_words_come,
    offline,
    closed_while_it_is_written_down,
    reloaded_while_recording,
)


def faults_of(chance: random.Random) -> list[Fault]:
    """Return so many faults, each kind as often as the others."""
    rounds = -(-FAULTS // len(KINDS))
    return [fault for _ in range(rounds) for fault in chance.sample(KINDS, len(KINDS))][:FAULTS]


@pytest.mark.timeout(size(420, long=1800))
async def test_nothing_that_was_said_is_lost_or_comes_twice_over_a_bad_line(
    open_in: OpenPage,
    hearing: Browser,
    live_sage: LiveSage,
    server: TranscriptionServer,
    session: Session,
    agreed: User,
    cookie: str,
) -> None:
    chance = random.Random(SEED)
    server.texts = [f"words-{number}" for number in range(1, FAULTS + 2)]
    async with CutLine(lambda: live_sage.port) as line:
        address = f"http://localhost:{line.port}{path_of(session)}"
        page = await open_in(hearing, address)
        one = Dictation(page=page, address=address, line=line, server=server, chance=chance)
        for fault in faults_of(chance):
            print(f"seed {SEED}, {one.count + 1}: {fault.__name__}")  # noqa: T201 - for whoever runs it
            await fault(one)
            await one.until_written()
            server.waits = None
            assert len(server.requests) == one.count, "each recording is heard once"
            assert len(samples_of(server.requests[-1].audio)) >= LEAST_SAMPLES
        assert await one.page.evaluate(KEPT) == 0
        await until_true(lambda: not Recording.of(agreed.pk).exists())
