"""Speech in three languages, with noise: the server gets it whole, and its words come in order."""

import asyncio
from array import array
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, expect

from coaching.voice.sound import RATE
from sessions_app.models import Session
from tests.browser.chat_page import path_of
from tests.browser.dictating import (
    OpenPage,
    agreed,
    field,
    hearing_browser,
    microphone,
    open_in,
    server,
    shared_sage,
    until_heard,
)
from tests.groups import require_group
from tests.thoroughness import IS_LONG
from tests.voice.recogniser import SAID, recognised
from tests.voice.sounds import samples_of, wav_file
from tests.voice.speech import TEXTS, Comparison, compare, require_speech, speech, spoken
from tests.voice.transcription_server import TranscriptionServer

__all__ = ["agreed", "open_in", "server", "shared_sage"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONGER, SHORTER = 20.0, 2.0
AFTER = 30.0
LONGEST = 600.0
SAID_SECONDS = 8.0
"""More than the recogniser's sentence takes."""
MISSING_MS = 30.0
"""What a browser may miss while its threads begin: one to three buffers."""
LOST_MS = 100.0
"""What a browser may throw away on a busy machine, in recordings of any length."""
SILENT_MS = 100.0
"""What it may write of silence each minute: then nothing is lost, and a pause is a little longer."""
UNHEARD_MS = 50.0
"""What the browser still had of the sound when the button was pressed, and didn't pass on any more."""
TIMES = """
    window.times = {};
    const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (asked) => {
        const stream = await open(asked);
        times.opened = performance.now();
        return stream;
    };
    const onClick = ({ target }) => target.closest("[data-voice=done]") && (times.ended = performance.now());
    addEventListener("click", onClick, true);
"""
"""Notes when the microphone was open, and when the button was pressed that ends the recording."""


def file_of(samples: "array[int]", folder: Path, name: str) -> Path:
    """Write what a microphone hears: these samples, then silence."""
    sound = folder / f"{name}.wav"
    sound.write_bytes(wav_file(samples + array("h", [0]) * round(AFTER * RATE), rate=RATE))
    return sound


def words(number: int) -> str:
    """Return what the server writes down of a recording: marked, and numbered."""
    return " ".join(f"recording-{number}-word-{word}" for word in range(1, 41))


def check(compared: Comparison, *, minutes: int = 1) -> None:
    """Nothing is missing at the beginning or the end, and what is between is what was played."""
    assert compared.correlation >= 0.95
    assert compared.end_correlation >= 0.9
    assert compared.missing_ms <= MISSING_MS
    assert compared.lost_ms <= LOST_MS
    assert compared.silent_ms <= SILENT_MS * minutes


async def until_done(page: Page, before: str) -> str:
    """Wait until the field has words that weren't in it before; return them."""
    await expect(page.locator("#composer")).to_have_attribute("data-voice", "idle")
    value = await field(page).input_value()
    assert value.startswith(before)
    return value[len(before) :].strip()


def report(name: str, compared: Comparison) -> None:
    print(f"{name}: {compared}")  # noqa: T201 - for whoever runs it


@pytest.mark.parametrize("language", list(TEXTS))
async def test_what_is_said_comes_whole_and_its_words_in_order(
    open_in: OpenPage,
    server: TranscriptionServer,
    session: Session,
    agreed: User,
    tmp_path: Path,
    language: str,
) -> None:
    require_speech()
    server.texts = [words(1), words(2)]
    played = speech(language, seconds=LONGER)
    async with hearing_browser(file_of(played, tmp_path, language)) as browser:
        page = await open_in(browser, "about:blank")
        await page.add_init_script(TIMES)
        await page.goto(path_of(session))
        await microphone(page).click()
        await until_heard(page, LONGER + 1)
        await page.get_by_role("button", name="Stop and write down").click()
        assert await until_done(page, "") == words(1)
        await microphone(page).click()
        await until_heard(page, SHORTER)
        await page.get_by_role("button", name="Stop and write down").click()
        assert await until_done(page, words(1)) == words(2)
        open_ms = await page.evaluate("() => times.ended - times.opened")
    longer, shorter = [samples_of(request.audio) for request in server.requests]
    compared = compare(played, longer)
    report(f"{language}, {LONGER} s", compared)
    assert compared.end_ms >= 0
    check(compared)
    compared = compare(played, shorter)
    report(f"{language}, {SHORTER} s", compared)
    assert len(shorter) * 1000 / RATE >= open_ms - UNHEARD_MS
    check(compared)


@pytest.mark.skipif(not IS_LONG, reason="takes eleven minutes: SAGE_TEST_LONG=1")
@pytest.mark.timeout(1200)
async def test_ten_minutes_end_by_themselves_and_all_of_them_are_kept(
    open_in: OpenPage, server: TranscriptionServer, session: Session, agreed: User, tmp_path: Path
) -> None:
    require_speech()
    server.texts, server.waits = [words(1)], asyncio.Event()
    played = speech("en", seconds=LONGEST + 10)
    async with hearing_browser(file_of(played, tmp_path, "long")) as browser:
        page = await open_in(browser, path_of(session))
        await microphone(page).click()
        await until_heard(page, LONGEST - 10, wait_ms=700_000)
        await expect(page.get_by_text("A recording can have 10 minutes.")).to_be_visible()
        server.waits.set()
        assert await until_done(page, "") == words(1)
    [request] = server.requests
    heard = samples_of(request.audio)
    assert 0 <= len(heard) / RATE - LONGEST < 0.5
    compared = compare(played, heard)
    report("ten minutes", compared)
    check(compared, minutes=10)


async def test_a_recogniser_writes_down_the_same_words_as_of_the_file_that_was_played(
    open_in: OpenPage, server: TranscriptionServer, session: Session, agreed: User, tmp_path: Path
) -> None:
    require_speech()
    require_group("speech")
    server.recognise = recognised
    sound = file_of(spoken(SAID, voice="en-us"), tmp_path, "said")
    async with hearing_browser(sound) as browser:
        page = await open_in(browser, path_of(session))
        await microphone(page).click()
        await until_heard(page, SAID_SECONDS)
        await page.get_by_role("button", name="Stop and write down").click()
        written = await until_done(page, "")
    assert written == recognised(sound.read_bytes()) == SAID.replace(",", "")
