"""Recordings that are cut off, silent, refused, waiting for a worker, or older than their session."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as SignIn
from django.test import Client, override_settings
from django.utils import timezone
from playwright.async_api import Page, Route, expect

from coaching.jobs.worker import JobWorker
from coaching.models import Profile, Recording
from coaching.voice.recordings import LOST_AFTER
from coaching.voice.sound import BYTES_A_SECOND, HEADER_BYTES
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, Session, UsagePurpose
from tests.browser.chat_page import path_of
from tests.browser.dictating import (
    HOST,
    KEPT,
    PORT,
    URL,
    OpenPage,
    agreed,
    field,
    microphone,
    open_in,
    server,
    until_heard,
    until_true,
)
from tests.browser.fixtures import WAIT_MS
from tests.browser.page_layout import layout_faults
from tests.browser.test_accessibility import serious_findings
from tests.browser.test_dictation import PHONE, hearing, open_page
from tests.jobs.conftest import empty_queue
from tests.live_sage import LiveSage, SharedSage
from tests.voice.transcription_server import TranscriptionServer, transcription_server

__all__ = ["agreed", "hearing", "open_in", "open_page", "server"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BUDGET = 10_000_000
TRACK = """() => {
    const real = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getUserMedia = async (asked) => {
        const stream = await real(asked);
        [window.track] = stream.getTracks();
        window.track.enabled = !window.isMuted;
        return stream;
    };
}"""
"""Keeps what the microphone gave, so that a test can do to it what a system does."""
SEEN = """(isHidden) => {
    Object.defineProperty(document, "hidden", { get: () => isHidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
FAST = """() => {
    globalThis.AudioWorkletNode = function (context) {
        const node = new GainNode(context);
        node.port = { postMessage: () => node.port.onmessage({ data: null }) };
        window.hear = (samples) => node.port.onmessage({ data: { samples, peak: 0.5 } });
        return node;
    };
}"""
"""An audio thread whose minutes take no time."""


@pytest.fixture(scope="module")
def shared_sage(django_db_setup: None) -> Iterator[SharedSage]:
    """A web process that knows the transcription server, and has a budget."""
    shared = SharedSage(SAGE_TRANSCRIBE_URL=URL, SAGE_DAILY_TOKENS=str(BUDGET))
    yield shared
    shared.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def lone_server(live_sage: LiveSage) -> AsyncIterator[TranscriptionServer]:
    """The transcription server, and no worker that asks it."""
    await in_database(empty_queue)
    async with transcription_server(PORT) as server:
        with override_settings(SAGE_TRANSCRIBE_URL=URL):
            yield server
    await in_database(empty_queue)


async def record(page: Page, seconds: float = 1) -> None:
    await microphone(page).click()
    await until_heard(page, seconds)


async def stop(page: Page) -> None:
    await page.get_by_role("button", name="Stop and write down").click()


async def sign_in(page: Page, user: User, live_sage: LiveSage) -> None:
    """Let the browser have a session of this person."""
    client = Client()
    await in_database(client.force_login, user)
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_sage.origin}
    await page.context.add_cookies([cookie])  # type: ignore[list-item]  # a dict is one


async def test_a_microphone_that_the_system_takes_or_mutes_ends_the_recording_with_what_there_is(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    page = await open_page(path_of(session))
    await page.evaluate(TRACK)
    for number, event in enumerate(("mute", "ended"), 1):
        server.waits = asyncio.Event()
        await record(page)
        await page.evaluate("(name) => track.dispatchEvent(new Event(name))", event)
        await expect(page.get_by_text("The microphone was switched off.")).to_be_visible()
        assert await page.evaluate("() => track.readyState") == "ended", "it doesn't listen any more"
        server.waits.set()
        await expect(page.locator(".voice:visible")).to_have_count(0)
        assert len(server.requests) == number
        assert len(server.requests[-1].audio) >= BYTES_A_SECOND
    await expect(field(page)).to_have_value("marked words marked words")


async def test_a_page_that_is_hidden_stops_listening_and_sends_once_it_is_seen_again(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    page = await open_page(path_of(session))
    await page.evaluate(TRACK)
    await record(page)

    async def cut(route: Route) -> None:
        await route.abort()

    await page.route("**/voice/recordings/", cut)
    await page.evaluate(SEEN, True)
    await expect(page.get_by_text("Your recording stays on this device")).to_be_visible()
    assert await page.evaluate("() => track.readyState") == "ended"
    await page.unroute("**/voice/recordings/")
    await page.evaluate(SEEN, False)
    await expect(field(page)).to_have_value("marked words")
    server.waits = asyncio.Event()
    await record(page)
    await page.evaluate(SEEN, True)
    await expect(page.get_by_text("The recording ended because you left the page.")).to_be_visible()
    server.waits.set()
    await expect(field(page)).to_have_value("marked words marked words")
    assert len(server.requests) == 2


async def test_silence_is_shown_while_it_is_recorded_and_isnt_sent(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    page = await open_page(path_of(session))
    await page.evaluate(TRACK)
    await page.evaluate("() => (window.isMuted = true)")
    await record(page)
    await expect(page.get_by_text("Listening, but nothing can be heard.")).to_be_visible()
    await stop(page)
    await expect(page.get_by_text("Nothing can be heard in this recording.")).to_be_visible()
    await expect(page.get_by_role("button", name="Write it down")).to_be_hidden()
    assert not await in_database(Recording.unscoped.exists)
    await page.get_by_role("button", name="Discard").click()
    assert await page.evaluate(KEPT) == 0
    assert server.requests == []


async def test_over_the_budget_nothing_is_recorded_and_what_was_recorded_stays_on_the_device(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    page = await open_page(path_of(session))
    await record(page)
    used = ModelUsage(user=agreed, purpose=UsagePurpose.TURN, model="m", input_tokens=BUDGET)
    await in_database(used.save)
    await stop(page)
    sentence = page.get_by_text("Today’s budget is used up. More will be available in about 24 hours.")
    await expect(sentence).to_be_visible()
    await page.reload()
    await expect(sentence).to_be_visible()
    await in_database(used.delete)
    await page.get_by_role("button", name="Write it down").click()
    await expect(field(page)).to_have_value("marked words")
    await in_database(used.save)
    await microphone(page).click()
    await expect(sentence).to_be_visible()
    await page.get_by_role("button", name="Close").click()
    assert await page.evaluate(KEPT) == 0
    assert len(server.requests) == 1


async def test_one_that_is_cancelled_before_it_may_begin_leaves_nothing_and_closes_the_microphone(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    page = await open_page(path_of(session))
    await page.evaluate(TRACK)
    answered = asyncio.Event()

    async def wait(route: Route) -> None:
        await answered.wait()
        await route.abort()

    await page.route("**/voice/recordings/", wait)
    await microphone(page).click()
    async with asyncio.timeout(WAIT_MS / 1000):
        while await page.evaluate(KEPT) < 3:  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.locator(".voice:visible")).to_have_count(0)
    answered.set()
    async with asyncio.timeout(WAIT_MS / 1000):
        while await page.evaluate(KEPT):  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)
    assert await page.evaluate("() => track.readyState") == "ended"
    assert server.requests == []


async def test_without_a_worker_the_field_says_that_it_takes_long_and_the_words_come_once(
    open_page: OpenPage, lone_server: TranscriptionServer, session: Session, agreed: User
) -> None:
    page = await open_page(path_of(session), **PHONE)
    await record(page)
    await stop(page)
    await until_true(Recording.of(agreed.pk).exists)
    await in_database(lambda: Recording.unscoped.update(made_at=timezone.now() - 2 * LOST_AFTER))
    sentence = page.get_by_text("This takes longer than usual. Your recording is kept here")
    await expect(sentence).to_be_visible()
    await page.reload()
    await expect(sentence).to_be_visible()
    assert await serious_findings(page) == []
    assert await layout_faults(page, [(360, 740)]) == []
    assert await page.evaluate(KEPT) > 1
    async with JobWorker():
        await expect(field(page)).to_have_value("marked words")
    assert len(lone_server.requests) == 1


async def test_a_recording_that_outlives_its_session_waits_for_its_own_person_alone(
    open_page: OpenPage,
    server: TranscriptionServer,
    session: Session,
    agreed: User,
    other_user: User,
    live_sage: LiveSage,
) -> None:
    await in_database(lambda: Profile.unscoped.create(user=other_user, name="Grace", heard_by=HOST))
    page = await open_page(path_of(session))
    for person, words in ((agreed, "marked words"), (other_user, "")):
        await field(page).fill("")
        await record(page)
        await in_database(SignIn.objects.all().delete)
        await stop(page)
        await expect(page.get_by_text("You’ve been signed out. Your recording stays")).to_be_visible()
        assert await page.evaluate(KEPT) > 1
        await sign_in(page, person, live_sage)
        await page.goto(path_of(session) if words else "/journal/")
        if words:
            await expect(field(page)).to_have_value(words)
    await expect(page.locator(".voice-open").first).to_be_attached()
    async with asyncio.timeout(WAIT_MS / 1000):
        while await page.evaluate(KEPT):  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)
    await sign_in(page, agreed, live_sage)
    await page.goto(path_of(session))
    await expect(page.get_by_role("button", name="Write it down")).to_be_hidden()
    assert len(server.requests) == 1


async def test_two_tabs_that_record_at_once_each_get_their_own_words(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    server.texts = ["First.", "Second."]
    page = await open_page(path_of(session))
    other = await page.context.new_page()
    await other.goto(path_of(session))
    for tab in (page, other):
        await record(tab)
    for tab, words in ((page, "First."), (other, "Second.")):
        await stop(tab)
        await expect(field(tab)).to_have_value(words)
    assert len(server.requests) == 2
    assert await page.evaluate(KEPT) == 0


async def test_danger_that_is_said_shows_the_card_as_danger_that_is_typed(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    server.texts = ["Work was fine. I don't want to be alive anymore."]
    page = await open_page(path_of(session))
    await record(page)
    await stop(page)
    await expect(field(page)).to_have_value(server.texts[0])
    await expect(page.locator(".safety-card")).to_have_count(0)
    await field(page).press("Enter")
    await expect(page.locator("#messages .safety-card")).to_be_visible()


async def test_after_ten_minutes_the_recording_ends_and_is_sent_whole(
    open_page: OpenPage, server: TranscriptionServer, session: Session, agreed: User
) -> None:
    server.waits = asyncio.Event()
    page = await open_page(path_of(session))
    await page.evaluate(FAST)
    await microphone(page).click()
    await expect(page.get_by_role("status").filter(has_text="Listening")).to_be_visible()
    hear = "(count) => { for (let n = 0; n < count; n += 1) hear(new Int16Array(160000).fill(9000)); }"
    await page.evaluate(hear, 59)
    await expect(page.locator("[data-voice-time]:visible")).to_have_text("9:50")
    await page.evaluate(hear, 1)
    await expect(page.get_by_text("A recording can have 10 minutes.")).to_be_visible()
    server.waits.set()
    await expect(field(page)).to_have_value("marked words")
    [request] = server.requests
    assert len(request.audio) == HEADER_BYTES + 600 * BYTES_A_SECOND
