"""Limits of recordings: length, size, the day's budget, and a wait for which no worker comes."""

import uuid
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from coaching.models import Profile, Recording
from coaching.voice.recordings import LOST_AFTER
from coaching.voice.sound import BYTES_A_SECOND, header_of
from coaching.voice.transcriber import NO_WORDS
from coaching.voice.transcription import transcription_host
from sessions_app.database import in_database
from sessions_app.models import ModelUsage
from tests.voice.conftest import ID, JSON, Send, objects, work
from tests.voice.sounds import recording
from tests.voice.transcription_server import TranscriptionServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("disk_storage", "queue")]

ADDRESS = f"/voice/recordings/{ID}/"
LONGEST = 602 * BYTES_A_SECOND
MOST_BYTES = 25 << 20


def loud(size: int) -> bytes:
    return header_of(size) + b"\0\x20" * (size // 2)


def answer_to(user: User, address: str = "/voice/recordings/", audio: bytes | None = None) -> Any:
    """Ask, or send a recording."""
    browser = Client()
    browser.force_login(user)
    if audio is None:
        return browser.get(address, headers=JSON)
    form = {"id": str(uuid.uuid4()), "audio": SimpleUploadedFile("recording.wav", audio)}
    return browser.post(address, form, headers=JSON)


@pytest.mark.parametrize(
    ("audio", "sentence"),
    [
        (loud(LONGEST), ""),
        (loud(LONGEST + 2), "longer than 10 minutes"),
        (bytes(MOST_BYTES), "couldn’t read this recording"),
        (bytes(MOST_BYTES + 1), "The limit is 25 MB"),
    ],
    ids=["longest", "longer", "largest", "larger"],
)
async def test_ten_minutes_and_25_mb_are_the_most(
    server: TranscriptionServer, agreed: User, audio: bytes, sentence: str
) -> None:
    answer = await in_database(answer_to, agreed, audio=audio)
    assert sentence in answer.json().get("error", "")
    assert answer.status_code == (HTTPStatus.UNPROCESSABLE_ENTITY if sentence else HTTPStatus.ACCEPTED)
    await work()
    assert [len(request.audio) for request in server.requests] == ([] if sentence else [len(audio)])
    assert await in_database(Recording.of(agreed.pk).filter(text="marked words").exists) == (not sentence)


async def test_each_person_has_their_own_three(agreed: User, other_user: User) -> None:
    await in_database(lambda: Profile.unscoped.create(user=other_user, heard_by=transcription_host()))
    for person in (agreed, other_user):
        answers = [await in_database(answer_to, person, audio=recording()) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [202, 202, 202, 429]
    await work()
    assert (await in_database(answer_to, agreed, audio=recording())).status_code == HTTPStatus.ACCEPTED


async def test_a_recording_over_the_budget_is_refused_before_it_is_made_until_the_day_is_over(
    server: TranscriptionServer, agreed: User, other_user: User, settings: Settings, disk_storage: Path
) -> None:
    await in_database(lambda: Profile.unscoped.create(user=other_user, heard_by=transcription_host()))
    settings.SAGE_DAILY_TOKENS = 30
    server.usage = {"type": "tokens", "input_tokens": 12, "output_tokens": 3}
    for _ in range(2):
        assert (await in_database(answer_to, agreed)).json() == {"state": "ready"}
        assert (await in_database(answer_to, agreed, audio=recording())).status_code == HTTPStatus.ACCEPTED
        await work()
    for audio in (None, recording()):
        refused = await in_database(answer_to, agreed, audio=audio)
        assert refused.status_code == HTTPStatus.TOO_MANY_REQUESTS
        assert refused.json()["error"].startswith(
            "Today’s budget is used up. More will be available in about"
        )
        assert refused["Retry-After"] == str(24 * 3600)
    assert (await in_database(answer_to, other_user, audio=recording())).status_code == HTTPStatus.ACCEPTED
    await work()
    assert len(server.requests) == 3
    assert objects(disk_storage) == []

    def let_pass(hours: int) -> None:
        oldest = ModelUsage.of(agreed.pk).order_by("id")[:1]
        ModelUsage.of(agreed.pk).filter(id__in=oldest.values("id")).update(
            created_at=timezone.now() - timedelta(hours=hours)
        )

    await in_database(let_pass, 23)
    assert (await in_database(answer_to, agreed)).status_code == HTTPStatus.TOO_MANY_REQUESTS
    await in_database(let_pass, 25)
    assert (await in_database(answer_to, agreed, audio=recording())).status_code == HTTPStatus.ACCEPTED


async def test_nobody_is_asked_to_speak_who_hasnt_agreed(server: TranscriptionServer, user: User) -> None:
    assert (await in_database(answer_to, user)).status_code == HTTPStatus.UNPROCESSABLE_ENTITY


async def test_a_recording_that_no_worker_takes_says_so_and_is_written_down_once_one_comes(
    server: TranscriptionServer, agreed: User, send: Send
) -> None:
    await send(recording())
    assert (await in_database(answer_to, agreed, ADDRESS)).json() == {"id": ID, "state": "waiting"}
    await in_database(lambda: Recording.unscoped.update(made_at=timezone.now() - 2 * LOST_AFTER))
    late = {"id": ID, "state": "waiting", "is_late": True}
    assert (await in_database(answer_to, agreed, ADDRESS)).json() == late
    assert (await send(recording())).json() == late, "it is sent again after a reload"

    def run(*, seconds_ago: int) -> None:
        with connection.cursor() as cursor:
            beat = timezone.now() - timedelta(seconds=seconds_ago)
            cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (%s)", [beat])
            cursor.execute("UPDATE procrastinate_jobs SET status = 'doing', worker_id = lastval()")

    await in_database(lambda: run(seconds_ago=1))
    assert "is_late" not in (await in_database(answer_to, agreed, ADDRESS)).json()
    await in_database(lambda: run(seconds_ago=300))
    assert (await in_database(answer_to, agreed, ADDRESS)).json() == late, "its worker was lost"
    await work()
    await work()
    assert (await in_database(answer_to, agreed, ADDRESS)).json()["text"] == "marked words"
    assert len(server.requests) == 1


async def test_a_recording_that_no_worker_takes_can_be_taken_back(
    server: TranscriptionServer, agreed: User, send: Send, disk_storage: Path
) -> None:
    await send(recording())
    browser = Client()
    await in_database(browser.force_login, agreed)
    await in_database(browser.post, ADDRESS)
    assert objects(disk_storage) == []
    await work()
    assert server.requests == []


@pytest.mark.parametrize("noise", ["", "[noise]", "(wind) [music]\n[BLANK_AUDIO].", "♪♪", "..."])
async def test_noise_alone_is_said_to_be_no_words(
    server: TranscriptionServer, agreed: User, send: Send, noise: str
) -> None:
    server.texts = [noise]
    await send(recording())
    await work()
    said = (await in_database(answer_to, agreed, ADDRESS)).json()
    assert said == {"id": ID, "state": "failed", "error": NO_WORDS}


@pytest.mark.parametrize(
    "words", ["(laughs) I called my mother", "[not a mark", "No.", "(one) two (three)", "我很好"]
)
async def test_words_beside_marks_stay(
    server: TranscriptionServer, agreed: User, send: Send, words: str
) -> None:
    server.texts = [words]
    await send(recording())
    await work()
    assert (await in_database(answer_to, agreed, ADDRESS)).json()["text"] == words
