"""The daily backup: a week stays, operators see the last one, and people read how long a copy lasts."""

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import storages
from django.test import Client
from django.utils import timezone
from procrastinate.jobs import Job
from pytest_django import Settings

from coaching.admin.start import LAST_ONE, Figure, read_groups
from coaching.files.former_databases import BACKUP_LOCK
from coaching.files.objects import ObjectStorage
from coaching.models import Backup
from coaching.personal_data.departures import departure_key, forget_departures, record_departure
from coaching.personal_data.removal import remove_person
from sage.backups.contents import examine
from sage.backups.daily import GONE_FOR_LONG, NAME, back_up, is_due, remove_old
from sage.backups.databases import connect
from sage.backups.errors import Busy
from sage.checks import warn_of_plain_backups
from sage.env import SettingError, read_environment
from tests.backups.people import OF_A_PERSON, make_person
from tests.conftest import MakeUser
from tests.files.conftest import S3

NOW = datetime(2026, 11, 28, 3, 17, 2, tzinfo=UTC)
BACKUPS = "/admin/coaching/backup/"


def name_of(taken_at: datetime, end: str = "") -> str:
    return f"sage-{taken_at:%Y%m%dT%H%M%SZ}.tar{end}"


@pytest.mark.django_db
def test_a_week_stays_and_foreign_files_are_not_touched(tmp_path: Path) -> None:
    others = ["mine.tar", "sage-before.tar", "departures"]
    young = [name_of(NOW - timedelta(days=age)) for age in range(7)]
    old = [name_of(NOW - timedelta(days=7, seconds=age), end) for age in (0, 9) for end in ("", ".enc")]
    by_hand = [name_of(NOW - timedelta(minutes=age)) for age in range(1, 9)]
    for name in [*young, *old, *by_hand, *others, ".sage-20261120T031700Z.tar.part"]:
        (tmp_path / name).touch()
    assert remove_old(tmp_path, now=NOW) == len(old)
    assert {path.name for path in tmp_path.iterdir()} == {*young, *by_hand, *others}


@pytest.mark.django_db
def test_the_newest_whole_backup_stays(tmp_path: Path) -> None:
    names = [name_of(NOW - timedelta(days=age)) for age in (1, 10, 20, 30)]
    for name, is_whole in zip(names, (False, False, True, True), strict=True):
        (tmp_path / name).touch()
        Backup.objects.create(file=name, ended_at=NOW, seconds=1, is_whole=is_whole)
    assert remove_old(tmp_path, now=NOW) == 2
    assert {path.name for path in tmp_path.iterdir()} == {names[0], names[2]}


def left(name: str, at: datetime) -> None:
    """List somebody who left at this moment."""
    user = User.objects.create_user(name)
    storage = storages["default"]
    before = set(storage.listdir("departures")[1]) if storage.exists("departures") else set()
    record_departure(user.pk)
    (new,) = set(storage.listdir("departures")[1]) - before
    os.utime(storage.path(f"departures/{new}"), (at.timestamp(), at.timestamp()))


@pytest.mark.django_db
def test_no_backup_stays_longer_than_a_week_after_somebody_in_it_left(
    disk_storage: Path, tmp_path: Path
) -> None:
    """However long backups have failed: the page of deletion promises it."""
    departure_key()
    taken_at = NOW - timedelta(days=30)
    last = tmp_path / "nightly" / name_of(taken_at)
    last.parent.mkdir()
    last.touch()
    Backup.objects.create(file=last.name, ended_at=taken_at, seconds=1, is_whole=True)
    left("before", taken_at - timedelta(days=2))
    assert remove_old(last.parent, now=NOW) == 0
    left("ada", NOW - timedelta(days=6))
    assert remove_old(last.parent, now=NOW) == 0
    assert remove_old(last.parent, now=NOW + timedelta(days=1)) == 1
    assert not last.exists()
    backup = Backup.objects.get()
    assert (backup.is_whole, backup.reason) == (True, GONE_FOR_LONG)


@pytest.mark.django_db
def test_the_list_beside_the_backups_ends_them_too(disk_storage: Path, tmp_path: Path) -> None:
    """Somebody whose rows were still there when the backup was taken, and a storage that lost its list."""
    taken_at = NOW - timedelta(days=8)
    last = tmp_path / "nightly" / name_of(taken_at)
    (last.parent / "departures").mkdir(parents=True)
    last.touch()
    assert remove_old(last.parent, now=NOW) == 0
    listed = last.parent / "departures" / ("0" * 64)
    listed.touch()
    a_minute_before = (taken_at - timedelta(minutes=1)).timestamp()
    os.utime(listed, (a_minute_before, a_minute_before))
    assert remove_old(last.parent, now=NOW) == 1


@pytest.mark.s3
@pytest.mark.django_db
def test_while_the_list_cannot_be_read_the_last_backup_stays(s3_storage: S3, tmp_path: Path) -> None:
    departure_key()
    last = tmp_path / name_of(timezone.now() - timedelta(days=30))
    last.touch()
    record_departure(User.objects.create_user("ada").pk)
    later = timezone.now() + timedelta(days=8)
    s3_storage.proxy.fault = "500"
    assert remove_old(tmp_path, now=later) == 0
    s3_storage.proxy.fault = "none"
    assert remove_old(tmp_path, now=later) == 1


@pytest.mark.s3
@pytest.mark.django_db
def test_the_list_beside_the_backups_counts_while_the_storage_does_not_answer(
    s3_storage: S3, settings: Settings, tmp_path: Path
) -> None:
    settings.SAGE_BACKUP_DIR = tmp_path
    departure_key()
    last = tmp_path / name_of(timezone.now() - timedelta(days=30))
    last.touch()
    record_departure(User.objects.create_user("ada").pk)
    s3_storage.proxy.fault = "500"
    assert remove_old(tmp_path, now=timezone.now() + timedelta(days=8)) == 1


@pytest.mark.django_db
def test_nothing_is_removed_while_a_backup_is_taken(tmp_path: Path) -> None:
    (tmp_path / ".sage-20261120T031700Z.tar.part").touch()
    with connect() as session:
        session.execute("SELECT pg_advisory_lock(%s)", [BACKUP_LOCK])
        with pytest.raises(Busy) as raised:
            remove_old(tmp_path, now=NOW)
    assert len(list(tmp_path.iterdir())) == 1
    job = Job(id=1, queue="bulk", lock=None, queueing_lock=None, task_name=NAME, attempts=0)
    decision = back_up.get_retry_exception(raised.value, job)
    assert decision is not None


@pytest.mark.parametrize(
    ("newest", "now", "expected"),
    [
        (None, NOW, True),
        (None, NOW.replace(hour=14), True),
        (timedelta(hours=24), NOW, True),
        (timedelta(hours=3), NOW, False),
        (timedelta(hours=24), NOW.replace(hour=4), False),
        (timedelta(hours=25), NOW.replace(hour=4), True),
        (timedelta(days=-1), NOW, True),
    ],
)
def test_a_backup_is_taken_at_night_or_when_it_is_late(
    newest: timedelta | None, now: datetime, expected: bool, tmp_path: Path
) -> None:
    if newest:
        (tmp_path / name_of(now - newest)).touch()
    assert is_due(tmp_path, now=now) == expected


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_job_takes_a_backup(place: SimpleNamespace, settings: Settings) -> None:
    settings.SAGE_BACKUP_DIR = folder = place.folder / "nightly"
    make_person("ada")
    asyncio.run(back_up(timestamp=0))
    (path,) = folder.iterdir()
    assert examine(path).objects == OF_A_PERSON
    backup = Backup.objects.get()
    assert (backup.is_whole, backup.size) == (True, path.stat().st_size)
    asyncio.run(back_up(timestamp=0))
    assert list(folder.iterdir()) == [path]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_stopped_job_leaves_neither_a_file_nor_the_lock(place: SimpleNamespace, settings: Settings) -> None:
    settings.SAGE_BACKUP_DIR = folder = place.folder / "nightly"
    make_person("ada")

    async def stop() -> None:
        job = asyncio.ensure_future(back_up(timestamp=0))
        while not folder.is_dir():  # noqa: ASYNC110 - a folder has no event
            await asyncio.sleep(0.001)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job

    asyncio.run(stop())
    assert list(folder.iterdir()) == []
    assert remove_old(folder, now=timezone.now()) == 0


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_removal_is_listed(place: SimpleNamespace, settings: Settings) -> None:
    settings.SAGE_BACKUP_DIR = place.folder / "nightly"
    departure_key()
    user = make_person("ada")
    asyncio.run(remove_person(user.pk))
    assert not User.objects.exists()
    listed = [path.name for path in (place.files / "departures").iterdir()]
    assert listed == [path.name for path in (place.folder / "nightly/departures").iterdir()]
    assert len(listed) == 1


@pytest.mark.django_db
def test_nobody_is_listed_before_the_first_backup(user: User, disk_storage: Path) -> None:
    record_departure(user.pk)
    assert not disk_storage.exists()


def listed_at() -> datetime:
    storage: Any = storages["default"]
    (entry,) = storage.list_objects("departures/")
    return entry.modified_at  # type: ignore[no-any-return]


@pytest.mark.django_db
def test_each_attempt_at_a_removal_lists_the_person_anew(disk_storage: Path) -> None:
    departure_key()
    left("grace", NOW - timedelta(days=30))
    before = listed_at()
    record_departure(User.objects.get(username="grace").pk)
    assert listed_at() > before + timedelta(days=1)


@pytest.mark.s3
@pytest.mark.django_db
def test_each_attempt_at_a_removal_lists_the_person_anew_in_a_bucket(user: User, s3_storage: S3) -> None:
    departure_key()
    record_departure(user.pk)
    before = listed_at()
    time.sleep(1.1)  # times of a bucket's list may be in seconds
    record_departure(user.pk)
    assert listed_at() > before


@pytest.mark.django_db
def test_entries_are_forgotten(user: User, disk_storage: Path, settings: Settings, tmp_path: Path) -> None:
    settings.SAGE_BACKUP_DIR = tmp_path / "nightly"
    departure_key()
    record_departure(user.pk)
    record_departure(user.pk)
    now = timezone.now()
    assert forget_departures(now=now + timedelta(days=89)) == 0
    assert forget_departures(now=now + timedelta(days=91)) == 1
    storage = storages["default"]
    assert isinstance(storage, ObjectStorage)
    assert list(storage.list_objects("departures/")) == []
    assert list((tmp_path / "nightly/departures").iterdir()) == []


def figure(**since: float) -> Figure | None:
    now = timezone.now() + timedelta(**since)
    groups = read_groups(lambda name: name == "coaching.view_backup", now=now)
    assert [group.name for group in groups] in ([], ["Backup"])
    return next((figure for group in groups for figure in group.figures), None)


@pytest.mark.django_db
def test_operators_see_when_the_last_backup_succeeded(settings: Settings, tmp_path: Path) -> None:
    none = figure()  # neither backups nor a folder for them
    assert none is not None
    assert (none.value, none.is_alert, "SAGE_BACKUP_DIR" in none.note) == ("none", False, True)
    public = {"allowed_hosts": ("sage.example",)}
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update=public)
    for_others = figure()
    assert for_others is not None
    assert for_others.is_alert
    settings.SAGE_BACKUP_DIR = tmp_path
    assert figure() == Figure(name="Last backup", value="none yet", address=BACKUPS, is_alert=True)
    whole = Backup(file=name_of(NOW), ended_at=timezone.now(), seconds=1, size=2048, is_whole=True)
    whole.save()
    assert figure(hours=25.9) == Figure(
        name="Last backup", value="25 h ago", note="2.0\xa0KB", address=BACKUPS
    )
    late = figure(hours=26.1)  # one that was made by hand elsewhere, which no job keeps
    assert late == Figure(
        name="Last backup", value="26 h ago", note="2.0\xa0KB", address=BACKUPS, is_alert=True
    )
    (tmp_path / whole.file).touch()
    late = figure(hours=26.1)
    assert late is not None
    assert late.is_alert
    assert late.note == f"2.0\xa0KB {LAST_ONE}"
    Backup.objects.update(reason=GONE_FOR_LONG)
    late = figure(hours=999)
    assert late is not None
    assert late.note.endswith(GONE_FOR_LONG)
    failed = timezone.now() + timedelta(seconds=1)
    Backup.objects.create(ended_at=failed, seconds=1, is_whole=False, reason="The disk is full.")
    assert figure(hours=1) == Figure(
        name="Last backup", value="60 min ago", note="The disk is full.", address=BACKUPS, is_alert=True
    )


@pytest.mark.django_db
def test_the_page_of_deletion_says_how_long_backups_last(
    client: Client, make_user: MakeUser, settings: Settings, tmp_path: Path
) -> None:
    client.force_login(make_user())
    assert "for seven days" not in client.get("/settings/delete/").content.decode()
    settings.SAGE_BACKUP_DIR = tmp_path
    assert "Backups keep a copy for seven days." in client.get("/settings/delete/").content.decode()


def test_plain_backups_are_warned_of(settings: Settings, tmp_path: Path) -> None:
    assert warn_of_plain_backups() == []
    settings.SAGE_BACKUP_DIR = tmp_path
    assert [found.id for found in warn_of_plain_backups()] == ["sage.W007"]
    settings.SAGE_BACKUP_KEY = bytes(32)
    assert warn_of_plain_backups() == []


def test_a_key_is_32_bytes(tmp_path: Path) -> None:
    key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    assert read_environment({"SAGE_BACKUP_KEY": key}, tmp_path).backup_key == bytes(range(32))
    with pytest.raises(SettingError, match="SAGE_BACKUP_KEY must be 32 bytes"):
        read_environment({"SAGE_BACKUP_KEY": key[1:]}, tmp_path)
