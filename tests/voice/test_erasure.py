"""No byte of a recording is left once it is words, cancelled, deleted or old: on disk, in S3, in backups."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import storages
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from coaching.files.garbage import collect_garbage
from coaching.jobs.voice import transcribe_recording
from coaching.library.documents.filing import delete_document
from coaching.library.documents.intake import destination_of, take_in
from coaching.models import Recording
from coaching.personal_data.removal import remove_person
from coaching.voice.recordings import (
    KEPT,
    LOST_AFTER,
    current_recording,
    drop_recording,
    erase_old_recordings,
    take_recording,
)
from sage.backups.contents import opened
from sage.backups.taking import take_backup
from sessions_app.database import in_database
from tests.backups.conftest import place
from tests.files.conftest import each_storage, s3_server, s3_storage
from tests.jobs.conftest import empty_queue
from tests.voice.conftest import ID, Send
from tests.voice.sounds import recording
from tests.voice.transcription_server import TranscriptionServer

__all__ = ["each_storage", "place", "s3_server", "s3_storage"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]

SOUND = recording()
PART = SOUND[4000:5000]
"""A second of sound that nothing else has."""


def stored_bytes() -> Iterator[bytes]:
    """Yield all that the storage holds, old versions too."""
    storage: Any = storages["default"]
    if hasattr(storage, "location") and Path(storage.location).is_absolute():
        yield from (path.read_bytes() for path in Path(storage.location).rglob("*") if path.is_file())
        return
    client = storage.connection.meta.client
    for each in client.list_object_versions(Bucket=storage.bucket_name).get("Versions", ()):
        which = {"Bucket": storage.bucket_name, "Key": each["Key"], "VersionId": each["VersionId"]}
        yield client.get_object(**which)["Body"].read()


def is_stored(part: bytes) -> bool:
    return any(part in each for each in stored_bytes())


def keep_versions() -> None:
    """Let a bucket keep what is deleted or replaced, as operators may have set it."""
    storage: Any = storages["default"]
    if hasattr(storage, "bucket_name"):
        storage.connection.meta.client.put_bucket_versioning(
            Bucket=storage.bucket_name, VersioningConfiguration={"Status": "Enabled"}
        )


def found() -> Recording:
    return Recording.unscoped.get()


async def write_down(_server: TranscriptionServer, _user: User) -> None:
    await transcribe_recording(recording_id=(await in_database(found)).pk)


async def fail(server: TranscriptionServer, user: User) -> None:
    server.status = 500
    await write_down(server, user)


async def cancel(_server: TranscriptionServer, user: User) -> None:
    browser = Client()
    await in_database(browser.force_login, user)
    await in_database(browser.post, f"/voice/recordings/{ID}/")


async def lose_job(_server: TranscriptionServer, user: User) -> None:
    await in_database(empty_queue)
    await in_database(lambda: Recording.unscoped.update(made_at=timezone.now() - 2 * LOST_AFTER))
    await in_database(lambda: current_recording(user_id=user.pk, client_id=ID))


async def wait_a_day(_server: TranscriptionServer, _user: User) -> None:
    await in_database(lambda: erase_old_recordings(now=timezone.now() + KEPT + timedelta(minutes=1)))


async def delete_account(_server: TranscriptionServer, user: User) -> None:
    await remove_person(user.pk)


async def delete_account_meanwhile(server: TranscriptionServer, user: User) -> None:
    server.waits = asyncio.Event()
    working = asyncio.ensure_future(write_down(server, user))
    await server.begun.wait()
    await remove_person(user.pk)
    server.waits.set()
    await working


@pytest.mark.usefixtures("each_storage")
@pytest.mark.parametrize(
    "end", [write_down, fail, cancel, lose_job, wait_a_day, delete_account, delete_account_meanwhile]
)
async def test_nothing_of_what_was_dictated_is_left(
    server: TranscriptionServer,
    agreed: User,
    send: Send,
    settings: Settings,
    tmp_path: Path,
    end: Callable[[TranscriptionServer, User], Awaitable[None]],
) -> None:
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    settings.FILE_UPLOAD_TEMP_DIR, settings.FILE_UPLOAD_MAX_MEMORY_SIZE = str(uploads), 1000
    await in_database(keep_versions)
    await send(SOUND)
    assert await in_database(is_stored, PART)
    assert list(uploads.iterdir()) == []
    await end(server, agreed)
    assert not await in_database(is_stored, PART)


@pytest.mark.usefixtures("each_storage")
def test_a_deleted_recording_of_the_library_is_gone_with_the_next_collection(user: User) -> None:
    keep_versions()
    destination = destination_of(user_id=user.pk)
    document = take_in(user_id=user.pk, name="memo.wav", data=SOUND, destination=destination)
    delete_document(user_id=user.pk, document_id=document.pk)
    collect_garbage(now=timezone.now() + timedelta(hours=2))
    assert not is_stored(PART)


def archived(path: Path) -> bytes:
    """Return all members of an encrypted backup, one after another."""
    with opened(path) as members:
        found: list[bytes] = []
        for member in members:
            found += [member.name.encode(), *member.pieces()]
        return b"".join(found)


@pytest.mark.slow
def test_the_next_backup_has_nothing_of_what_was_erased(place: SimpleNamespace, settings: Settings) -> None:
    settings.SAGE_BACKUP_KEY = bytes(range(32))
    user = User.objects.create_user("ada")
    sounds = [SOUND[:44] + bytes([number, 1]) + SOUND[46:] for number in (2, 3, 4)]
    ids = [str(uuid.uuid4()) for _ in sounds[1:]]
    destination = destination_of(user_id=user.pk)
    document = take_in(user_id=user.pk, name="memo.wav", data=sounds[0], destination=destination)
    for client_id, sound in zip(ids, sounds[1:], strict=True):
        take_recording(user_id=user.pk, client_id=client_id, data=sound)
    keys = [*Recording.unscoped.values_list("storage_key", flat=True), document.storage_key or "none"]
    before = archived(take_backup(place.folder / "one.tar").path)
    assert before.count(PART) == len(keys)
    drop_recording(user_id=user.pk, client_id=ids[0])
    erase_old_recordings(now=timezone.now() + KEPT + timedelta(minutes=1))
    delete_document(user_id=user.pk, document_id=document.pk)
    after = archived(take_backup(place.folder / "two.tar").path)
    assert PART not in after
    assert not [key for key in keys if key.encode() in after]
