"""Garbage collection removes old objects without a row, and nothing else."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.utils import timezone

from coaching.files.drafts import build_draft
from coaching.files.garbage import collect_garbage
from coaching.models import FileSource, FileType
from sessions_app.database import in_database
from tests.files.auditor import audit_files, stored_keys
from tests.files.conftest import S3
from tests.files.storing import store_file

pytestmark = pytest.mark.django_db(transaction=True)


async def store(user: User) -> None:
    draft = build_draft(
        file_type=FileType.OVERVIEW,
        content="Kept",
        now=datetime(2026, 11, 21, 9, 0, tzinfo=UTC),
        timezone=ZoneInfo("UTC"),
    )
    await store_file(user_id=user.pk, draft=draft, source=FileSource.TOOL)


def leave_orphan(key: str) -> None:
    storages["default"].save(key, ContentFile(b"orphan"))


async def test_old_objects_without_a_row_go_and_the_rest_stays(each_storage: str, user: User) -> None:
    await store(user)
    kept = await in_database(stored_keys)
    # Of an existing user, of a deleted user, and outside of the store's prefix.
    for key in (f"users/{user.pk}/{'a' * 32}", f"users/999999/{'b' * 32}", f"uploads/{'c' * 32}"):
        await in_database(leave_orphan, key)
    young = await in_database(collect_garbage, now=timezone.now())
    assert (young.seen, young.removed, young.failed) == (3, 0, 0)
    old = await in_database(collect_garbage, now=timezone.now() + timedelta(hours=1, minutes=1))
    assert (old.seen, old.removed, old.failed) == (3, 2, 0)
    assert await in_database(stored_keys) == kept | {f"uploads/{'c' * 32}"}
    await in_database(audit_files, user.pk)


async def test_an_empty_storage_has_no_garbage(each_storage: str) -> None:
    report = await in_database(collect_garbage, now=timezone.now())
    assert (report.seen, report.removed) == (0, 0)


def test_the_command_says_what_it_did(disk_storage: object) -> None:
    leave_orphan("users/1/new")
    output = StringIO()
    call_command("collect_garbage", stdout=output)
    assert (
        output.getvalue()
        == "0 deleted files gone for good, 1 objects seen, 0 without a file removed, 0 left for next time.\n"
    )


@pytest.mark.s3
def test_the_command_says_in_one_line_that_the_storage_is_away(s3_storage: S3) -> None:
    s3_storage.proxy.stop()
    with pytest.raises(CommandError, match="The file storage can't be listed"):
        call_command("collect_garbage", stdout=StringIO())
