"""What an upgrade of the database refuses, what a killed one leaves, how long the former cluster stays."""

import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import mkdtemp

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from coaching.files.former_clusters import KEPT, remove_former_clusters, version_of
from sage.cluster_folders import ClusterFolders
from sage.cluster_servers import end_programs
from sage.cluster_upgrade import ClusterUpgrade, Former
from sage.embedded_postgres import EmbeddedPostgres
from sage.env import StartError
from sage.postgres_account import system_account
from sage.postgres_programs import programs_folder
from tests.sage.killed_upgrade import SWAP_POINTS, SWAPPED, kill_at


@pytest.fixture
def data_dir(settings: Settings) -> Iterator[Path]:
    """An empty data folder, which Sage uses. Those of pytest have too long a path for a socket."""
    folder = Path(mkdtemp(prefix="sage-"))
    settings.SAGE_DATA_DIR, settings.SAGE_BACKUP_DIR = folder, None
    settings.IS_EMBEDDED_DATABASE = True
    yield folder
    shutil.rmtree(folder)


def make(folder: Path, version: int) -> Path:
    """Make the folder of a cluster, without a cluster in it."""
    folder.mkdir()
    (folder / "PG_VERSION").write_text(f"{version}\n")
    (folder / "base").mkdir()
    if account := system_account():
        os.chown(folder, account.pw_uid, account.pw_gid)
    return folder


def age(path: Path, days: float) -> None:
    moment = time.time() - days * 86_400
    os.utime(path, (moment, moment))


def upgrade() -> None:
    call_command("upgrade_database")


def test_starting_on_16_says_in_one_sentence_which_command_upgrades_it(data_dir: Path) -> None:
    make(data_dir / "postgres", 16)
    with pytest.raises(
        StartError, match=r"run `manage\.py upgrade_database`, which makes a backup"
    ) as refused:
        EmbeddedPostgres.of(data_dir).join()
    assert "\n" not in str(refused.value)


def test_where_there_is_nothing_to_upgrade_it_says_so(data_dir: Path, settings: Settings) -> None:
    with pytest.raises(CommandError, match="There is no database to upgrade"):
        upgrade()
    assert not (data_dir / "postgres").exists()
    make(data_dir / "postgres", 18)
    with pytest.raises(CommandError, match=r"nothing to upgrade: .* is of PostgreSQL 18"):
        upgrade()
    settings.IS_EMBEDDED_DATABASE = False
    with pytest.raises(CommandError, match="DATABASE_URL is set"):
        upgrade()


def test_nothing_is_upgraded_while_something_uses_the_database(data_dir: Path) -> None:
    make(data_dir / "postgres", 16)
    with (data_dir / ".postgres.users.lock").open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        with pytest.raises(CommandError, match="Something uses the database"):
            upgrade()


def test_nothing_starts_on_a_database_that_is_being_upgraded(data_dir: Path) -> None:
    make(data_dir / "postgres", 16)
    with (
        EmbeddedPostgres.of(data_dir).alone(),
        pytest.raises(StartError, match="is being upgraded"),
    ):
        EmbeddedPostgres.of(data_dir).join()


def test_too_little_space_is_told_before_anything_is_done(data_dir: Path) -> None:
    cluster = make(data_dir / "postgres", 16)
    with (cluster / "base" / "1").open("w") as file:
        file.truncate(1 << 42)  # without taking space
    with pytest.raises(
        CommandError, match=r"MB left in .*, and a backup and a second copy need 8,388,808 MB"
    ):
        upgrade()
    assert sorted(path.name for path in data_dir.iterdir() if path.is_dir()) == ["postgres"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_cluster_of_another_user_is_left_alone(data_dir: Path) -> None:
    os.chown(make(data_dir / "postgres", 16), 12345, 12345)
    with pytest.raises(CommandError, match="belongs to user 12345: run this command as that user"):
        upgrade()


def test_a_former_cluster_is_never_overwritten(data_dir: Path) -> None:
    make(data_dir / "postgres", 16)
    make(data_dir / "postgres.16", 16)
    with pytest.raises(CommandError, match=r"postgres\.16 is there already: move it away"):
        upgrade()


@pytest.mark.parametrize(
    ("present", "upgraded", "former"), [(18, 16, None), (None, 18, 16)], ids=["exchanged", "between renames"]
)
def test_a_swap_that_was_killed_is_finished(
    data_dir: Path, present: int | None, upgraded: int, former: int | None
) -> None:
    names = {"postgres": present, "upgraded": upgraded, "postgres.16": former}
    for name, version in names.items():
        if version:
            make(data_dir / name, version)
    upgrade()
    assert [version_of(data_dir / name) for name in names] == [18, None, 16]


@pytest.mark.parametrize("point", SWAP_POINTS)
def test_a_swap_that_is_killed_is_finished_by_the_next_run(data_dir: Path, point: str) -> None:
    make(data_dir / "postgres", 16)
    make(data_dir / "upgraded", 18)
    if (child := os.fork()) == 0:
        kill_at(SWAP_POINTS[point])
        ClusterFolders(data_dir).swap()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    present = version_of(data_dir / "postgres")
    if point == "between two renames":
        assert present is None
    else:
        assert present == (18 if point in SWAPPED else 16)
    ClusterFolders(data_dir).finish_swap()
    versions = [version_of(data_dir / name) for name in ("postgres", "upgraded", "postgres.16")]
    assert versions == ([16, 18, None] if present == 16 else [18, None, 16])


def test_no_empty_cluster_is_made_between_two_renames(data_dir: Path) -> None:
    make(data_dir / "upgraded", 18)
    make(data_dir / "postgres.16", 16)
    with pytest.raises(StartError, match=r"is missing, but postgres\.16 is beside it: run `manage\.py"):
        EmbeddedPostgres.of(data_dir).join()
    assert not (data_dir / "postgres").exists()
    assert not (data_dir / "postgres.new").exists()


@pytest.mark.parametrize("version", [16, 18])
def test_no_empty_cluster_is_made_beside_one_of_an_upgrade(data_dir: Path, version: int) -> None:
    make(data_dir / "upgraded", version)
    with pytest.raises(StartError, match="is missing, but upgraded is beside it"):
        EmbeddedPostgres.of(data_dir).join()
    assert {path.name for path in data_dir.iterdir() if path.is_dir()} == {"upgraded"}


def test_a_start_gives_the_former_cluster_its_name(data_dir: Path) -> None:
    make(data_dir / "postgres", 18)
    make(data_dir / "upgraded", 16)
    with pytest.raises(StartError, match="doesn't start"):  # there is no cluster in it
        EmbeddedPostgres.of(data_dir).join()
    assert version_of(data_dir / "postgres.16") == 16
    assert not (data_dir / "upgraded").exists()


@pytest.mark.parametrize("exchanges", [True, False])
def test_both_clusters_change_places(
    data_dir: Path, exchanges: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(data_dir / "postgres", 16)
    make(data_dir / "upgraded", 18)
    age(data_dir / "postgres" / "PG_VERSION", 400)
    if not exchanges:  # as on file systems of other systems
        monkeypatch.setattr("sage.cluster_folders._exchange", lambda *_: False)
    ClusterFolders(data_dir).swap()
    assert version_of(data_dir / "postgres") == 18
    assert version_of(data_dir / "postgres.16") == 16
    assert not (data_dir / "upgraded").exists()
    assert remove_former_clusters(now=timezone.now()) == 0, "its week has only begun"


def test_the_former_cluster_and_its_backup_stay_for_a_week(data_dir: Path) -> None:
    make(data_dir / "postgres", 18)
    former = make(data_dir / "postgres.16", 16)
    (former / "base" / "link").symlink_to(data_dir / "kept")
    (data_dir / "kept").mkdir()
    (data_dir / "backups").mkdir()
    backups = [
        data_dir / "backups" / name for name in ("before-postgres-18.tar", "sage-20260101T000000Z.tar")
    ]
    for path in backups:
        path.touch()
        age(path, 6.9)
    age(former / "PG_VERSION", 6.9)
    age(former, 400)  # its time is another one
    assert remove_former_clusters(now=timezone.now()) == 0
    assert remove_former_clusters(now=timezone.now() + timedelta(days=0.2)) == 2
    assert {path.name for path in data_dir.iterdir()} == {"postgres", "kept", "backups"}
    assert [path.exists() for path in backups] == [False, True]


def test_a_former_cluster_can_be_deleted_at_once(data_dir: Path) -> None:
    make(data_dir / "postgres", 18)
    make(data_dir / "postgres.16", 16)
    call_command("upgrade_database", "--forget")
    assert not (data_dir / "postgres.16").exists()
    assert (data_dir / "postgres").exists()


@pytest.mark.parametrize(("present", "upgraded"), [(16, 18), (None, 18), (16, None)])
def test_what_is_in_use_or_not_finished_never_counts_as_former(
    data_dir: Path, present: int | None, upgraded: int | None
) -> None:
    for name, version in (("postgres", present), ("upgraded", upgraded)):
        if version:
            age(make(data_dir / name, version) / "PG_VERSION", 400)
    before = sorted(data_dir.rglob("*"))
    assert remove_former_clusters(now=timezone.now()) == 0
    assert sorted(data_dir.rglob("*")) == before


def test_the_former_cluster_that_a_killed_swap_has_left_is_deleted_after_a_week(data_dir: Path) -> None:
    make(data_dir / "postgres", 18)
    age(make(data_dir / "upgraded", 16) / "PG_VERSION", KEPT.days + 1)
    assert remove_former_clusters(now=timezone.now()) == 1
    assert not (data_dir / "upgraded").exists()


@pytest.mark.parametrize(
    "name", ["postgres.16.mine", "postgres.16.old", "postgres.2026-11-28", "postgres.17"]
)
def test_copies_that_the_operator_has_made_stay(data_dir: Path, name: str) -> None:
    make(data_dir / "postgres", 18)
    age(make(data_dir / name, 16) / "PG_VERSION", 400)
    assert remove_former_clusters(now=timezone.now()) == 0
    call_command("upgrade_database", "--forget")
    assert (data_dir / name / "base").exists()


@contextmanager
def program_of(*arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run something that waits, and looks like a program of the package."""
    command = [str(programs_folder() / "pg_dump"), "-c", "read line", *arguments]
    with subprocess.Popen(command, executable="/bin/sh", stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def test_programs_that_a_killed_upgrade_has_left_are_ended(data_dir: Path) -> None:
    log = data_dir / "upgraded" / "log"
    with (
        program_of("-D", str(data_dir / "postgres")) as server,
        program_of("--host", str(data_dir / "upgraded")) as client,
        program_of("-l", str(log)) as starting,
    ):
        end_programs(data_dir)
        for each in (server, client, starting):
            each.wait(5)


def test_programs_on_other_folders_are_left_alone(data_dir: Path) -> None:
    elsewhere, beside = f"/elsewhere{data_dir}/postgres", f"{data_dir}/postgres2"
    former = f"{data_dir}/postgres.16"
    with (
        program_of("-D", elsewhere) as one,
        program_of("-D", beside) as two,
        program_of("--host", former) as three,
    ):
        end_programs(data_dir)
        assert [each.poll() for each in (one, two, three)] == [None] * 3


@pytest.mark.parametrize("present", [16, None])
def test_nothing_is_deleted_at_once_unless_the_database_is_upgraded(
    data_dir: Path, present: int | None
) -> None:
    if present:
        make(data_dir / "postgres", present)
    make(data_dir / "postgres.16", 16)
    (data_dir / "backups").mkdir()
    (backup := data_dir / "backups" / "before-postgres-18.tar").touch()
    with pytest.raises(CommandError, match=r"isn't of PostgreSQL 18, .* nothing was deleted"):
        call_command("upgrade_database", "--forget")
    assert backup.exists()
    assert (data_dir / "postgres.16" / "base").exists()


def test_nothing_is_deleted_at_once_while_an_upgrade_runs(data_dir: Path) -> None:
    make(data_dir / "postgres", 18)
    make(data_dir / "postgres.16", 16)
    with (
        EmbeddedPostgres.of(data_dir).alone(),
        pytest.raises(CommandError, match="The database is being upgraded"),
    ):
        call_command("upgrade_database", "--forget")
    assert (data_dir / "postgres.16" / "base").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_a_cluster_that_is_a_mount_point_is_refused(data_dir: Path) -> None:
    cluster = make(data_dir / "postgres", 16)
    mount = ["mount", "-t", "tmpfs", "none", str(cluster)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        (cluster / "PG_VERSION").write_text("16\n")
        with pytest.raises(CommandError, match="is a mount point"):
            upgrade()
    finally:
        subprocess.run(["umount", str(cluster)], check=True)


def test_a_swap_that_fails_leaves_no_second_copy(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(data_dir / "postgres", 16)

    def prepare(_: ClusterUpgrade) -> Former:
        make(data_dir / "upgraded", 18)
        make(data_dir / "postgres.16", 16)  # somebody else, meanwhile
        return Former(superuser="sage", has_checksums=True, rows={})

    monkeypatch.setattr(ClusterUpgrade, "_prepare", prepare)
    monkeypatch.setattr("sage.cluster_folders._exchange", lambda *_: False)
    with pytest.raises(CommandError, match=r"The upgrade failed \(Directory not empty: .*\)"):
        upgrade()
    assert version_of(data_dir / "postgres") == 16
    assert not (data_dir / "upgraded").exists()


def test_what_killed_and_failed_upgrades_have_left_is_deleted_after_a_week(data_dir: Path) -> None:
    make(data_dir / "postgres", 18)
    unfinished, logs = make(data_dir / "upgraded", 18), data_dir / "pg_upgrade_output.d"
    (logs / "1").mkdir(parents=True)
    assert remove_former_clusters(now=timezone.now()) == 0
    age(unfinished / "PG_VERSION", 7.1)
    age(logs, 7.1)
    assert remove_former_clusters(now=timezone.now()) == 2
    assert [path.name for path in data_dir.iterdir()] == ["postgres"]


def test_without_the_programs_of_16_a_swap_is_finished_and_an_upgrade_says_so(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sage.postgres_programs.find_spec", lambda _: None)
    make(data_dir / "postgres", 18)
    make(data_dir / "upgraded", 16)
    upgrade()
    assert version_of(data_dir / "postgres.16") == 16
    with pytest.raises(CommandError, match="nothing to upgrade"):
        upgrade()
    (data_dir / "postgres").rename(data_dir / "away")
    (data_dir / "postgres.16").rename(data_dir / "postgres")
    with pytest.raises(CommandError, match="The programs of PostgreSQL 16, which an upgrade needs"):
        upgrade()
