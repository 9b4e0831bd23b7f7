"""A model file turns recordings into words here, in a process that ends, one at a time, within limits.

The library is the true one; the model is made for the test and says the same words whatever it hears.
"""

import asyncio
import fcntl
import io
import time
import wave
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from coaching.jobs import voice
from coaching.jobs.voice import transcribe_recording
from coaching.models import DocumentState, DocumentText, Profile, Recording, RecordingState
from coaching.sandbox.host import ProcessHost
from coaching.voice import recogniser
from coaching.voice.recogniser import LIMITS, TOO_LONG, recognise
from coaching.voice.recordings import drop_recording
from coaching.voice.transcriber import BUSY, FAILING, NOT_TAKEN, TOO_SLOW, Segment
from coaching.voice.transcription import can_transcribe, transcription_host
from coaching.voice.words import OTHER_KIND
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import ModelUsage
from tests.jobs.conftest import WorkOff, practice, work_off
from tests.library.pipeline.conftest import fresh, references
from tests.library.pipeline.conftest import model as truthful
from tests.library.pipeline.test_recordings import upload
from tests.recogniser.conftest import WORDS
from tests.recogniser.encoded import recording as encoded
from tests.recogniser.encoded import tone
from tests.voice.conftest import ID, Send
from tests.voice.sounds import recording, tones

__all__ = ["practice", "references", "truthful", "work_off"]

pytestmark = pytest.mark.slow
needs_database = pytest.mark.django_db(transaction=True)
TEN_MINUTES = recording([1000, -1000] * 4_800_000)


async def heard(model: Path, audio: bytes, *, kind: str = "audio/wav", seconds: float = 60.0) -> Any:
    return await recognise(model, audio, content_type=kind, most_seconds=seconds)


async def refusal(model: Path, audio: bytes, **options: Any) -> str:
    with pytest.raises(Refused) as caught:
        await heard(model, audio, **options)
    return str(caught.value)


def is_free(model: Path) -> bool:
    """Whether nobody recognises: a process holds the lock until it ends."""
    with model.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def objects(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def torn(model: Path, tmp_path: Path) -> Path:
    """A model without its end."""
    path = tmp_path / "torn.bin"
    path.write_bytes(model.read_bytes()[:-100_000])
    return path


async def work() -> None:
    for found in await in_database(list, Recording.unscoped.filter(state=RecordingState.WAITING)):
        await transcribe_recording(recording_id=found.pk)


@needs_database
@pytest.mark.usefixtures("disk_storage", "queue")
async def test_a_dictated_recording_becomes_words_here(agreed: User, send: Send, disk_storage: Path) -> None:
    await send(recording())
    await work()
    found = await in_database(Recording.unscoped.get)
    assert (found.state, found.text, found.storage_key) == (RecordingState.DONE, WORDS, "")
    assert not objects(disk_storage)
    assert not await in_database(ModelUsage.unscoped.exists)
    browser = Client()
    await in_database(browser.force_login, agreed)
    page = await in_database(browser.get, "/settings/data/")
    assert page["Permissions-Policy"] == "microphone=(self)"
    assert "Your recording goes to this server, which turns it into words itself." in page.content.decode()


@needs_database
@pytest.mark.usefixtures("disk_storage", "queue", "references", "practice", "truthful")
async def test_a_recording_in_the_library_becomes_a_transcript_here(agreed: User, work_off: WorkOff) -> None:
    await upload(agreed, encoded(tone(3)), "memo.ogg")
    await work_off()
    assert (await in_database(DocumentText.unscoped.get)).text == f"[00:00:00] {WORDS}"


@needs_database
@pytest.mark.usefixtures("disk_storage", "queue", "references", "practice", "truthful")
@pytest.mark.parametrize(
    ("data", "name"),
    [(b"\x1aE\xdf\xa3" + bytes(900), "memo.webm"), (b"\0\0\0\x1cftypM4A " + bytes(900), "memo.m4a")],
)
async def test_a_kind_that_is_not_read_here_is_kept_and_the_page_names_those_that_are(
    agreed: User, work_off: WorkOff, disk_storage: Path, data: bytes, name: str
) -> None:
    document = await upload(agreed, data, name)
    await work_off()
    [document] = await fresh(document)
    assert (document.state, document.reason) == (DocumentState.FAILED, OTHER_KIND)
    assert [path.read_bytes() for path in objects(disk_storage)] == [data]
    browser = Client()
    await in_database(browser.force_login, agreed)
    page = await in_database(browser.get, "/library/")
    assert "Recordings (WAV, MP3 and OGG) become transcripts." in page.content.decode()


@needs_database
@pytest.mark.usefixtures("disk_storage", "queue")
async def test_one_that_needs_too_much_memory_fails_like_a_server_and_is_sent_again(
    agreed: User, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = ProcessHost("coaching.voice.speech_worker", replace(LIMITS, memory_bytes=280 << 20), slots=1)
    await send(recording())
    with monkeypatch.context() as patched:
        patched.setattr(recogniser, "_host", small)
        await work()
    small.close()
    failed = await in_database(Recording.unscoped.get)
    assert failed.state == RecordingState.FAILED
    assert failed.reason in {FAILING, TOO_SLOW}
    await send(recording())
    await work()
    assert (await in_database(Recording.unscoped.get)).text == WORDS


@needs_database
@pytest.mark.usefixtures("disk_storage", "queue")
async def test_discarding_a_recording_ends_its_process(
    agreed: User, send: Send, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voice, "WANTED_SECONDS", 0.05)
    await send(TEN_MINUTES)
    working = asyncio.create_task(work())
    await asyncio.to_thread(wait_until, lambda: not is_free(model))
    await in_database(lambda: drop_recording(user_id=agreed.pk, client_id=ID))
    await working
    await asyncio.to_thread(wait_until, lambda: is_free(model))
    assert not await in_database(Recording.unscoped.exists)


async def test_words_have_times_and_each_half_minute_its_own(model: Path) -> None:
    said = await heard(model, encoded(tone(40), "audio/mpeg"), kind="audio/mpeg")
    assert said.segments[0] == Segment(begins=0.0, ends=2.0, text=WORDS)
    assert [segment.begins for segment in said.segments] == sorted(each.begins for each in said.segments)
    assert 20 < said.segments[-1].begins < 40
    assert said.text == " ".join([WORDS] * len(said.segments))


@pytest.mark.parametrize(
    ("audio", "kind", "sentence"),
    [
        (b"", "audio/wav", NOT_TAKEN),
        (b"ID3" + bytes(9_000), "audio/mpeg", NOT_TAKEN),
        (b"OggS" * 9_000, "audio/ogg", NOT_TAKEN),
    ],
)
async def test_what_is_no_sound_is_said_to_be_unreadable(
    model: Path, audio: bytes, kind: str, sentence: str
) -> None:
    assert await refusal(model, audio, kind=kind) == sentence
    await asyncio.to_thread(wait_until, lambda: is_free(model))


async def test_more_than_an_hour_is_refused_before_it_is_heard(model: Path) -> None:
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(4_000)
        file.writeframes(bytes([128]) * 4_000 * 3_601)
    assert await refusal(model, written.getvalue()) == TOO_LONG


async def test_loud_channels_at_high_rates_are_heard_within_the_limits(model: Path) -> None:
    made = encoded(tone(2, rate=192_000), "audio/wav", codec="PCM_24", rate=192_000, channels=8)
    assert (await heard(model, made)).text == WORDS


async def test_one_that_takes_longer_than_its_sound_allows_is_ended(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recogniser, "STEP_SECONDS", 0.01)
    assert await refusal(model, TEN_MINUTES, seconds=1.0) == TOO_SLOW
    monkeypatch.setattr(recogniser, "LEAST_SECONDS", 0.0)
    assert await refusal(model, recording(tones(0.4))) == TOO_SLOW
    await asyncio.to_thread(wait_until, lambda: is_free(model))


async def test_one_is_heard_at_a_time_and_the_next_when_it_is_done(model: Path) -> None:
    with model.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert await refusal(model, recording(), seconds=0.3) == BUSY
        waiting = [asyncio.create_task(heard(model, recording())) for _ in range(3)]
        await asyncio.sleep(0.3)
        assert not any(task.done() for task in waiting)
    assert [(await task).text for task in waiting] == [WORDS] * 3


async def test_a_caller_that_is_cancelled_ends_the_process(model: Path) -> None:
    hearing = asyncio.create_task(heard(model, TEN_MINUTES))
    await asyncio.to_thread(wait_until, lambda: not is_free(model))
    await asyncio.sleep(0.5)
    began = time.monotonic()
    hearing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing
    await asyncio.to_thread(wait_until, lambda: is_free(model))
    assert time.monotonic() - began < 30
    assert (await heard(model, recording())).text == WORDS


async def test_a_model_that_is_gone_or_broken_since_the_start_is_a_server_that_fails(
    torn: Path,
) -> None:
    assert await refusal(torn.with_name("gone.bin"), recording()) == FAILING
    assert await refusal(torn, recording()) == FAILING


@needs_database
async def test_a_server_wins_over_a_file(agreed: User, settings: Settings) -> None:
    assert (can_transcribe(), transcription_host()) == (True, "localhost")
    settings.SAGE_TRANSCRIBE_URL = "https://api.openai.example"
    assert (can_transcribe(), transcription_host()) == (True, "api.openai.example")
    assert (await in_database(Profile.of(agreed.pk).get)).heard_by != transcription_host(), (
        "that is asked again"
    )
