"""A person's usage is counted in the transaction that changes it, and limited."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Sum
from django.template.defaultfilters import filesizeformat
from pytest_django import Settings

from coaching.engine.errors import ToolError
from coaching.files.drafts import build_draft
from coaching.files.edits import build_edit, editable_of
from coaching.files.errors import QuotaReached
from coaching.files.quota import check_room
from coaching.files.selectors import read_file
from coaching.files.store import StoredFile, restore_version, store_below_newest, store_edit
from coaching.inbox.taking import most_bytes
from coaching.models import FileSource, FileType, FileUsage, UserFile, UserFileVersion
from coaching.tools.save_file import SAVE_FILE
from sessions_app.database import in_database
from tests.files.storing import store_file
from tests.tools.committing_context import CommittingContext

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
ZONE = ZoneInfo("UTC")

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("disk_storage")]


async def save(user: User, content: str, file_type: FileType = FileType.OVERVIEW) -> StoredFile:
    draft = build_draft(file_type=file_type, content=content, now=NOW, timezone=ZONE)
    return await store_file(user_id=user.pk, draft=draft, source=FileSource.JOB)


def usage_of(user: User) -> tuple[int, int]:
    usage = FileUsage.of(user.pk).first()
    return (usage.files, usage.bytes) if usage else (0, 0)


def kept_by(user: User) -> tuple[int, int]:
    size = UserFileVersion.of(user.pk).aggregate(size=Sum("size"))["size"] or 0
    return UserFile.of(user.pk).count(), size


def count_objects(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


async def check(user: User) -> tuple[int, int]:
    counted, kept = await in_database(lambda: (usage_of(user), kept_by(user)))
    assert counted == kept
    return counted


async def test_every_way_to_write_is_counted_and_deleting_gives_back(user: User, other_user: User) -> None:
    overview = await save(user, "By a job.")
    await save(other_user, "Another's.")
    newest = await in_database(read_file, user_id=user.pk, path=overview.path)
    edited = build_edit(
        newest, body="By hand.", attributes=editable_of(newest).attributes, now=NOW, timezone=ZONE
    )
    await in_database(store_edit, user_id=user.pk, draft=edited, expected_version=1)
    newest = await in_database(read_file, user_id=user.pk, path=overview.path)
    await in_database(store_below_newest, user_id=user.pk, draft=edited, newest=newest)
    await in_database(restore_version, user_id=user.pk, path=overview.path, number=1, now=NOW, timezone=ZONE)
    given = SAVE_FILE.parse(json.dumps({"file_type": "capture", "content": "By Sage."}))
    await SAVE_FILE.run(CommittingContext(user_id=user.pk), given)
    await asyncio.gather(*(save(user, f"At once {number}", FileType.CAPTURE) for number in range(6)))
    assert (await check(user))[0] == 8
    gone = await in_database(UserFileVersion.of(user.pk).filter(number=1, file__path=overview.path).delete)
    assert gone[0] == 1
    await check(user)
    await in_database(UserFile.of(user.pk).filter(file_type=FileType.CAPTURE).delete)
    assert (await check(user))[0] == 1
    assert (await check(other_user))[0] == 1
    await in_database(UserFile.of(user.pk).all().delete)
    assert await check(user) == (0, 0)
    await in_database(user.delete)
    assert not await in_database(FileUsage.of(user.pk).exists)


async def test_a_write_that_is_undone_takes_up_nothing(user: User, settings: Settings) -> None:
    await save(user, "One")
    settings.SAGE_MAX_FILES = 2
    saved = await asyncio.gather(
        *(save(user, f"Thought {number}", FileType.CAPTURE) for number in range(5)), return_exceptions=True
    )
    refused = [one for one in saved if isinstance(one, QuotaReached)]
    assert len(refused) == 4, "never one more than there is room for"
    assert (await check(user))[0] == 2
    # An existing file can still be written.
    assert (await save(user, "Two")).version == 2


async def test_no_version_exceeds_the_byte_limit_and_sage_gets_an_explanation(
    user: User, settings: Settings, disk_storage: Path
) -> None:
    settings.SAGE_MAX_FILES_MB = 1
    for number in range(9):
        await save(user, f"{number}" * 99_000)
    await save(user, "y" * 99_000)
    before = await check(user)
    given = SAVE_FILE.parse(json.dumps({"file_type": "overview", "content": "x" * 99_000}))
    with pytest.raises(ToolError, match=r"take up 0\.9 MB of 1 MB, so nothing was saved"):
        await SAVE_FILE.run(CommittingContext(user_id=user.pk), given)
    assert await check(user) == before
    assert await in_database(UserFileVersion.of(user.pk).count) == 10
    assert count_objects(disk_storage) == 10, "bytes without room aren't stored either"


def test_a_megabyte_of_the_quota_is_that_of_uploads_and_of_pages(user: User, settings: Settings) -> None:
    settings.SAGE_MAX_FILES_MB = settings.SAGE_MAX_UPLOAD_MB = 1
    assert filesizeformat(most_bytes()).replace("\xa0", " ") == "1.0 MB"
    usage = FileUsage(user_id=user.pk, bytes=most_bytes() - 10)
    check_room(usage, size=10, is_new_file=True)
    with pytest.raises(QuotaReached, match="MB of"):
        check_room(usage, size=11, is_new_file=True)


async def test_what_was_there_before_is_counted_by_the_migration(user: User, other_user: User) -> None:
    for content in ("One", "Two"):
        await save(user, content)
    await save(user, "A thought", FileType.CAPTURE)
    await save(other_user, "Theirs")
    migration = import_module("coaching.migrations.0007_file_usage")

    def count_again() -> None:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM coaching_fileusage")
            cursor.execute(migration.BACKFILL)

    await in_database(count_again)
    assert (await check(user))[0] == 2
    assert (await check(other_user))[0] == 1


async def test_who_writes_while_files_are_deleted_waits_and_nothing_is_lost(user: User) -> None:
    for number in range(5):
        await save(user, f"Before {number}", FileType.CAPTURE)
    draft = [
        build_draft(file_type=FileType.CAPTURE, content="x", now=NOW + timedelta(minutes=n), timezone=ZONE)
        for n in range(1, 9)
    ]
    await asyncio.gather(
        in_database(UserFile.of(user.pk).filter(path__startswith="captures/2026-11-21-09000").delete),
        *(store_file(user_id=user.pk, draft=one, source=FileSource.TOOL) for one in draft),
    )
    assert (await check(user))[0] == 8
