"""`/settings/import/`: an upload becomes a job, the page says what came of it, and an undo takes it back."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client, override_settings

from coaching.files.objects import OBJECTS_PREFIX, ObjectStorage
from coaching.job_queue.names import BRIEF_JOB, BULK_QUEUE, IMPORT_JOB
from coaching.jobs.tasks import collect_file_garbage
from coaching.legacy.endings import BROKEN_OFF, UNDO_BROKEN_OFF
from coaching.legacy.importers.source import NOT_JSON_OR_ZIP
from coaching.legacy.imports import begin_undo, job_steps
from coaching.legacy.one_at_a_time import BUSY
from coaching.legacy.undoing import EDITED
from coaching.models import Import, ImportState, UserFile
from coaching.views import imports
from sage.clients import uploader_of
from sessions_app.database import in_database
from sessions_app.models import Session, SessionBrief
from tests.browsers import browser_of
from tests.jobs.conftest import WorkOff, empty_queue, jobs_named
from tests.legacy.exports import chatgpt_conversation, write_sage_export
from tests.legacy.test_import_command import rows_of, run_import

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]

ADDRESS = "/settings/import/"


@pytest.fixture
def export(tmp_path: Path) -> bytes:
    path = write_sage_export(tmp_path / "export.json", sessions=6, messages=36, files=2, ratings=2)
    return path.read_bytes()


def upload(client: Client, data: bytes, name: str = "export.json") -> HttpResponse:
    response: HttpResponse = client.post(ADDRESS, {"file": SimpleUploadedFile(name, data)})  # type: ignore[assignment]
    return response


def page(client: Client) -> str:
    return client.get(ADDRESS).content.decode()


def stored_objects(user: User) -> list[str]:
    storage = storages["default"]
    assert isinstance(storage, ObjectStorage)
    return [each.key for each in storage.list_objects(f"{OBJECTS_PREFIX}{user.pk}/")]


async def test_an_upload_is_imported_by_a_job_and_undone_by_another(
    signed_in: Client, user: User, export: bytes, work_off: WorkOff
) -> None:
    response = await in_database(upload, signed_in, export, "my <b>export</b>.json")
    assert (response.status_code, response["Location"]) == (302, ADDRESS)
    waiting = await in_database(page, signed_in)
    assert "Waiting to start." in waiting
    assert 'http-equiv="refresh"' in waiting
    assert "<b>export" not in waiting
    key = (await in_database(Import.of(user.pk).get)).storage_key
    assert [job.queue_name for job in await jobs_named(IMPORT_JOB)] == [BULK_QUEUE]

    await work_off()
    shown = await in_database(page, signed_in)
    assert "6 conversations, 36 messages" in shown
    assert 'http-equiv="refresh"' not in shown
    row = await in_database(Import.of(user.pk).get)
    assert (row.state, row.storage_key) == (ImportState.FINISHED, "")
    assert key.startswith(f"users/{user.pk}/")

    undone = await in_database(signed_in.post, f"{ADDRESS}{row.pk}/undo/")
    assert undone.status_code == 302
    await work_off()
    assert "Undone" in await in_database(page, signed_in)
    assert not await in_database(Session.of(user.pk).exists)
    assert not await in_database(UserFile.of(user.pk).exists)


async def test_a_file_that_is_no_export_fails_with_a_sentence(
    signed_in: Client, user: User, work_off: WorkOff
) -> None:
    await in_database(upload, signed_in, b"%PDF-1.7")
    await work_off()
    assert NOT_JSON_OR_ZIP in await in_database(page, signed_in)
    row = await in_database(Import.of(user.pk).get)
    assert (row.state, row.storage_key) == (ImportState.FAILED, "")


def test_a_second_upload_waits_for_the_first(signed_in: Client, user: User, export: bytes) -> None:
    upload(signed_in, export)
    refused = upload(signed_in, export + b"\n")
    assert refused.status_code == 422
    assert BUSY in refused.content.decode()
    # The same file again is an answer that was lost: its import goes on.
    assert upload(signed_in, export, "again.json").status_code == 302
    assert Import.of(user.pk).get().file_name == "export.json"


async def test_an_import_that_broke_off_goes_on_when_its_file_is_sent_again(
    signed_in: Client, user: User, other_user: User, export: bytes, work_off: WorkOff, tmp_path: Path
) -> None:
    await in_database(upload, signed_in, export)
    row = await in_database(Import.of(user.pk).get)
    steps = job_steps(row.pk)
    while not await in_database(Session.of(user.pk).exists):
        await in_database(next, steps)
    await in_database(steps.close)  # the worker dies before the ratings and the files of the blocks
    await in_database(empty_queue)
    assert BROKEN_OFF in await in_database(page, signed_in)
    assert (await in_database(upload, signed_in, export, "again.json")).status_code == 302
    await work_off()
    await in_database(row.refresh_from_db)
    assert (row.state, row.storage_key, row.failure) == (ImportState.FINISHED, "", "")
    assert (row.counts["sessions"], row.counts["messages"], row.counts["skipped"]) == (6, 36, 0)
    assert await in_database(Import.of(user.pk).count) == 1
    path = tmp_path / "again.json"
    path.write_bytes(export)
    await in_database(run_import, path, other_user)
    assert await in_database(rows_of, user) == await in_database(rows_of, other_user)


async def test_an_undo_that_broke_off_says_so_and_goes_on_when_it_is_asked_for_again(
    signed_in: Client, user: User, export: bytes, work_off: WorkOff
) -> None:
    await in_database(upload, signed_in, export)
    await work_off()
    row = await in_database(Import.of(user.pk).get)
    await in_database(begin_undo, user_id=user.pk, import_id=row.pk)
    await in_database(empty_queue)  # its job has failed for good
    shown = await in_database(page, signed_in)
    assert UNDO_BROKEN_OFF in shown
    assert "couldn’t be undone yet" in shown
    assert BROKEN_OFF not in shown
    assert "couldn’t be imported" not in shown
    await in_database(signed_in.post, f"{ADDRESS}{row.pk}/undo/")
    await work_off()
    await in_database(row.refresh_from_db)
    assert row.state == ImportState.UNDONE
    assert not await in_database(Session.of(user.pk).exists)


def test_an_undo_that_left_something_says_so(signed_in: Client, user: User) -> None:
    kept = [{"path": "check-ins/2023-01-03.md", "text": EDITED}]
    Import.of(user.pk).create(state=ImportState.UNDONE, file_name="export.json", kept=kept)
    shown = page(signed_in)
    assert "Undone, except for what’s listed here." in shown
    assert EDITED in shown
    assert "has been removed" not in shown


def test_an_upload_counts_for_the_person_whose_browser_sends_it(signed_in: Client, user: User) -> None:
    cookies = f"a=b; {settings.SESSION_COOKIE_NAME}={signed_in.cookies[settings.SESSION_COOKIE_NAME].value}"
    assert uploader_of(cookies) is None
    page(signed_in)
    assert uploader_of(cookies) == f"person {user.pk}"
    assert uploader_of(cookies + "x") is None
    signed_in.logout()
    signed_in.cookies.load(cookies)
    signed_in.get(ADDRESS)
    assert uploader_of(cookies) is None


async def test_an_upload_that_nobody_comes_back_to_is_removed(
    signed_in: Client, user: User, other_user: User, export: bytes
) -> None:
    others = await in_database(browser_of, other_user)
    for client in (signed_in, others):
        await in_database(upload, client, export)
    assert len(stored_objects(user)) == 1
    await collect_file_garbage(timestamp=0)
    assert len(stored_objects(user)) == 1, "its job is queued"
    await in_database(call_command, "delete_user", other_user.username, "--yes", stdout=StringIO())
    assert not stored_objects(other_user)
    await in_database(empty_queue)
    await collect_file_garbage(timestamp=0)
    assert not stored_objects(user)
    assert BROKEN_OFF in await in_database(page, signed_in)


def test_a_file_that_is_too_large_is_refused(
    signed_in: Client, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "MAX_FILE_BYTES", 10)
    assert "upload only the conversations.json in it" in upload(signed_in, b"[" * 11).content.decode()
    assert not Import.of(user.pk).exists()


async def test_briefs_cost_nothing_until_somebody_asks_for_them(
    signed_in: Client, user: User, work_off: WorkOff
) -> None:
    data = json.dumps([chatgpt_conversation()]).encode()
    await in_database(upload, signed_in, data)
    with override_settings(SAGE_BRIEF_MODEL="claude-haiku-5-5"):
        await work_off()
        assert not await jobs_named(BRIEF_JOB)
        assert "Estimated cost: under $0.01." in await in_database(page, signed_in)
        row = await in_database(Import.of(user.pk).get)
        await in_database(signed_in.post, f"{ADDRESS}{row.pk}/briefs/")
        assert [(job.queue_name, job.priority) for job in await jobs_named(BRIEF_JOB)] == [
            (BULK_QUEUE, -10)
        ] * 2
        await work_off()
    assert await in_database(SessionBrief.of(user.pk).count) == 2  # of the other branch, too
    assert "Estimated cost" not in await in_database(page, signed_in)
