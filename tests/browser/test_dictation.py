"""The microphone: Chromium hears a file, a real server gets it, and its words come into the field."""

import asyncio
import re
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from playwright.async_api import Browser, Page, Route, expect

from coaching.models import Profile, Recording
from sessions_app.database import in_database
from sessions_app.models import Message, Session
from tests.browser.chat_page import path_of
from tests.browser.dictating import (
    HEARS,
    HOST,
    KEPT,
    OpenPage,
    agreed,
    field,
    hearing_browser,
    microphone,
    open_in,
    server,
    shared_sage,
    until_heard,
    until_true,
)
from tests.browser.fixtures import ARGUMENTS, WAIT_MS, Watcher
from tests.browser.page_layout import layout_faults
from tests.browser.test_accessibility import serious_findings
from tests.voice.sounds import likeness, samples_of, tones, wav_file
from tests.voice.transcription_server import TranscriptionServer

__all__ = ["agreed", "open_in", "server", "shared_sage"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BEFORE, SOUNDS, AFTER = 0.5, 3.0, 30.0
RATE = 48_000
ABOVE = """() => {
    const [notice, composer] = ["toast", "composer"].map((id) => document.getElementById(id));
    return notice.getBoundingClientRect().bottom <= composer.getBoundingClientRect().top;
}"""
"""Whether the notice that the words have come is above the composer."""
LOSE_THE_END = """async () => {
    const request = indexedDB.open("sage-recordings");
    const database = await new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
    const pieces = database.transaction("pieces", "readwrite").objectStore("pieces");
    const keys = pieces.getAllKeys();
    const [id, last] = await new Promise((resolve) => (keys.onsuccess = () => resolve(keys.result.at(-1))));
    const gone = pieces.delete(IDBKeyRange.bound([id, last - 4], [id, last]));
    await new Promise((resolve) => (gone.onsuccess = resolve));
    database.close();
}"""
"""Delete the last half second of the recording that this browser has stored."""
QUESTION = re.compile(r"/voice/recordings/[^/]+/$")
"""Where a page asks what has become of a recording."""
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def hearing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """A browser that hears tones between silences."""
    sound = tmp_path_factory.mktemp("microphone") / "tones.wav"
    silence = array("h", [0])
    heard = silence * round(BEFORE * RATE) + tones(SOUNDS, rate=RATE) + silence * round(AFTER * RATE)
    sound.write_bytes(wav_file(heard, rate=RATE))
    async with hearing_browser(sound) as browser:
        yield browser


@pytest.fixture
def open_page(open_in: OpenPage, hearing: Browser) -> OpenPage:
    """Open a page in that browser."""
    return partial(open_in, hearing)


async def test_what_is_said_comes_into_the_field_whole_once_its_person_knows_who_hears_it(
    open_page: OpenPage, server: TranscriptionServer, session: Session, watcher: Watcher, user: User
) -> None:
    server.texts = ["I called my mother.", "She was glad."]
    page = await open_page(path_of(session))
    await microphone(page).click()
    dialog = page.get_by_role("dialog", name="Who hears what you say")
    await expect(dialog).to_contain_text("goes to this server, which turns it into words itself")
    assert await serious_findings(page) == []
    await dialog.get_by_role("button", name="Agree and dictate").click()
    await expect(page.get_by_role("status").filter(has_text="Listening")).to_be_visible()
    assert (await in_database(Profile.of(user.pk).get)).heard_by == HOST
    await until_heard(page, BEFORE + SOUNDS + 1)
    assert await serious_findings(page) == []
    assert await layout_faults(page) == []
    await page.get_by_role("button", name="Stop and write down").click()
    await expect(field(page)).to_have_value("I called my mother.")
    await expect(field(page)).to_be_focused()
    [request] = server.requests
    heard = samples_of(request.audio)
    played = tones(SOUNDS)
    alike, late = likeness(played, heard, most_late=len(heard) - len(played))
    measured = f"{alike:.4f}, {late / 16_000:.3f} s after the beginning of {len(heard) / 16_000:.3f} s"
    print(f"correlation {measured}")  # noqa: T201 - for whoever runs it
    assert alike >= 0.95
    # By keyboard: below what is there.
    await page.keyboard.type(" ")
    await microphone(page).press("Enter")
    await until_heard(page, 1)
    await microphone(page).press("Enter")
    await expect(field(page)).to_have_value("I called my mother. She was glad.")
    async with asyncio.timeout(WAIT_MS / 1000):
        while await in_database(Recording.of(user.pk).exists):  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)
    assert await page.evaluate(KEPT) == 0
    assert not await in_database(Message.unscoped.exists)
    assert watcher.faults == []


async def test_a_recording_outlives_a_reload_and_a_lost_line_and_comes_once(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    server.texts = ["Begun before.", "Sent later."]
    page = await open_page(path_of(session))
    await microphone(page).click()
    await until_heard(page, 2)
    other = await page.context.new_page()
    await other.goto(path_of(session))
    await expect(microphone(other)).to_be_visible()
    await expect(other.get_by_role("button", name="Write it down")).to_be_hidden()
    await other.close()
    await page.reload()
    await expect(page.get_by_text("You recorded this before and didn’t finish.")).to_be_visible()
    await page.get_by_role("button", name="Write it down").click()
    await expect(field(page)).to_have_value("Begun before.")
    assert len(samples_of(server.requests[0].audio)) >= 2 * 16_000
    await field(page).fill("")
    await microphone(page).click()
    await until_heard(page, 1)
    await page.context.set_offline(True)
    await page.get_by_role("button", name="Stop and write down").click()
    await expect(page.get_by_text("Your recording stays on this device")).to_be_visible()
    await page.context.set_offline(False)
    await expect(field(page)).to_have_value("Sent later.")
    # What was finished before a reload is sent by itself.
    server.waits = asyncio.Event()
    server.texts = ["After the reload."]
    await field(page).fill("")
    await microphone(page).click()
    await until_heard(page, 1)
    await page.get_by_role("button", name="Stop and write down").click()
    await until_requests(server, 3)
    await page.reload()
    server.waits.set()
    await expect(field(page)).to_have_value("After the reload.")
    assert len(server.requests) == 3


async def until_requests(server: TranscriptionServer, count: int) -> None:
    """Wait until so many recordings have come to the transcription server."""
    async with asyncio.timeout(WAIT_MS / 1000):
        while len(server.requests) < count:  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)


async def test_a_recording_whose_end_the_device_lost_becomes_words_and_leaves_nothing(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    server.texts, server.waits = ["All of it.", "What is left of it."], asyncio.Event()
    page = await open_page(path_of(session))
    await microphone(page).click()
    await until_heard(page, 2)
    await page.get_by_role("button", name="Stop and write down").click()
    await asyncio.wait_for(server.begun.wait(), WAIT_MS / 1000)
    await page.evaluate(LOSE_THE_END)
    await page.reload()
    await until_true(lambda: Recording.of(agreed.pk).count() == 2)
    server.waits.set()
    await expect(field(page)).to_have_value("What is left of it.")
    whole, rest = (len(samples_of(request.audio)) for request in server.requests)
    assert 0 < rest < whole
    await until_true(lambda: not Recording.of(agreed.pk).exists())


async def test_a_lost_line_costs_no_second_transcription_where_the_device_lost_the_end(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    server.texts, server.waits = ["All of it.", "What is left of it."], asyncio.Event()
    page = await open_page(path_of(session))
    await microphone(page).click()
    await until_heard(page, 2)
    await page.get_by_role("button", name="Stop and write down").click()
    await asyncio.wait_for(server.begun.wait(), WAIT_MS / 1000)
    await page.evaluate(LOSE_THE_END)
    for times in (1, 2):  # a page that goes may lose the line of its last question, too
        await page.reload()
        await until_requests(server, 2)
        assert await in_database(Recording.of(agreed.pk).count) == 2, f"after {times} reloads"

    async def cut(route: Route) -> None:
        await (route.abort() if route.request.method == "GET" else route.continue_())

    await page.route(QUESTION, cut)
    await expect(page.get_by_text("Your recording stays on this device")).to_be_visible()
    server.waits.set()
    await until_true(lambda: not Recording.of(agreed.pk).filter(state="waiting").exists())
    await page.unroute(QUESTION)
    await expect(field(page)).to_have_value("What is left of it.")
    assert len(server.requests) == 2
    await until_true(lambda: not Recording.of(agreed.pk).exists())


async def test_a_server_that_fails_says_so_and_the_recording_can_be_tried_again_or_discarded(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    words = " ".join(["Now it works."] * 30)
    server.status, server.texts = 500, [words]
    page = await open_page(path_of(session))
    await microphone(page).click()
    await until_heard(page, 1)
    await page.get_by_role("button", name="Stop and write down").click()
    await expect(page.get_by_text("has a problem right now")).to_be_visible()
    server.status = 200
    await page.get_by_role("button", name="Write it down").click()
    await expect(field(page)).to_have_value(words)
    assert await page.evaluate(ABOVE), "what is to be read isn't covered"
    await microphone(page).click()
    await until_heard(page, 1)
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.locator(".voice:visible")).to_have_count(0)
    assert await page.evaluate(KEPT) == 0
    assert len(server.requests) == 2


async def test_held_it_records_until_it_is_let_go_on_a_phone_and_for_a_capture(
    open_page: OpenPage, server: TranscriptionServer, agreed: User, watcher: Watcher
) -> None:
    server.texts = ["Buy oats."]
    page = await open_page("/journal/", **PHONE)
    await page.locator("#capture-open").click()
    dialog = page.locator("#capture-dialog")
    place = await microphone(dialog).bounding_box()
    assert place
    await page.mouse.move(place["x"] + 10, place["y"] + 10)
    await page.mouse.down()
    await until_heard(page, 1)
    assert await layout_faults(page, [(360, 740)]) == []
    await page.mouse.up()
    await expect(dialog.get_by_role("textbox")).to_have_value("Buy oats.")
    assert watcher.faults == []


async def test_a_microphone_that_is_forbidden_or_missing_says_what_to_do(
    open_page: OpenPage,
    open_in: OpenPage,
    server: TranscriptionServer,
    hearing: Browser,
    session: Session,
    agreed: User,
) -> None:
    page = await open_page(path_of(session), may_hear=False)
    await microphone(page).click()
    await expect(page.get_by_text("The browser doesn’t let Sage use the microphone.")).to_be_visible()
    await page.get_by_role("button", name="Close").click()
    await expect(page.locator(".voice:visible")).to_have_count(0)
    without = await hearing.browser_type.launch(executable_path=HEARS, args=ARGUMENTS)
    bare = await open_in(without, path_of(session))
    await microphone(bare).click()
    await expect(bare.get_by_text("No microphone was found.")).to_be_visible()
    await expect(bare.get_by_role("timer")).to_be_hidden()
    await without.close()
    assert server.requests == []


@asynccontextmanager
async def kept_recording(open_page: OpenPage, address: str) -> AsyncIterator[Page]:
    """A page with a recording that wasn't finished before it was loaded anew."""
    page = await open_page(address)
    await microphone(page).click()
    await until_heard(page, 1)
    await page.reload()
    await expect(page.get_by_role("button", name="Write it down")).to_be_visible()
    yield page


async def test_signing_out_erases_what_waits(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    async with kept_recording(open_page, path_of(session)) as page:
        assert await page.evaluate(KEPT) > 1
        async with page.expect_navigation():
            await page.evaluate("() => document.getElementById('sign-out').requestSubmit()")
        assert await page.evaluate(KEPT) == 0


async def test_a_recording_that_goes_on_in_another_tab_stores_nothing_after_signing_out(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    page = await open_page(path_of(session))
    await microphone(page).click()
    await until_heard(page, 1)
    other = await page.context.new_page()
    await other.goto("/journal/")
    async with other.expect_navigation():
        await other.evaluate("() => document.getElementById('sign-out').requestSubmit()")
    await until_heard(page, 3)
    await page.get_by_role("button", name="Stop and write down").click()
    await expect(page.get_by_role("button", name="Write it down")).to_be_visible()
    assert await other.evaluate(KEPT) == 0
    assert server.requests == []


async def test_a_recording_waits_until_its_person_has_agreed_again(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    server.texts = ["Agreed."]
    async with kept_recording(open_page, path_of(session)) as page:
        await in_database(lambda: Profile.of(agreed.pk).update(heard_by=""))
        await page.reload()
        await page.get_by_role("button", name="Write it down").click()
        await page.get_by_role("button", name="Agree and dictate").click()
        await expect(field(page)).to_have_value("Agreed.")
