"""An import is cancelled while it waits, is checked or stored; what is stored stays and can be undone."""

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.test import Client

from coaching.legacy import reading
from coaching.legacy.endings import OVER, cancel
from coaching.legacy.imports import job_steps, settle
from coaching.legacy.one_at_a_time import only_import_of
from coaching.legacy.watching import RowWatch
from coaching.models import Import, ImportState
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import Session
from tests.jobs.conftest import WorkOff, empty_queue
from tests.legacy.exports import chatgpt_conversation
from tests.legacy.test_import_command import run_import
from tests.legacy.test_import_page import ADDRESS, page, stored_objects, upload
from tests.legacy.test_import_reader import STUCK, until_none_is_left

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]

MANY = json.dumps(
    [chatgpt_conversation() | {"conversation_id": f"c-{n}", "id": f"c-{n}"} for n in range(120)]
).encode()
KEPT = "What was imported until then is kept."


@pytest.fixture(autouse=True)
def _looks_at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coaching.legacy.watching.LOOK_SECONDS", 0.0)
    monkeypatch.setattr(reading, "STEP_SECONDS", 0.05)


def cancel_on_page(client: Client, row: Import) -> str:
    response = client.post(f"{ADDRESS}{row.pk}/cancel/", follow=True)
    row.refresh_from_db()
    return response.content.decode()


async def test_one_that_waits_ends_at_once_and_its_job_does_nothing(
    signed_in: Client, user: User, work_off: WorkOff
) -> None:
    await in_database(upload, signed_in, MANY)
    row = await in_database(Import.of(user.pk).get)
    assert "Cancel the import of" in await in_database(page, signed_in)
    shown = await in_database(cancel_on_page, signed_in, row)
    assert "Cancelled. Nothing was imported." in shown
    assert "Cancel the import of" not in shown
    assert (row.state, row.storage_key) == (ImportState.CANCELLED, "")
    assert not stored_objects(user)
    await work_off()
    assert not await in_database(Session.of(user.pk).exists)


@pytest.mark.slow
def test_one_that_is_checked_ends_with_its_reader(signed_in: Client, user: User) -> None:
    upload(signed_in, STUCK)
    row = Import.of(user.pk).get()
    steps = job_steps(row.pk)
    for _ in range(3):
        next(steps)
    assert "Cancelling." in cancel_on_page(signed_in, row)
    assert row.state == ImportState.RUNNING
    with pytest.raises(StopIteration):
        next(steps)
    row.refresh_from_db()
    assert (row.state, row.storage_key, row.is_cancelling) == (ImportState.CANCELLED, "", False)
    until_none_is_left()


@pytest.mark.slow
async def test_one_that_is_stored_keeps_what_is_stored_for_an_undo(
    signed_in: Client, user: User, work_off: WorkOff
) -> None:
    await in_database(upload, signed_in, MANY)
    row = await in_database(Import.of(user.pk).get)
    steps = job_steps(row.pk)
    while not await in_database(Session.of(user.pk).exists):
        await in_database(next, steps)
    assert "you can undo it" in await in_database(page, signed_in)
    await in_database(cancel_on_page, signed_in, row)
    await in_database(lambda: list(steps))
    shown = await in_database(page, signed_in)
    assert KEPT in shown
    stored = await in_database(Session.of(user.pk).filter(archived_at=None).count)
    assert 0 < stored < 120
    assert f"Imported: {stored} conversations" in shown
    await in_database(signed_in.post, f"{ADDRESS}{row.pk}/undo/")
    await work_off()
    await in_database(row.refresh_from_db)
    assert row.state == ImportState.UNDONE
    assert not await in_database(Session.of(user.pk).exists)


@pytest.mark.slow
async def test_the_same_file_again_continues_in_the_same_import(
    signed_in: Client, user: User, work_off: WorkOff
) -> None:
    await in_database(upload, signed_in, MANY)
    row = await in_database(Import.of(user.pk).get)
    steps = job_steps(row.pk)
    while not await in_database(Session.of(user.pk).exists):
        await in_database(next, steps)
    await in_database(cancel_on_page, signed_in, row)
    await in_database(lambda: list(steps))
    await in_database(upload, signed_in, MANY)
    await work_off()
    await in_database(row.refresh_from_db)
    assert (row.state, row.counts["sessions"], row.is_cancelling) == (ImportState.FINISHED, 120, False)
    assert await in_database(Import.of(user.pk).count) == 1


def test_a_cancel_that_comes_too_late_says_so(
    signed_in: Client, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a second tab, or while it ended."""
    upload(signed_in, MANY)
    row = Import.of(user.pk).get()
    steps = job_steps(row.pk)
    while not row.done:
        next(steps)
        row.refresh_from_db()
    Import.of(user.pk).update(is_cancelling=True)  # just after the last time that its process looked
    monkeypatch.setattr(RowWatch, "look", lambda _: None)
    assert list(steps)
    row.refresh_from_db()
    assert (row.state, row.is_cancelling) == (ImportState.FINISHED, False)
    assert OVER in cancel_on_page(signed_in, row)
    assert row.state == ImportState.FINISHED


def test_one_that_lost_its_process_after_the_cancel_ends_as_cancelled(signed_in: Client, user: User) -> None:
    upload(signed_in, MANY)
    row = Import.of(user.pk).get()
    steps = job_steps(row.pk)
    next(steps)
    cancel(user_id=user.pk, import_id=row.pk)
    with only_import_of(-user.pk):  # somebody else's lock changes nothing
        steps.close()
    empty_queue()
    settle(user.pk)
    row.refresh_from_db()
    assert (row.state, row.is_cancelling) == (ImportState.CANCELLED, False)


def test_an_undo_is_not_cancelled(user: User) -> None:
    row = Import.of(user.pk).create(state=ImportState.UNDOING, file_name="x")
    with pytest.raises(Refused, match="already ended"):
        cancel(user_id=user.pk, import_id=row.pk)


def test_an_import_by_command_is_cancelled_on_the_page(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(MANY)
    monkeypatch.setattr("coaching.legacy.running.SESSIONS_AT_ONCE", 10)
    look = RowWatch.look

    def cancels(watch: RowWatch) -> None:
        if Session.of(user.pk).exists():
            cancel(user_id=user.pk, import_id=Import.of(user.pk).get().pk)
        look(watch)

    monkeypatch.setattr(RowWatch, "look", cancels)
    with pytest.raises(CommandError, match="This import was cancelled"):
        run_import(path, user)
    assert Import.of(user.pk).get().state == ImportState.CANCELLED
    assert 0 < Session.of(user.pk).count() < 120
