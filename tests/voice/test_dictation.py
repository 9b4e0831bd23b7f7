"""A recording becomes words: once, in the order it was sent, and nothing of it stays."""

import asyncio
import uuid
from array import array
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob
from pytest_django import Settings

from coaching.job_queue.names import RECORDING_JOB, VOICE_QUEUE
from coaching.jobs.worker import JobWorker
from coaching.models import Profile, Recording, RecordingState
from coaching.voice import transcriber
from coaching.voice.recordings import (
    AT_ONCE,
    BROKEN_OFF,
    KEPT,
    LOST_AFTER,
    NOT_AGREED,
    erase_old_recordings,
)
from coaching.voice.sound import BYTES_A_SECOND, header_of
from coaching.voice.transcriber import NO_WORDS, TOO_SLOW, UNREACHED
from coaching.voice.transcription import transcription_host, transcription_url
from sessions_app.database import in_database
from sessions_app.models import ModelUsage, UsagePurpose
from tests.live_sage import free_port
from tests.voice.conftest import ID, JSON, KEY, Send, objects, work
from tests.voice.sounds import recording, tones
from tests.voice.transcription_server import TranscriptionServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("disk_storage", "queue")]

ADDRESS = f"/voice/recordings/{ID}/"


def state_of(user: User) -> Any:
    browser = Client()
    browser.force_login(user)
    return browser.get(ADDRESS, headers=JSON)


async def test_a_recording_becomes_words_and_is_erased(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path
) -> None:
    server.texts = ["  I called\n my mother. "]
    sound = recording()
    answer = await send(sound)
    assert (answer.status_code, answer.json()) == (HTTPStatus.ACCEPTED, {"id": ID, "state": "waiting"})
    assert len(objects(disk_storage)) == 1
    job = await in_database(ProcrastinateJob.objects.get)
    assert (job.task_name, job.queue_name) == (RECORDING_JOB, VOICE_QUEUE)
    await work()
    [request] = server.requests
    assert request.audio == sound, "nothing is added and nothing is missing"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.form == {"model": "whisper-1", "response_format": "json"}
    said = await in_database(state_of, agreed)
    assert said.json() == {"id": ID, "state": "done", "text": "I called my mother."}
    assert objects(disk_storage) == []
    browser = Client()
    await in_database(browser.force_login, agreed)
    assert (await in_database(browser.post, ADDRESS)).status_code == HTTPStatus.NO_CONTENT
    assert not await in_database(Recording.unscoped.exists)
    assert (await in_database(browser.post, ADDRESS)).status_code == HTTPStatus.NOT_FOUND


async def test_a_long_recording_reaches_the_server_whole(
    server: TranscriptionServer, agreed: User, send: Send
) -> None:
    sound = recording(tones(1) * 40)
    await send(sound)
    await work()
    assert [request.audio for request in server.requests] == [sound]


async def test_a_recording_that_is_sent_again_is_the_same_one(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path
) -> None:
    sound = recording()
    answers = await asyncio.gather(*(send(sound) for _ in range(4)))
    assert {answer.status_code for answer in answers} == {HTTPStatus.ACCEPTED}
    assert len(objects(disk_storage)) == 1
    assert await in_database(ProcrastinateJob.objects.count) == 1
    await work()
    again = await send(sound)
    assert (again.status_code, again.json()["text"]) == (HTTPStatus.OK, "marked words")
    assert len(server.requests) == 1
    assert objects(disk_storage) == []


async def test_another_sound_under_the_same_id_is_written_down_too(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path
) -> None:
    """A page that has lost the end of its recording sends less of it than before."""
    server.texts = ["First and last.", "First.", "First."]
    sound, shorter = recording(tones(2)), recording(tones(1))
    await send(sound)
    answers = await asyncio.gather(*(send(shorter) for _ in range(3)))
    [own_id] = {answer.json()["id"] for answer in answers}
    assert own_id != ID
    await work()
    assert [request.audio for request in server.requests] == [sound, shorter]
    assert (await in_database(state_of, agreed)).json()["text"] == "First and last."
    assert (await send(sound)).json() == {"id": ID, "state": "done", "text": "First and last."}
    assert (await send(shorter)).json() == {"id": own_id, "state": "done", "text": "First."}
    assert len(server.requests) == 2
    assert objects(disk_storage) == []


@pytest.mark.parametrize("is_erased", [False, True], ids=["failed", "erased"])
async def test_the_words_of_another_sound_are_given_again_after_the_first_one_failed_or_is_erased(
    server: TranscriptionServer, agreed: User, send: Send, is_erased: bool
) -> None:
    """Nothing is transcribed, and paid for, twice because a line was lost."""
    server.texts = ["First and last.", "First."]
    sound, shorter = recording(tones(2)), recording(tones(1))
    await send(sound)
    own_id = (await send(shorter)).json()["id"]
    await work()
    first = Recording.of(agreed.pk).filter(client_id=ID)
    await in_database(first.delete if is_erased else lambda: first.update(state=RecordingState.FAILED))
    assert (await send(shorter)).json() == {"id": own_id, "state": "done", "text": "First."}
    await work()
    assert len(server.requests) == 2


async def test_another_sound_after_a_failure_takes_the_id(
    server: TranscriptionServer, agreed: User, send: Send
) -> None:
    server.status = HTTPStatus.BAD_REQUEST
    await send(recording(tones(2)))
    await work()
    assert (await in_database(state_of, agreed)).json()["state"] == "failed"
    server.status, shorter = HTTPStatus.OK, recording(tones(1))
    assert (await send(shorter)).json() == {"id": ID, "state": "waiting"}
    await work()
    assert server.requests[-1].audio == shorter


async def test_what_the_server_counts_is_stored_and_what_it_doesnt_say_is_not(
    server: TranscriptionServer, agreed: User, send: Send
) -> None:
    await send(recording())
    await work()
    assert not await in_database(ModelUsage.unscoped.exists)
    for usage in (
        {"type": "duration", "seconds": 7},
        {"type": "tokens", "input_tokens": 14, "output_tokens": 3},
    ):
        server.usage = usage
        await send(recording(), client_id=str(uuid.uuid4()))
        await work()
    rows = await in_database(list, ModelUsage.of(agreed.pk).order_by("id"))
    counted = [(row.purpose, row.input_tokens, row.output_tokens, row.audio_seconds) for row in rows]
    assert counted == [(UsagePurpose.VOICE, 0, 0, 7), (UsagePurpose.VOICE, 14, 3, None)]
    assert {(row.model, row.cost_micro_usd) for row in rows} == {("whisper-1", None)}
    browser = Client()
    await in_database(browser.force_login, agreed)
    page = await in_database(browser.get, "/settings/usage/")
    assert "Dictation" in page.content.decode()


@pytest.mark.parametrize(
    ("sound", "sentence"),
    [
        (recording(array("h", [0] * 8000)), "Nothing can be heard"),
        (b"not audio at all", "couldn’t read this recording"),
        (header_of(611 * BYTES_A_SECOND) + bytes(611 * BYTES_A_SECOND), "longer than 10 minutes"),
        (bytes((25 << 20) + 1), "25.0 MB. The limit is 25 MB"),
    ],
    ids=["silent", "no audio", "too long", "too big"],
)
async def test_what_cant_be_written_down_is_refused_with_a_sentence(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path, sound: bytes, sentence: str
) -> None:
    answer = await send(sound)
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert sentence in answer.json()["error"]
    assert objects(disk_storage) == []
    assert not await in_database(Recording.unscoped.exists)


async def test_three_recordings_of_a_person_are_written_down_at_once(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path
) -> None:
    names = [str(uuid.uuid4()) for _ in range(AT_ONCE + 3)]
    answers = await asyncio.gather(*(send(recording(), client_id=name) for name in names))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [HTTPStatus.ACCEPTED] * AT_ONCE + [HTTPStatus.TOO_MANY_REQUESTS] * 3
    refused = next(answer for answer in answers if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS)
    assert "still writing down 3 of your recordings" in refused.json()["error"]
    assert refused["Retry-After"] == "10"
    assert len(objects(disk_storage)) == AT_ONCE
    await work()
    assert (await send(recording(), client_id=names[-1])).status_code in (HTTPStatus.OK, HTTPStatus.ACCEPTED)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"status": 401}, transcriber.NOT_ALLOWED),
        ({"status": 413}, transcriber.TOO_LARGE),
        ({"status": 429}, transcriber.BUSY),
        ({"status": 400}, transcriber.NOT_TAKEN),
        ({"status": 500}, transcriber.FAILING),
        ({"status": 307}, transcriber.FAILING),
        ({"body": "<html>", "content_type": "text/html"}, transcriber.FAILING),
        ({"body": "[" * 100_000}, transcriber.FAILING),
        ({"body": '{"text": 7}'}, transcriber.FAILING),
        ({"body": "x" * ((1 << 20) + 1)}, UNREACHED),
        ({"texts": ["[BLANK_AUDIO]"]}, NO_WORDS),
        ({"texts": [" "]}, NO_WORDS),
    ],
    ids=["key", "large", "busy", "unreadable", "broken", "redirect", "page", "nested", "number", "endless",
         "mark", "no words"],
)  # fmt: skip
async def test_a_fault_of_the_server_is_a_sentence_and_the_recording_can_be_sent_again(
    server: TranscriptionServer,
    agreed: User,
    send: Send,
    disk_storage: Path,
    fault: dict[str, Any],
    sentence: str,
) -> None:
    for name, value in fault.items():
        setattr(server, name, value)
    await send(recording())
    await work()
    assert (await in_database(state_of, agreed)).json() == {"id": ID, "state": "failed", "error": sentence}
    assert objects(disk_storage) == []
    server.status, server.body, server.content_type, server.texts = 200, None, "application/json", ["Now."]
    assert (await send(recording())).status_code == HTTPStatus.ACCEPTED
    await work()
    assert (await in_database(state_of, agreed)).json()["text"] == "Now."


async def test_a_server_that_is_down_or_never_answers_is_a_sentence(
    server: TranscriptionServer, agreed: User, send: Send, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcriber, "LEAST_SECONDS", 0.2)
    server.waits = asyncio.Event()
    await send(recording())
    await work()
    assert (await in_database(state_of, agreed)).json()["error"] == TOO_SLOW
    await send(recording())
    settings.SAGE_TRANSCRIBE_URL = f"http://127.0.0.1:{free_port()}"
    await in_database(lambda: Profile.of(agreed.pk).update(heard_by=transcription_host()))
    await work()
    assert (await in_database(state_of, agreed)).json()["error"] == UNREACHED


async def test_plain_text_and_unstorable_characters_are_words(
    server: TranscriptionServer, agreed: User, send: Send
) -> None:
    server.body, server.content_type = "Grüße\x00 an alle", "text/plain"
    await send(recording())
    await work()
    assert (await in_database(state_of, agreed)).json()["text"] == "Grüße\ufffd an alle"


async def test_nobody_is_heard_before_they_have_agreed_to_who_hears_them(
    server: TranscriptionServer, user: User, send: Send, settings: Settings
) -> None:
    assert (await send(recording())).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    browser = Client()
    await in_database(browser.force_login, user)
    page = (await in_database(browser.get, "/")).content.decode()
    host = server.url.removeprefix("http://")
    assert f'name="hearer" value="{host}"' in page
    assert "data-agreed" not in page
    other = await in_database(browser.post, "/voice/hearer/", {"hearer": "elsewhere.example"})
    assert other.status_code == HTTPStatus.BAD_REQUEST
    agreed = await in_database(browser.post, "/voice/hearer/", {"hearer": host}, headers=JSON)
    assert agreed.status_code == HTTPStatus.NO_CONTENT
    assert "data-agreed" in (await in_database(browser.get, "/")).content.decode()
    assert (await send(recording())).status_code == HTTPStatus.ACCEPTED
    settings.SAGE_TRANSCRIBE_URL = "https://api.openai.example/v1"
    assert (
        await send(recording(), client_id=str(uuid.uuid4()))
    ).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = (await in_database(browser.get, "/settings/data/")).content.decode()
    assert "<strong>api.openai.example</strong>" in page
    back = await in_database(browser.post, "/voice/hearer/", {"hearer": ""})
    assert back["Location"] == "/settings/data/#voice-setting"
    assert (await in_database(Profile.of(user.pk).get)).heard_by == ""


async def test_without_a_server_there_is_no_microphone(user: User, settings: Settings) -> None:
    settings.SAGE_TRANSCRIBE_URL = ""
    browser = Client()
    await in_database(browser.force_login, user)
    page = await in_database(browser.get, "/")
    assert page["Permissions-Policy"] == "microphone=()"
    assert 'id="voice' not in page.content.decode()
    settings.SAGE_TRANSCRIBE_URL = "http://localhost:9000"
    page = await in_database(browser.get, "/")
    assert page["Permissions-Policy"] == "microphone=(self)"
    assert 'id="voice"' in page.content.decode()


@pytest.mark.parametrize(
    "url",
    ["http://hears.example", "http://hears.example/v1/", "http://hears.example/v1/audio/transcriptions"],
)
def test_the_setting_may_name_the_server_or_its_whole_address(url: str, settings: Settings) -> None:
    settings.SAGE_TRANSCRIBE_URL = url
    assert transcription_url() == "http://hears.example/v1/audio/transcriptions"
    assert transcription_host() == "hears.example"


async def test_a_recording_whose_page_never_comes_back_is_erased_within_a_day(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path
) -> None:
    await send(recording())
    now = timezone.now()
    assert await in_database(erase_old_recordings, now=now + KEPT - timedelta(minutes=1)) == 0
    assert await in_database(erase_old_recordings, now=now + KEPT + timedelta(minutes=1)) == 1
    assert KEPT + timedelta(hours=6) < timedelta(hours=24)
    assert objects(disk_storage) == []
    await work()
    assert server.requests == []


async def test_a_recording_that_was_cancelled_while_it_is_heard_leaves_nothing(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path
) -> None:
    server.waits = asyncio.Event()
    await send(recording(tones(1)))
    working = asyncio.ensure_future(work())
    await server.begun.wait()
    browser = Client()
    await in_database(browser.force_login, agreed)
    await in_database(browser.post, ADDRESS)
    server.waits.set()
    await working
    assert not await in_database(Recording.unscoped.exists)
    assert objects(disk_storage) == []


async def test_a_recording_whose_job_is_lost_has_failed_and_can_be_sent_again(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path
) -> None:
    ids = [ID, *(str(uuid.uuid4()) for _ in range(AT_ONCE - 1))]
    for client_id in ids:
        await send(recording(), client_id=client_id)
    long_ago = timezone.now() - 2 * LOST_AFTER
    await in_database(lambda: Recording.unscoped.update(made_at=long_ago))
    assert (await in_database(state_of, agreed)).json()["state"] == "waiting", "its job is there"
    await in_database(lambda: ProcrastinateJob.objects.filter(status="todo").update(status="failed"))
    said = (await in_database(state_of, agreed)).json()
    assert (said["state"], said["error"]) == ("failed", BROKEN_OFF)
    assert len(objects(disk_storage)) == AT_ONCE - 1
    assert (await send(recording())).status_code == HTTPStatus.ACCEPTED, "lost ones take nobody's turn"
    again = await send(recording(), client_id=ids[1])
    assert again.json()["state"] == "waiting"
    await work()
    assert (await in_database(state_of, agreed)).json()["text"] == "marked words"


async def test_what_waits_isnt_sent_to_a_server_to_which_its_person_hasnt_agreed(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path
) -> None:
    await send(recording())
    await in_database(lambda: Profile.of(agreed.pk).update(heard_by="elsewhere.example"))
    await work()
    assert server.requests == []
    assert (await in_database(state_of, agreed)).json()["error"] == NOT_AGREED
    assert objects(disk_storage) == []


async def test_a_worker_has_slots_for_recordings_alone(
    server: TranscriptionServer, agreed: User, send: Send
) -> None:
    await send(recording())
    async with JobWorker(), asyncio.timeout(60):
        while (await in_database(state_of, agreed)).json()["state"] == "waiting":  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.05)
    assert (await in_database(state_of, agreed)).json()["text"] == "marked words"
