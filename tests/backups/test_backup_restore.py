"""What a backup holds is restored: the same rows and files, nobody who has left, nobody signed in.

Over 300 lines, because all tests back up one database and restore it under another name, by the same steps.
"""

import base64
import hashlib
import json
import os
import signal
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils import timezone
from psutil import NoSuchProcess, Process
from psycopg import sql
from pytest_django import Settings

from coaching.files.former_databases import BACKUP_LOCK, drop_former_databases, former_name
from coaching.files.keys import keyed_models
from coaching.files.objects import store_object_now
from coaching.models import Backup, Capture, Document, PushDevice, UserFileVersion
from coaching.personal_data.departures import record_departure
from coaching.personal_data.removal import remove_rows
from sage.backups.archive import read_archive
from sage.backups.contents import examine
from sage.backups.copying import MAX_UNANSWERED, Taken
from sage.backups.databases import connect, on_database, try_lock
from sage.backups.errors import BackupError
from sage.backups.restoring import Restored, check_suitable, restore
from sage.backups.stopping import ended_by_sigterm
from sage.backups.taking import KEPT_ROWS, back_up_rows, take_backup
from sage.second_factor import SecondFactorAdapter
from sage.startup import MIGRATION_LOCK
from sessions_app.models import Turn
from tests.backups.compared import files_of, rows_of
from tests.backups.people import OF_A_PERSON, Writer, add_version, make_person
from tests.files.conftest import S3
from tests.files.s3_server import S3Server
from tests.sage.one_time_codes import code_of
from tests.stored_turns import open_conversation, open_turn

pytestmark = pytest.mark.django_db(transaction=True)

KEY = bytes(range(32))


def taken(place: SimpleNamespace) -> Taken:
    return take_backup(place.folder / "backups" / "one.tar")


def restored(path: Path) -> Restored:
    contents = examine(path)
    check_suitable(contents)
    return restore(path, contents)


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_rows_and_files_come_back(place: SimpleNamespace, settings: Settings, key: bytes | None) -> None:
    settings.SAGE_BACKUP_KEY = key
    ada, grace = make_person("ada"), make_person("grace")
    rows, files = rows_of(place.name), files_of(place.files)
    backup = taken(place)
    Capture.of(ada.pk).delete()
    remove_rows(grace.pk)
    for path in place.files.glob("users/*/*"):
        path.unlink()
    done = restored(backup.path)
    assert rows_of(place.name) == rows
    assert files_of(place.files) == files
    assert done.objects == backup.objects == len(files) > 0
    assert backup.damaged == backup.gone == []
    assert stat.S_IMODE(backup.path.stat().st_mode) == 0o600
    assert [path.name for path in backup.path.parent.iterdir()] == ["one.tar"]


def test_rows_alone_come_back_where_their_files_are(place: SimpleNamespace) -> None:
    ada = make_person("ada")
    rows, files = rows_of(place.name), files_of(place.files)
    path = place.folder / "rows.tar"
    for _ in range(2):  # the second one replaces the first
        assert back_up_rows(path).objects == 0
    assert not examine(path).has_objects
    assert not Backup.objects.exists(), "it isn't a backup of everything"
    Capture.of(ada.pk).delete()
    restored(path)
    assert rows_of(place.name) == rows
    assert files_of(place.files) == files


def test_rows_of_an_older_version_can_be_backed_up(place: SimpleNamespace) -> None:
    with connect(place.name) as session:
        session.execute("DROP TABLE coaching_departurekey, coaching_document CASCADE")
    back_up_rows(place.folder / "rows.tar")
    examine(place.folder / "rows.tar")


@pytest.mark.s3
def test_files_in_a_bucket_come_back(place: SimpleNamespace, s3_storage: S3) -> None:
    make_person("ada")
    bucket: Any = storages["default"].bucket  # type: ignore[attr-defined]

    def files() -> Mapping[str, str]:
        found = bucket.objects.filter(Prefix="users/")
        return {each.key: hashlib.sha256(each.get()["Body"].read()).hexdigest() for each in found}

    before = files()
    backup = taken(place)
    first, *_ = before
    bucket.objects.filter(Prefix=first).delete()
    assert restored(backup.path).objects == 1
    assert files() == before
    assert backup.objects == len(before) == OF_A_PERSON


def test_a_backup_under_load_is_one_moment(place: SimpleNamespace) -> None:
    """Three people write all the time. Their rows are compared with those of the snapshot, by other SQL."""
    writers = [Writer(make_person(name)) for name in ("ada", "grace", "alan")]
    counts: list[int] = []
    rows: Mapping[str, str] = {}

    def look() -> bool:
        nonlocal rows
        counts.append(sum(len(writer.written) for writer in writers))
        if not rows and (snapshot := snapshot_of_dump()):
            rows = rows_of(place.name, snapshot=snapshot)
        return False

    with ExitStack() as stack:
        for writer in writers:
            stack.enter_context(writer)
        before = {key for writer in writers for key in writer.written}
        backup = take_backup(place.folder / "backups/one.tar", is_stopping=look)
    assert counts[-1] >= counts[0] + 10  # it was a load
    assert backup.damaged == backup.gone == []
    for path in place.files.glob("users/*/*"):
        path.unlink()
    restored(backup.path)
    assert rows_of(place.name) == rows
    files = files_of(place.files)
    for writer in writers:
        versions = UserFileVersion.of(writer.user.pk).filter(number__gt=1000).order_by("number")
        stored = {version.storage_key: version.sha256 for version in versions}
        # What was committed before is there, nothing is missing in the middle, and each has its bytes.
        assert list(stored.items()) == list(writer.written.items())[: len(stored)]
        assert before & writer.written.keys() <= stored.keys()
        assert {key: files[key] for key in stored} == stored
        assert Group.objects.filter(name__startswith=f"{writer.user} ").count() - len(stored) in (0, 1)


def snapshot_of_dump() -> str:
    """Return the snapshot that a running `pg_dump` of this process reads, by its command line."""
    start = "--snapshot="
    words = [word for child in Process().children() for word in command_of(child)]
    return next((word.removeprefix(start) for word in words if word.startswith(start)), "")


def command_of(process: Process) -> Sequence[str]:
    try:
        return process.cmdline()
    except NoSuchProcess:
        return []


def test_no_lock_of_a_backup_stops_anybody(place: SimpleNamespace) -> None:
    make_person("ada")
    seen: set[tuple[int, str]] = set()

    def look() -> bool:
        with connect(place.name) as session:
            found = session.execute(
                "SELECT DISTINCT pid, mode FROM pg_locks JOIN pg_stat_activity USING (pid) "
                "WHERE locktype = 'relation' AND datname = current_database() AND pid <> pg_backend_pid()"
            )
            seen.update(found.fetchall())
        return False

    take_backup(place.folder / "one.tar", is_stopping=look)
    assert {mode for _, mode in seen} == {"AccessShareLock"}
    assert len({pid for pid, _ in seen}) == 2  # the snapshot's session, and pg_dump


def test_who_was_deleted_afterwards_stays_deleted(place: SimpleNamespace) -> None:
    ada, grace = make_person("ada"), make_person("grace")
    backup = taken(place)
    record_departure(grace.pk)
    remove_rows(grace.pk)
    for path in place.files.glob(f"users/{grace.pk}/*"):
        path.unlink()
    done = restored(backup.path)
    assert done.departed == 1
    assert list(User.objects.values_list("username", flat=True)) == [ada.username]
    assert not list(place.files.glob(f"users/{grace.pk}/*"))
    names = [path.name for path in place.files.glob("departures/*")]
    assert len(names) == 1
    assert len(names[0]) == 64


def test_somebody_new_with_the_number_of_one_who_left_stays(place: SimpleNamespace) -> None:
    grace = make_person("grace")
    taken(place)
    record_departure(grace.pk)
    remove_rows(grace.pk)
    User.objects.create_user("new", id=grace.pk)
    second = take_backup(place.folder / "two.tar")
    done = restored(second.path)
    assert done.departed == 0
    assert User.objects.get().username == "new"


def test_the_list_beside_the_backups_is_read_too(place: SimpleNamespace, settings: Settings) -> None:
    settings.SAGE_BACKUP_DIR = place.folder / "backups"
    grace = make_person("grace")
    backup = taken(place)
    record_departure(grace.pk)
    for path in place.files.glob("departures/*"):  # the storage is lost
        path.unlink()
    settings.SAGE_BACKUP_DIR = None
    assert restored(backup.path).departed == 1


def test_nobody_is_signed_in_and_nothing_runs(place: SimpleNamespace) -> None:
    user = make_person("ada")
    key = open_turn(open_conversation(user))
    backup = taken(place)
    done = restored(backup.path)
    assert done.interrupted == 1
    turn = Turn.unscoped.get(id=key.turn_id)
    assert turn.status == "interrupted"
    assert turn.user_notice
    assert not PushDevice.unscoped.exists()
    with connect(place.name) as session:
        assert session.execute("SELECT FROM django_session").fetchone() is None


def test_second_factors_work_with_the_new_secret_key(place: SimpleNamespace, settings: Settings) -> None:
    user = User.objects.create_user("ada")
    secret = base64.b32encode(b"twenty bytes of this").decode()
    data = {"secret": SecondFactorAdapter().encrypt(secret)}
    Authenticator.objects.create(user=user, type="totp", data=data)
    restored(taken(place).path)
    new = (place.folder / "secret_key").read_text().strip()
    (former,) = place.folder.glob("secret_key.before_*")
    assert former.read_text() == settings.SECRET_KEY != new
    assert not (place.folder / "secret_key.next").exists()
    with override_settings(SECRET_KEY=new, SECRET_KEY_FALLBACKS=[]):
        assert TOTP(Authenticator.objects.get(user=user)).validate_code(code_of(secret))


def test_links_end_where_the_secret_key_is_in_the_environment(
    place: SimpleNamespace, settings: Settings
) -> None:
    contents = examine(taken(place).path)
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"secret_key": settings.SECRET_KEY})
    with pytest.raises(BackupError, match="set a new one"):
        check_suitable(contents)
    check_suitable(contents, keeps_links=True)
    settings.SECRET_KEY = "another one, which is long enough for everybody"
    check_suitable(contents)


def lose(place: SimpleNamespace, user: User) -> str:
    """Lose the bytes of the person's document; return its key."""
    key: str | None = Document.of(user.pk).get().storage_key
    assert key
    (place.files / key).unlink()
    return key


def test_lost_and_deleted_files_are_told_apart(place: SimpleNamespace) -> None:
    user = make_person("ada")
    lost = lose(place, user)
    changed, deleted = (add_version(user, number).key for number in (2002, 2003))
    (place.files / changed).chmod(0o600)
    (place.files / changed).write_bytes(b"bits rot")
    (place.files / deleted).unlink()
    done = False

    def delete_meanwhile() -> bool:  # after the snapshot
        nonlocal done
        if not done:
            with connect(place.name) as session:
                session.execute("DELETE FROM coaching_userfileversion WHERE storage_key = %s", [deleted])
            done = True
        return False

    backup = take_backup(place.folder / "one.tar", is_stopping=delete_meanwhile)
    assert sorted(backup.damaged) == sorted([lost, changed])
    assert backup.gone == [deleted]
    row = Backup.objects.get()
    assert (row.is_whole, row.reason) == (False, "2 files are lost or damaged.")
    assert examine(backup.path).damaged == 2


def test_what_is_lost_is_named_by_the_restore_and_later_backups_are_whole(place: SimpleNamespace) -> None:
    user = make_person("ada")
    lost = lose(place, user)
    first = taken(place)
    assert first.damaged == [lost]
    done = restored(first.path)
    assert done.lost == [lost]
    document = Document.of(user.pk).get()
    assert (document.storage_key, document.sha256) == (lost, "")
    second = take_backup(place.folder / "two.tar")
    assert (second.damaged, second.gone) == ([], [lost])
    assert Backup.objects.get(file="two.tar").is_whole
    assert restored(second.path).lost == [lost]


def test_a_versions_lost_bytes_are_stored_again_from_its_row(place: SimpleNamespace) -> None:
    """By a backup, and by a restore of one that hasn't got them."""
    user = make_person("ada")
    data = "Ein Rest Mut – und Salz.".encode()
    stored = store_object_now(user_id=user.pk, data=data)
    values = {"storage_key": stored.key, "size": stored.size, "sha256": stored.sha256}
    UserFileVersion.of(user.pk).update(content=data.decode(), **values)
    path = place.files / stored.key
    path.unlink()
    backup = taken(place)
    assert backup.damaged == backup.gone == []
    assert path.read_bytes() == data
    path.unlink()
    assert restored(backup.path).lost == []
    assert path.read_bytes() == data
    UserFileVersion.of(user.pk).update(content="something else")
    path.unlink()
    assert take_backup(place.folder / "two.tar").damaged == [stored.key]
    assert restored(place.folder / "two.tar").lost == [stored.key]


def test_a_storage_that_lacks_many_texts_gets_none_of_them(
    place: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is another disk, they would be stored there. The backup has them all the same."""
    monkeypatch.setattr("sage.backups.copying.MAX_STORED_AGAIN", 2)
    user = make_person("ada")
    for number in (2001, 2002, 2003):
        add_version(user, number)
        UserFileVersion.of(user.pk).filter(number=number).update(content=f"version {number} " * 100)
    files = files_of(place.files)
    for path in place.files.glob("users/*/*"):
        path.unlink()
    backup = taken(place)
    assert files_of(place.files) == {}
    assert len(backup.from_rows) == 3
    lost = f"{OF_A_PERSON + 3} files are lost or damaged."
    assert Backup.objects.get().reason == f"{lost} Is the disk of the file storage mounted?"
    assert restored(backup.path).objects == 3
    assert files_of(place.files).items() <= files.items()


def test_a_person_who_is_being_removed_damages_no_backup(place: SimpleNamespace) -> None:
    ada, grace = make_person("ada"), make_person("grace")
    User.objects.filter(pk=grace.pk).update(is_active=False)
    for path in place.files.glob(f"users/{grace.pk}/*"):
        path.unlink()
    backup = taken(place)
    assert (len(backup.gone), backup.damaged) == (OF_A_PERSON, [])
    assert Backup.objects.get().is_whole
    assert all(key.startswith(f"users/{grace.pk}/") for key in backup.gone)
    assert not list(place.files.glob(f"users/{grace.pk}/*"))
    assert backup.objects == len(files_of(place.files)) == len(list(place.files.glob(f"users/{ada.pk}/*")))


def test_many_lost_files_are_reported_and_a_storage_without_an_answer_ends_it(
    place: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_person("ada")
    for path in place.files.glob("users/*/*"):
        path.unlink()
    monkeypatch.setattr("sage.backups.copying.MAX_UNANSWERED", 2)
    assert len(taken(place).damaged) == OF_A_PERSON
    for folder in place.files.glob("users/*"):
        folder.rmdir()
        folder.write_bytes(b"no folder")
    with pytest.raises(BackupError, match="doesn't answer"):
        take_backup(place.folder / "two.tar")


def is_refused(place: SimpleNamespace, match: str) -> None:
    """Expect no new archive and a former one that stays, and what the admin says of it."""
    former = place.folder / "backups" / "former.tar"
    former.parent.mkdir(exist_ok=True)
    former.write_bytes(b"a former backup")
    with pytest.raises(BackupError, match=match):
        taken(place)
    assert [path.name for path in former.parent.iterdir()] == [former.name]
    row = Backup.objects.get()
    assert (row.is_whole, row.file) == (False, "")
    assert "can't be reached" in row.reason


def test_a_folder_of_files_that_is_not_there_makes_no_archive(place: SimpleNamespace) -> None:
    make_person("ada")
    place.files.rename(place.folder / "unmounted")
    place.files.mkdir()
    is_refused(place, "can't be reached .*users: No such file or directory")


def test_without_any_file_nothing_is_missing(place: SimpleNamespace) -> None:
    assert not place.files.exists()
    assert taken(place).objects == 0
    assert Backup.objects.get().is_whole


@pytest.mark.s3
def test_a_bucket_that_does_not_answer_or_is_another_one_makes_no_archive(
    place: SimpleNamespace, s3_storage: S3, s3_server: S3Server, settings: Settings
) -> None:
    make_person("ada")
    options = settings.STORAGES["default"]["OPTIONS"]
    s3_server.make_bucket("sage-empty")
    for changed, reason in (
        ({"bucket_name": "sage-nowhere"}, "NoSuchBucket"),
        ({"bucket_name": "sage-empty"}, "none of the files"),
        ({"endpoint_url": "http://127.0.0.1:1"}, "EndpointConnectionError"),
    ):
        with override_settings(
            STORAGES={
                **settings.STORAGES,
                "default": {**settings.STORAGES["default"], "OPTIONS": {**options, **changed}},
            }
        ):
            is_refused(place, rf"can't be reached \(.*{reason}")
        Backup.objects.all().delete()
    taken(place)
    assert Backup.objects.get().is_whole


@pytest.mark.s3
def test_a_bucket_that_stops_to_answer_makes_no_archive(place: SimpleNamespace, s3_storage: S3) -> None:
    make_person("ada")

    def stop_meanwhile() -> bool:
        s3_storage.proxy.stop()
        return False

    with pytest.raises(BackupError, match="can't be reached"):
        take_backup(place.folder / "one.tar", is_stopping=stop_meanwhile)
    assert not list(place.folder.glob("*.tar*"))


@pytest.mark.s3
@pytest.mark.parametrize("denied_from", [1, 2])
def test_a_bucket_that_denies_its_few_files_makes_no_archive(
    denied_from: int, place: SimpleNamespace, s3_storage: S3
) -> None:
    make_person("ada")
    assert OF_A_PERSON < MAX_UNANSWERED

    def deny_meanwhile() -> bool:
        if len([each for each in s3_storage.proxy.requests if each[0] == "HEAD"]) >= denied_from - 1:
            s3_storage.proxy.denied = ["/"]
        return False

    with pytest.raises(BackupError, match=r"can't be reached \(AccessDenied\)"):
        take_backup(place.folder / "one.tar", is_stopping=deny_meanwhile)
    assert not list(place.folder.glob("*.tar*"))


def test_a_backup_makes_no_folder_that_was_named_by_hand(place: SimpleNamespace) -> None:
    with pytest.raises(CommandError, match=r"There is no folder .*unmounted: make it first"):
        call_command("backup", out=place.folder / "unmounted" / "one.tar")
    assert not (place.folder / "unmounted").exists()


def test_the_last_success_is_remembered_however_many_fail(place: SimpleNamespace) -> None:
    backup = taken(place)
    for _ in range(KEPT_ROWS + 1):
        with pytest.raises(BackupError, match="exists already"):
            taken(place)
    assert Backup.objects.count() == KEPT_ROWS + 1
    assert Backup.objects.filter(is_whole=True).get().size == backup.size


def test_migrations_wait_for_no_file(place: SimpleNamespace) -> None:
    make_person("ada")
    free: list[bool] = []

    def look() -> bool:
        with connect(place.name) as session:
            free.append(try_lock(session, MIGRATION_LOCK))
        return False

    take_backup(place.folder / "one.tar", is_stopping=look)
    assert (free[0], free[-1]) == (False, True)


def test_a_damaged_archive_changes_nothing(place: SimpleNamespace) -> None:
    make_person("ada")
    backup = taken(place)
    data = bytearray(backup.path.read_bytes())
    data[len(data) // 2] ^= 1
    backup.path.write_bytes(data)
    before = rows_of(place.name), files_of(place.files), sorted(place.folder.iterdir())
    with pytest.raises(BackupError):
        restored(backup.path)
    assert (rows_of(place.name), files_of(place.files), sorted(place.folder.iterdir())) == before


def test_an_archive_of_a_newer_version_is_refused(place: SimpleNamespace) -> None:
    contents = examine(taken(place).path)
    contents.migrations.append(("coaching", "9999_later"))
    with pytest.raises(BackupError, match="newer version"):
        check_suitable(contents)
    contents.migrations.pop()
    contents.postgres = 99
    with pytest.raises(BackupError, match="newer server"):
        check_suitable(contents)


def test_a_restore_waits_for_nobody_who_is_connected(
    place: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sage.backups.restoring.ALONE_SECONDS", 0.2)
    user = make_person("ada")
    backup = taken(place)
    with connect(place.name), pytest.raises(BackupError, match="stop it first"):
        restored(backup.path)
    assert User.objects.get() == user


def test_one_backup_runs_at_a_time(place: SimpleNamespace) -> None:
    with connect(place.name) as session:
        session.execute("SELECT pg_advisory_lock(%s)", [BACKUP_LOCK])
        with pytest.raises(BackupError, match="Another backup"):
            taken(place)
    assert not (place.folder / "backups/one.tar").exists()
    assert not Backup.objects.exists()  # the other one tells how it ends


def test_a_stopped_backup_leaves_no_file(place: SimpleNamespace) -> None:
    make_person("ada")
    with pytest.raises(BackupError, match="was stopped"):
        take_backup(place.folder / "backups/one.tar", is_stopping=lambda: True)
    assert list((place.folder / "backups").iterdir()) == []


def test_sigterm_leaves_no_file(place: SimpleNamespace) -> None:
    def terminate() -> bool:
        os.kill(os.getpid(), signal.SIGTERM)
        return False

    with pytest.raises(SystemExit), ended_by_sigterm():
        take_backup(place.folder / "backups/one.tar", is_stopping=terminate)
    assert list((place.folder / "backups").iterdir()) == []


def test_what_was_there_before_stays_for_a_week(place: SimpleNamespace) -> None:
    make_person("ada")
    backup = taken(place)
    make_person("grace")
    rows = rows_of(place.name)
    former = restored(backup.path).former
    assert rows_of(former) == rows
    now = timezone.now()
    assert drop_former_databases(now=now + timedelta(days=6)) == 1
    assert len(list(place.folder.glob("secret_key.before_*"))) == 1
    assert drop_former_databases(now=now + timedelta(days=8)) == 0
    assert not list(place.folder.glob("secret_key.before_*"))
    with connect("postgres") as session:
        assert not session.execute("SELECT FROM pg_database WHERE datname = %s", [former]).fetchone()
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(f"{place.name}_before_us")))
    assert drop_former_databases(now=now + timedelta(days=8)) == 0  # somebody else's stays
    assert former_name("x", now).startswith("x_before_2")


def test_what_a_killed_restore_left_is_replaced(place: SimpleNamespace) -> None:
    make_person("ada")
    rows = rows_of(place.name)
    backup = taken(place)
    with connect("postgres") as session:
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(f"{place.name}_restoring")))
    files = files_of(place.files)
    key = next(iter(files))
    storage = storages["default"]
    storage.delete(key)
    storage.save(key, ContentFile(b"half"))
    restored(backup.path)
    assert rows_of(place.name) == rows
    assert files_of(place.files) == files


def test_damaged_bytes_of_an_archive_replace_nothing(place: SimpleNamespace) -> None:
    stored = add_version(make_person("ada"), 2001)
    path = place.files / stored.key
    data = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(b"bits rot")
    backup = taken(place)
    assert backup.damaged == [stored.key]
    path.write_bytes(data)
    restored(backup.path)
    assert path.read_bytes() == data


def test_each_former_database_keeps_its_own_secret_key(place: SimpleNamespace) -> None:
    backup = taken(place)
    formers = []
    for number in range(2):
        secret = (place.folder / "secret_key").read_text()
        former = restored(backup.path).former
        formers.append((former.rpartition("_before_")[2], secret))
        if not number:
            time.sleep(1)  # names have seconds
    assert {
        (path.suffix.removeprefix(".before_"), path.read_text())
        for path in place.folder.glob("secret_key.before_*")
    } == set(formers)


def databases_of(place: SimpleNamespace) -> list[str]:
    with connect("postgres") as session:
        found = session.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [place.name]
        )
        return [name for (name,) in found.fetchall()]


def test_a_restore_that_fails_leaves_no_database(
    place: SimpleNamespace,
) -> None:
    make_person("ada")
    backup = taken(place)
    contents = examine(backup.path)
    place.files.rename(place.folder / "away")
    place.files.write_bytes(b"no folder")
    with pytest.raises(BackupError, match="can't be"):
        restore(backup.path, contents)
    assert databases_of(place) == [place.name]


def test_the_job_drops_what_a_killed_restore_left(place: SimpleNamespace) -> None:
    name = f"{place.name}_restoring"
    with connect("postgres") as session:
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    with connect(place.name) as session:
        session.execute("SELECT pg_advisory_lock(%s)", [BACKUP_LOCK])
        drop_former_databases(now=timezone.now())
        assert name in databases_of(place)
    drop_former_databases(now=timezone.now())
    assert databases_of(place) == [place.name]


def test_a_job_that_is_cut_off_while_it_drops_a_database_lets_backups_run(place: SimpleNamespace) -> None:
    name = f"{place.name}_restoring"

    def cut_off(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, cut_off)
    try:
        with connect("postgres") as session:
            session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            session.execute("BEGIN")
            # Nobody can drop it until this transaction ends.
            session.execute(sql.SQL("COMMENT ON DATABASE {} IS 'held'").format(sql.Identifier(name)))
            signal.setitimer(signal.ITIMER_REAL, 1)
            with pytest.raises(KeyboardInterrupt):
                drop_former_databases(now=timezone.now())
            assert name in databases_of(place)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    with connect(place.name) as session:
        assert try_lock(session, BACKUP_LOCK)


def test_a_former_database_is_dropped_although_somebody_is_connected(place: SimpleNamespace) -> None:
    former = former_name(place.name, timezone.now() - timedelta(days=8))
    with connect("postgres") as session:
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(former)))
    with connect(former):
        assert drop_former_databases(now=timezone.now()) == 0
    assert databases_of(place) == [place.name]


def test_every_key_of_an_object_is_in_a_backup() -> None:
    keyed = {model for model in apps.get_models() if "storage_key" in {f.name for f in model._meta.fields}}
    assert set(keyed_models()) == keyed


def test_the_secrets_in_an_archive_are_those_that_it_needs(place: SimpleNamespace) -> None:
    make_person("ada")
    with taken(place).path.open("rb") as file:
        members = {member.name: b"".join(member.pieces()) for member in read_archive(file)}
    assert [name for name in members if name.startswith("keys/")] == ["keys/second_factor"]
    assert json.loads(members["archive.json"])["format"] == 1


def test_vectors_can_be_stored_afterwards(place: SimpleNamespace) -> None:
    make_person("ada")
    restored(taken(place).path)
    with on_database(place.name), connect(place.name) as session:
        found = session.execute("SELECT count(*) FROM coaching_recallvector").fetchone()
        parts = session.execute(
            "SELECT count(*) FROM pg_inherits WHERE inhparent = 'coaching_recallvector'::regclass"
        ).fetchone()
    assert (found, parts) == ((0,), (32,))
    assert UserFileVersion.unscoped.exists()
