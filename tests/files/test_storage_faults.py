"""Storage failures at any point of a write: the old version is whole, the user informed, a retry writes once.

The long form is that of RELIABILITY R11.
"""

import asyncio
import resource
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from pytest_django import Settings

from coaching.files.disk_storage import ERASED_AT_ONCE, DiskObjectStorage
from coaching.files.drafts import FileDraft, build_draft
from coaching.files.errors import ObjectsNotErased, StorageFailed
from coaching.files.garbage import collect_garbage
from coaching.files.objects import erase_object_now, erase_objects, store_object
from coaching.files.selectors import read_file
from coaching.models import FileSource, FileType, UserFileVersion
from sessions_app.database import in_database
from tests.files.auditor import audit_files, stored_keys
from tests.files.conftest import S3
from tests.files.s3_server import FAULTS, Fault
from tests.files.storing import store_file
from tests.patience import patience
from tests.thoroughness import size

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
PATH = "life-map/_overview.md"
ROUNDS = size(1, long=100)
FILE_LIMIT_BYTES = 60_000

pytestmark = pytest.mark.django_db(transaction=True)


def draft(content: str) -> FileDraft:
    return build_draft(file_type=FileType.OVERVIEW, content=content, now=NOW, timezone=ZoneInfo("UTC"))


async def store(user: User, content: str) -> int:
    stored = await store_file(user_id=user.pk, draft=draft(content), source=FileSource.TOOL)
    return stored.version


async def newest(user: User) -> str:
    return (await in_database(read_file, user_id=user.pk, path=PATH)).text.splitlines()[-1]


async def collect(after: str) -> None:
    """Collect everything without a row as if it were old, and check that nothing else is gone."""
    await in_database(collect_garbage, now=datetime(2100, 1, 1, tzinfo=UTC))
    named = await in_database(lambda: set(UserFileVersion.unscoped.values_list("storage_key", flat=True)))
    assert await in_database(stored_keys) == named, after


@pytest.mark.s3
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_write_that_meets_a_fault_changes_nothing_and_says_so(
    s3_storage: S3, user: User, fault: Fault
) -> None:
    proxy = s3_storage.proxy
    for number in range(1, ROUNDS + 1):
        assert await store(user, f"Old {number}") == 2 * number - 1
        proxy.fault = fault
        with pytest.raises(StorageFailed, match=r"Nothing was changed.*Try again"):
            await store(user, f"New {number}")
        # The text is in the row: it is readable while the storage is down.
        assert await newest(user) == f"Old {number}"
        proxy.fault = "none"
        texts = await in_database(audit_files, user.pk)
        assert len(texts[PATH]) == 2 * number - 1
        assert await store(user, f"New {number}") == 2 * number
        assert await store(user, f"New {number}") == 2 * number
        assert await newest(user) == f"New {number}"
    await in_database(audit_files, user.pk)
    await collect(fault)
    await in_database(audit_files, user.pk)


@pytest.mark.s3
async def test_an_answer_that_was_lost_leaves_an_object_that_is_collected(s3_storage: S3, user: User) -> None:
    s3_storage.proxy.fault = "answer_lost"
    with pytest.raises(StorageFailed):
        await store(user, "Arrived, but nobody said so")
    s3_storage.proxy.fault = "none"
    assert len(await in_database(stored_keys)) == 1
    assert await in_database(audit_files, user.pk) == {}
    await collect("answer_lost")
    assert await in_database(stored_keys) == set()


@pytest.mark.s3
async def test_a_small_object_is_sent_at_once_without_asking_first_whether_it_may(
    s3_storage: S3, user: User
) -> None:
    await store(user, "The first.")
    assert [method for method, _ in s3_storage.proxy.requests] == ["PUT"]
    assert s3_storage.proxy.expectations == []


@pytest.mark.s3
async def test_one_lost_answer_is_asked_again_under_the_same_key(s3_storage: S3, user: User) -> None:
    await store(user, "Old")
    s3_storage.proxy.requests.clear()
    s3_storage.proxy.fault = "stall"
    writing = asyncio.create_task(store(user, "New"))
    await asyncio.to_thread(s3_storage.proxy.stalled.wait, 10)
    s3_storage.proxy.fault = "none"
    assert await writing == 2
    puts = [path for method, path in s3_storage.proxy.requests if method == "PUT"]
    assert len(puts) == 2
    assert len(set(puts)) == 1
    assert len(await in_database(stored_keys)) == 2


@pytest.mark.s3
async def test_a_server_that_is_gone_is_said_and_the_old_version_stays(s3_storage: S3, user: User) -> None:
    await store(user, "Old")
    s3_storage.proxy.stop()
    with pytest.raises(StorageFailed):
        await store(user, "New")
    assert await newest(user) == "Old"


@pytest.mark.s3
async def test_a_bucket_that_is_missing_is_a_storage_failure(
    s3_storage: S3, user: User, settings: object
) -> None:
    settings.STORAGES["default"]["OPTIONS"]["bucket_name"] = "missing"  # type: ignore[attr-defined]
    with pytest.raises(StorageFailed):
        await store(user, "New")
    assert await in_database(audit_files, user.pk) == {}


@pytest.mark.s3
@pytest.mark.parametrize("denied", [("versions",), ("versions", "list-type"), ("?delete",)])
async def test_a_bucket_without_the_rights_to_its_versions_deletes_what_it_may(
    s3_storage: S3, user: User, denied: tuple[str, ...]
) -> None:
    kept = await store_object(user_id=user.pk, data=b"kept")
    deleted = await store_object(user_id=user.pk, data=b"deleted")
    s3_storage.proxy.denied = denied
    await asyncio.to_thread(erase_object_now, deleted.key)
    s3_storage.proxy.denied = ()
    asked = [path for _, path in s3_storage.proxy.requests]
    assert all(any(part in path for path in asked) for part in denied)
    assert await in_database(stored_keys) == {kept.key}


@pytest.mark.s3
async def test_a_stalled_storage_blocks_neither_the_loop_nor_the_database(s3_storage: S3, user: User) -> None:
    await store(user, "Old")
    s3_storage.proxy.fault = "stall"
    writing = asyncio.create_task(store(user, "New"))
    await asyncio.to_thread(s3_storage.proxy.stalled.wait, 10)
    assert await newest(user) == "Old"
    assert not writing.done()
    with pytest.raises(StorageFailed):
        await writing


@pytest.mark.s3
async def test_a_storage_that_never_returns_is_given_up_in_time(
    s3_storage: S3, user: User, settings: Settings
) -> None:
    default = {**settings.STORAGES["default"]}
    default["OPTIONS"] = {**default["OPTIONS"], "read_seconds": 60.0}
    settings.STORAGES = {**settings.STORAGES, "default": default}
    s3_storage.proxy.fault = "stall"
    began = time.monotonic()
    with pytest.raises(StorageFailed):
        await store_object(user_id=user.pk, data=b"x", deadline_seconds=0.3)
    assert time.monotonic() - began < 3 + patience()
    s3_storage.proxy.fault = "none"
    s3_storage.proxy.released.set()


@pytest.mark.s3
async def test_objects_that_take_for_ever_to_erase_are_given_up_in_time_and_gone_the_next(
    s3_storage: S3, user: User, settings: Settings
) -> None:
    await store(user, "Old")
    default = {**settings.STORAGES["default"]}
    default["OPTIONS"] = {**default["OPTIONS"], "read_seconds": 60.0}
    settings.STORAGES = {**settings.STORAGES, "default": default}
    s3_storage.proxy.fault = "stall"
    began = time.monotonic()
    with pytest.raises(ObjectsNotErased):
        await erase_objects(user_id=user.pk, deadline_seconds=0.3)
    assert time.monotonic() - began < 3 + patience()
    s3_storage.proxy.fault = "none"
    s3_storage.proxy.released.set()
    await erase_objects(user_id=user.pk)
    assert await in_database(stored_keys) == set()


def folder_of_many(files: Path) -> tuple[Path, DiskObjectStorage]:
    """Return a user's folder with more objects than are erased at once, and its storage."""
    folder = files / "users" / "7"
    folder.mkdir(parents=True)
    for number in range(ERASED_AT_ONCE + 10):
        (folder / f"{number}").touch()
    storage = storages["default"]
    assert isinstance(storage, DiskObjectStorage)
    return folder, storage


def test_two_who_erase_the_same_folder_leave_nothing_there(disk_storage: Path) -> None:
    folder, storage = folder_of_many(disk_storage)
    one, other = storage.erase("users/7/"), storage.erase("users/7/")
    assert next(one) == ERASED_AT_ONCE
    assert sum(other) == 10
    assert sum(one) == 0
    assert not folder.exists()
    assert folder.parent.exists()


def test_what_is_written_into_a_folder_while_it_is_erased_goes_with_it(disk_storage: Path) -> None:
    folder, storage = folder_of_many(disk_storage)
    erasing = storage.erase("users/7/")
    next(erasing)
    storage.save("users/7/late", ContentFile(b"late"))
    assert sum(erasing) == 11
    assert not folder.exists()


def test_a_folder_that_leads_elsewhere_is_not_followed(disk_storage: Path, tmp_path: Path) -> None:
    folder, storage = folder_of_many(disk_storage)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    (folder / "link").symlink_to(elsewhere)
    (disk_storage / "users" / "8").symlink_to(elsewhere)
    assert sum(storage.erase("users/7/")) == ERASED_AT_ONCE + 11
    with pytest.raises(OSError, match="link"):
        list(storage.erase("users/8/"))
    assert (elsewhere / "precious").exists()


async def test_a_folder_that_cannot_be_made_changes_nothing(disk_storage: Path, user: User) -> None:
    in_the_way = disk_storage / "users"
    await asyncio.to_thread(disk_storage.mkdir)
    await asyncio.to_thread(in_the_way.touch)
    with pytest.raises(StorageFailed):
        await store(user, "New")
    assert await in_database(audit_files, user.pk) == {}
    await asyncio.to_thread(in_the_way.unlink)
    assert await store(user, "New") == 1


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file may exceed `FILE_LIMIT_BYTES`, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT_BYTES, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_disk_that_fills_up_in_mid_write_leaves_no_half_object(
    disk_storage: Path, user: User, small_disk: None
) -> None:
    await store(user, "Old")
    with pytest.raises(StorageFailed):
        await store(user, "x" * 99_000)
    assert await newest(user) == "Old"
    assert len(await in_database(stored_keys)) == 1
    await in_database(audit_files, user.pk)
