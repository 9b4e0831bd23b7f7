"""A transcription server in the settings, and somebody who has agreed to it."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from coaching.jobs.voice import transcribe_recording
from coaching.models import Profile, Recording, RecordingState
from coaching.people.attempts import AttemptLimit
from coaching.voice import recordings
from coaching.voice.transcription import transcription_host
from sessions_app.database import in_database
from tests.files.conftest import disk_storage
from tests.jobs.conftest import queue
from tests.voice.transcription_server import TranscriptionServer, transcription_server

__all__ = ["disk_storage", "queue"]

JSON = {"Accept": "application/json"}
ID = "6f1c0c1e-7f58-4f0e-9d55-0c4b1b8a9a01"
KEY = "the key of the server"

Send = Callable[..., Any]


def objects(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def work() -> None:
    """Turn all recordings that wait into words."""
    for found in await in_database(list, Recording.unscoped.filter(state=RecordingState.WAITING)):
        await transcribe_recording(recording_id=found.pk)


@pytest.fixture(autouse=True)
def fresh_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of another process: tests share this one's."""
    monkeypatch.setattr(recordings, "taken", AttemptLimit(attempts=60, seconds=600))


@pytest.fixture
async def server(settings: Settings) -> AsyncIterator[TranscriptionServer]:
    """The transcription server of this process."""
    async with transcription_server() as server:
        settings.SAGE_TRANSCRIBE_URL = server.url
        settings.SAGE_TRANSCRIBE_KEY = KEY
        yield server


@pytest.fixture
def agreed(user: User, server: TranscriptionServer) -> User:
    """A person who has agreed to the server."""
    Profile.unscoped.create(user=user, name="Ada", heard_by=transcription_host())
    return user


@pytest.fixture
def send(user: User) -> Send:
    """Send a recording, as the page's script does."""
    browser = Client()

    async def send(audio: bytes, *, client_id: str = ID) -> Any:
        form = {"id": client_id, "audio": SimpleUploadedFile("recording.wav", audio)}
        return await in_database(browser.post, "/voice/recordings/", form, headers=JSON)

    browser.force_login(user)
    return send
