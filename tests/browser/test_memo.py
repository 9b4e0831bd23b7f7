"""A memo of three people in the library: a transcript, what was promised, and its sound at the sentence."""

import json
from array import array
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from django.test import override_settings
from playwright.async_api import Page, expect

from coaching.jobs.worker import JobWorker
from coaching.library.documents.intake import destination_of, take_in
from coaching.library.references.files import sync_reference_files
from coaching.models import ActionItem, Document, DocumentState, DocumentText, Profile
from coaching.practice import PracticeServer
from coaching.voice.sound import RATE
from sessions_app.database import in_database
from tests.browser.dictating import until_true
from tests.browser.fixtures import Watcher
from tests.browser.page_layout import NARROW, layout_faults
from tests.browser.test_accessibility import serious_findings
from tests.jobs.conftest import empty_queue
from tests.library.pipeline.truth import TruthfulModel
from tests.live_sage import LiveSage
from tests.voice.sounds import wav_file
from tests.voice.speech import require_speech, spoken
from tests.voice.transcription_server import TranscriptionServer, transcription_server

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SAID = (
    ("en-gb", "Ada: Thanks for joining, can everybody hear me? The recording is on."),
    ("en-us+f3", "Ben: I'll book the electrician by Friday."),
    ("en-gb-scotland", "Chloe: We agreed to renew the lease."),
)
PAUSE = 3 * RATE
NAME = "memo.wav"


@pytest_asyncio.fixture(loop_scope="session")
async def server(live_sage: LiveSage) -> AsyncIterator[TranscriptionServer]:
    """A transcription server, a model that knows what the memo is, and a worker that asks both."""
    await in_database(empty_queue)
    await in_database(sync_reference_files)
    model = TruthfulModel(types={NAME: "call-transcript"})
    async with (
        transcription_server() as server,
        PracticeServer(keeps_bodies=True, tokens_per_second=0, answer=model.answer) as practice,
    ):
        values = {"ANTHROPIC_BASE_URL": practice.url, "ANTHROPIC_API_KEY": "practice"}
        with override_settings(IS_PRACTICE_MODEL=False, SAGE_TRANSCRIBE_URL=server.url, **values):
            async with JobWorker():
                yield server
    await in_database(empty_queue)


def memo() -> tuple[bytes, list[float]]:
    """Return three voices one after another, and the seconds at which each begins."""
    samples, begins = array("h"), []
    for voice, words in SAID:
        begins.append(len(samples) / RATE)
        samples += spoken(words.partition(": ")[2], voice=voice) + array("h", [0]) * PAUSE
    return wav_file(samples, rate=RATE), begins


def take(user: User, data: bytes, server: TranscriptionServer) -> Document:
    """Take it in, for somebody who has agreed to the server."""
    heard_by = server.url.removeprefix("http://")
    Profile.unscoped.create(user=user, name="Ada", heard_by=heard_by, timezone="Europe/Berlin")
    return take_in(user_id=user.pk, name=NAME, data=data, destination=destination_of(user_id=user.pk))


async def test_a_memo_of_three_people_is_played_from_the_sentence_of_what_was_promised(
    page: Page, user: User, server: TranscriptionServer, watcher: Watcher
) -> None:
    require_speech()
    data, begins = memo()
    parts = [
        {"start": begin, "end": begin + 2, "text": words}
        for begin, (_, words) in zip(begins, SAID, strict=True)
    ]
    server.body = json.dumps({"text": " ".join(words for _, words in SAID), "segments": parts})
    document = await in_database(take, user, data, server)
    promised = ActionItem.of(user.pk).filter(document=document)
    await until_true(lambda: promised.exists() and Document.of(user.pk).get().state == DocumentState.FILED)
    [request] = server.requests
    assert request.audio == data
    lines = (await in_database(DocumentText.unscoped.get)).text.splitlines()
    assert lines == [
        f"[00:00:{int(begin):02}] {words}" for begin, (_, words) in zip(begins, SAID, strict=True)
    ]
    action = await in_database(promised.get)
    assert "electrician" in action.title
    assert action.quote in lines[1]
    await page.goto(f"/library/documents/{document.pk}/?step={action.pk}#viewer")
    await expect(page.locator("#viewer mark").first).to_contain_text("electrician")
    sound = page.locator("#viewer audio")
    await expect(sound).to_have_js_property("readyState", 4)
    seconds, at = await sound.evaluate("(sound) => [sound.duration, sound.currentTime]")
    assert abs(seconds - (len(data) - 44) / 2 / RATE) < 0.1
    assert at == int(begins[1])
    await sound.focus()
    await page.keyboard.press("Space")
    await expect(sound).to_have_js_property("paused", value=False)
    assert await serious_findings(page) == []
    assert await layout_faults(page, NARROW) == []
    assert watcher.faults == []
