"""The embedded database through its users' starts and crashes.

Over 300 lines, because all tests need such servers.
"""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import psutil
import psycopg
import pytest

from sage.embedded_postgres import EmbeddedPostgres
from sage.env import StartError
from sage.ordinary_role import is_superuser
from sage.postgres_account import SYSTEM_PATH, SYSTEM_USER, View, grant_access, system_account
from sage.postgres_programs import programs_folder
from sage.postgres_server import SOCKET_NAME
from sage.postgres_view import NO_VIEW
from tests.live_sage import url_of_test_database
from tests.sage.processes import PROJECT, finished, started

SECRET = "sk-of-the-test"
SERVERS: list[EmbeddedPostgres] = []
"""Made by the running test. A lock left open would be an unraisable warning in another test."""
# Objects of other roles, except those of extensions.
NOT_OURS = """
    SELECT classid::regclass, objid FROM (
        SELECT 'pg_class'::regclass AS classid, oid AS objid, relowner AS owner FROM pg_class
        UNION ALL SELECT 'pg_type'::regclass, oid, typowner FROM pg_type
        UNION ALL SELECT 'pg_proc'::regclass, oid, proowner FROM pg_proc
        UNION ALL SELECT 'pg_namespace'::regclass, oid, nspowner FROM pg_namespace
    ) AS objects
    WHERE objid >= 16384 AND owner <> 'sage'::regrole AND objid NOT IN (
        SELECT objid FROM pg_depend WHERE deptype = 'e'
        UNION SELECT typarray FROM pg_type JOIN pg_depend ON objid = pg_type.oid AND deptype = 'e'
    ) AND (SELECT nspname FROM pg_namespace WHERE oid = objid) IS DISTINCT FROM 'pg_toast'
"""
EARLY = """
from django.conf import settings
from sage.embedded_backend.base import join_early
join_early(settings.SAGE_DATA_DIR / "postgres")
"""
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")

WITHOUT_MOUNTS = """
import ctypes, os, sys
DROP_BOUNDING, SYS_ADMIN = 24, 21
if ctypes.CDLL(None).prctl(DROP_BOUNDING, SYS_ADMIN, 0, 0, 0):
    sys.exit(99)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Runs a command without the right to mount and to make namespaces, which root lacks in most containers."""

HOLD = """
import sys
from pathlib import Path
from sage.embedded_postgres import EmbeddedPostgres
server = EmbeddedPostgres.of(Path(sys.argv[1]), is_lasting=False)
server.join()
print("joined", flush=True)
sys.stdin.read() if not sys.argv[2:] else __import__("time").sleep(60)
"""


@contextmanager
def _folder() -> Iterator[Path]:
    """Make a folder for clusters. Those of pytest have too long a path for a socket."""
    folder = Path(mkdtemp(prefix="sage-"))
    yield folder
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def _stop(data_dir: Path) -> None:
    """Stop a server that a failed test has left."""
    server = _server(data_dir)
    if _is_running(server):
        server.join()
    while SERVERS:
        SERVERS.pop().leave()


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """The data folder of most tests: making a cluster takes longer than they do."""
    with _folder() as folder:
        yield folder


@pytest.fixture
def data_dir(made: Path) -> Iterator[Path]:
    yield made
    _stop(made)


@pytest.fixture
def empty_dir() -> Iterator[Path]:
    with _folder() as folder:
        yield folder
        _stop(folder)


def _server(data_dir: Path) -> EmbeddedPostgres:
    SERVERS.append(EmbeddedPostgres.of(data_dir, is_lasting=False))
    return SERVERS[-1]


def _is_running(server: EmbeddedPostgres) -> bool:
    return server._has_process()


@pytest.mark.slow
def test_the_last_user_stops_the_server_and_what_was_stored_stays(data_dir: Path) -> None:
    first, second = _server(data_dir), _server(data_dir)
    first.join()
    second.join()
    with psycopg.connect(first.url) as connection:
        connection.execute("CREATE TABLE kept (word text)")
    first.leave()
    assert _is_running(second)
    second.leave()
    assert not _is_running(second)
    second.join()
    with psycopg.connect(second.url) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    second.leave()


@pytest.mark.slow
def test_a_user_that_was_killed_is_forgotten(data_dir: Path) -> None:
    server = _server(data_dir)
    with started("-c", HOLD, str(data_dir), "long") as other:
        other.wait_for_line(lambda line: "joined" in line)
        server.join()
        other.end(signal.SIGKILL)
    server.leave()
    assert not _is_running(server)


@pytest.mark.slow
def test_a_server_that_outlived_its_users_is_joined_and_then_stopped(data_dir: Path) -> None:
    with started("-c", HOLD, str(data_dir), "long") as other:
        other.wait_for_line(lambda line: "joined" in line)
        other.end(signal.SIGKILL)
    server = _server(data_dir)
    assert _is_running(server)
    server.join()
    server.leave()
    assert not _is_running(server)


@pytest.mark.slow
def test_a_killed_server_is_started_again(data_dir: Path) -> None:
    server = _server(data_dir)
    server.join()
    process = server._process()
    assert process is not None
    family = [process, *process.children(recursive=True)]
    process.kill()
    psutil.wait_procs(family, timeout=10)
    later = _server(data_dir)
    later.join()
    with psycopg.connect(later.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    later.leave()
    server.leave()
    assert not _is_running(server)


@pytest.mark.slow
def test_a_pid_file_that_names_another_program_is_not_believed(data_dir: Path) -> None:
    server = _server(data_dir)
    server.join()
    server.leave()
    (server.folder / "postmaster.pid").write_text(f"{os.getpid()}\n{server.folder}\n1\n5432\n\n\n\nready\n")
    server.join()
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    server.leave()


@pytest.mark.slow
def test_a_sockets_lock_that_names_another_program_is_not_believed(data_dir: Path) -> None:
    server, account = _server(data_dir), system_account()
    server.join()
    server.leave()
    user = account.pw_uid if account else os.geteuid()
    with subprocess.Popen(["/bin/sleep", "60"], user=user, cwd="/") as other:
        lock = server.folder / f"{SOCKET_NAME}.lock"
        lock.write_text(f"{other.pid}\n{server.folder}\n1\n5432\n\n")
        server.join()
        with psycopg.connect(server.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        server.leave()
        other.kill()


@only_root
def test_a_cluster_that_was_copied_with_another_machines_owner_is_refused_with_the_command(
    data_dir: Path,
) -> None:
    server, account = _server(data_dir), system_account()
    assert account is not None
    server.join()
    server.leave()
    os.chown(server.folder, 1, -1)
    with pytest.raises(StartError, match=f"chown --recursive {account.pw_name} {server.folder}"):
        server.join()
    os.chown(server.folder, account.pw_uid, -1)


@pytest.mark.slow
def test_a_cluster_that_was_cut_in_the_making_is_made_anew(empty_dir: Path) -> None:
    (empty_dir / "postgres.new").mkdir()
    (empty_dir / "postgres.new" / "PG_VERSION").write_text("18\n")
    server = _server(empty_dir)
    server.join()
    assert _is_running(server)
    server.leave()


def test_nobody_connects_without_the_password(data_dir: Path) -> None:
    server = _server(data_dir)
    server.join()
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(host=str(server.folder), user="sage", dbname="sage", password="guess")
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((data_dir / "database_password").stat().st_mode) == 0o600
    assert not stat.S_IMODE(data_dir.stat().st_mode) & 0o067
    server.leave()


def test_a_lost_password_is_reported_in_one_line(data_dir: Path) -> None:
    server = _server(data_dir)
    server.join()
    password = server.password
    (data_dir / "database_password").write_text("x" * 40)
    with pytest.raises(StartError, match="restore that file"):
        _server(data_dir).join()
    (data_dir / "database_password").write_text(password)
    server.leave()


def test_statements_and_their_details_do_not_reach_the_servers_log(data_dir: Path) -> None:
    server = _server(data_dir)
    server.join()
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE words (word text UNIQUE)")
        connection.execute("INSERT INTO words VALUES ('a secret of mine')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO words VALUES ('a secret of mine')")
    server.leave()
    assert "secret of mine" not in (server.folder / "log").read_text()


def test_too_long_a_path_is_refused_in_one_line() -> None:
    with pytest.raises(StartError, match="too long a path") as refused:
        EmbeddedPostgres.of(Path("/tmp") / ("deep" * 30))
    assert "\n" not in str(refused.value)


@pytest.mark.slow
@only_root
def test_somebody_who_is_not_root_runs_it_too(data_dir: Path) -> None:
    server = _server(data_dir)
    server.join()  # creates the account that is used here, and grants access to the programs
    server.leave()
    other = data_dir / "other"
    other.mkdir(mode=0o700)
    subprocess.run(["chown", SYSTEM_USER, str(other)], check=True)
    # Drop root after the imports: Python itself may be in a private folder.
    become = "account = __import__('pwd').getpwnam('%s'); os = __import__('os'); os.setgroups([])\n"
    become += "os.setgid(account.pw_gid); os.setuid(account.pw_uid); os.chdir('/')\n"
    script = HOLD.replace("server = ", become % SYSTEM_USER + "server = ", 1) + "server.leave()\n"
    done = subprocess.run(
        [sys.executable, "-c", script, str(other)],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "joined\n"), done.stderr
    assert (other / "postgres" / "PG_VERSION").exists()


def _copy_database(source: str, target: str) -> None:
    """Copy a migrated database, with what is in it."""
    dump, load = (str(programs_folder() / program) for program in ("pg_dump", "psql"))
    copied = subprocess.run(
        [dump, "--no-owner", "--no-privileges", source], check=True, capture_output=True
    ).stdout
    command = [load, "--quiet", "--set", "ON_ERROR_STOP=1", target]
    subprocess.run(command, input=copied, check=True, stdout=subprocess.DEVNULL)


class _OlderServer(EmbeddedPostgres):
    """A server as created by older versions: Sage's role is its superuser."""

    def _make_role(self, connection: psycopg.Connection[Any]) -> None:
        pass


def test_the_role_that_sage_connects_with_is_an_ordinary_one(data_dir: Path) -> None:
    server = _server(data_dir)
    server.join()
    with psycopg.connect(server.url, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("COPY (SELECT 1) TO PROGRAM 'true'")
        connection.execute("CREATE DATABASE another")  # like a test suite
        superusers = connection.execute("SELECT rolname, rolcanlogin FROM pg_roles WHERE rolsuper").fetchall()
    assert superusers == [("sage_admin", False)]
    server.leave()


@pytest.mark.slow
@pytest.mark.django_db  # a migrated database to copy
def test_an_older_data_folder_loses_its_superuser_and_no_table(empty_dir: Path) -> None:
    older = _OlderServer.of(empty_dir, is_lasting=False)
    older.join()
    _copy_database(url_of_test_database(), older.url)
    with psycopg.connect(older.url) as connection:
        connection.execute("CREATE SCHEMA apart CREATE VIEW two AS SELECT 2 AS number")
        connection.execute("CREATE DOMAIN word AS text")
        connection.execute("CREATE EXTENSION vector")
        connection.execute("INSERT INTO auth_group (name) VALUES ('kept')")
    older.leave()
    server = _server(empty_dir)
    server.join()
    with psycopg.connect(server.url) as connection:
        assert not is_superuser(connection)
        assert connection.execute("SELECT name FROM auth_group").fetchall() == [("kept",)]
        assert connection.execute(NOT_OURS).fetchall() == []
        connection.execute("ALTER TABLE auth_group ADD COLUMN word word")
        connection.execute("INSERT INTO auth_group (name) VALUES ('new')")
        connection.execute("DROP SCHEMA apart CASCADE")
    server.leave()


def test_the_server_is_given_none_of_our_environment(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("PGOPTIONS", "-c search_path=nowhere")
    server = _server(data_dir)
    server.join()
    main = server._process()
    assert main is not None
    processes = [main, *main.children(recursive=True)]
    environments = []
    for process in processes:
        with suppress(ProcessLookupError, FileNotFoundError):  # some children end at once
            environments.append(Path(f"/proc/{process.pid}/environ").read_bytes())
    assert len(environments) > 3
    assert b"PATH=" in environments[0]
    assert not [text for text in environments if SECRET.encode() in text or b"PGOPTIONS" in text]
    server.leave()


@pytest.mark.slow
@only_root
def test_a_private_folder_above_the_data_stays_closed_to_all_others(empty_dir: Path) -> None:
    private = empty_dir / "private"
    private.mkdir(mode=0o700)
    (private / "sage").mkdir(mode=0o755)
    before = _rights(private)
    for _ in range(2):
        server = _server(private / "sage")
        server.join()
        with psycopg.connect(server.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert _rights(private) == before
        assert not _passes(private, user=65534, group=private.stat().st_gid)
        last = _server(private / "sage")
        last.join()
        server.leave()
        assert _is_running(last)
        last.leave()
        assert not _is_running(last)


@only_root
@pytest.mark.parametrize("mode", [0o700, 0o710, 0o750, 0o711, 0o755])
def test_no_mode_and_no_mask_of_a_folder_above_the_data_changes(empty_dir: Path, mode: int) -> None:
    account = system_account()
    assert account is not None
    empty_dir.chmod(0o755)
    above = empty_dir / "above"
    (above / "project" / "sage").mkdir(parents=True)
    for folder in (above, above / "project"):
        folder.chmod(mode)
    view = grant_access(account, above / "project" / "sage", programs_folder() / "postgres")
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (above, above / "project")] == [mode] * 2
    assert bool(view.private) == (mode == 0o700)
    command = view.command(Path("/bin/sh"), "-c", 'test -x "$1"', "sh", str(above / "project" / "sage"))
    assert subprocess.run(command, check=False).returncode == 0


@only_root
def test_folders_that_are_not_private_need_no_namespace(empty_dir: Path) -> None:
    account = system_account()
    assert account is not None
    command = View(account=account).command(Path("/bin/sh"), "-c", "id -u")
    refused = View(account=account, private=[empty_dir], shown=[]).command(Path("/bin/sh"), "-c", "id -u")
    as_in_a_container = [sys.executable, "-c", WITHOUT_MOUNTS]
    done = _done([*as_in_a_container, *command])
    assert (done.returncode, done.stdout.strip()) == (0, str(account.pw_uid)), done.stderr
    assert _done([*as_in_a_container, *refused]).returncode == NO_VIEW


@only_root
def test_a_folder_that_cannot_be_passed_is_named(empty_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = system_account()
    assert account is not None
    empty_dir.chmod(0o755)
    (empty_dir / "private" / "sage").mkdir(parents=True)
    (empty_dir / "private").chmod(0o700)
    monkeypatch.setattr(
        "sage.postgres_account.VIEW_SCRIPT", Path("/nothing")
    )  # as where no namespace may be made
    with pytest.raises(StartError, match=r"may not pass \S*/private, and Sage doesn't change") as refused:
        grant_access(account, empty_dir / "private" / "sage", programs_folder() / "postgres")
    assert "\n" not in str(refused.value)


def _done(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _rights(folder: Path) -> tuple[int, list[str]]:
    return stat.S_IMODE(folder.stat().st_mode), os.listxattr(folder)


@only_root
def test_the_servers_user_is_made_where_system_programs_are_not_on_the_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    name = f"sage-test-{os.getpid()}"
    try:
        account = system_account(name)
        assert account is not None
        assert account.pw_uid != 0
    finally:
        subprocess.run(["userdel", name], check=True, env={"PATH": SYSTEM_PATH})


def _passes(folder: Path, *, user: int, group: int) -> bool:
    command = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(folder)]
    done = subprocess.run(command, user=user, group=group, extra_groups=[], cwd="/", check=False)
    return done.returncode == 0


@pytest.mark.slow
def test_a_process_that_ends_before_its_server_has_started_stops_it() -> None:
    with _folder() as folder:
        arguments = ("manage.py", "shell", "--no-imports", "-c", EARLY)
        # A slow start is logged as a thread that was cut off.
        assert finished(*arguments, environment={"SAGE_DATA_DIR": str(folder)})[0] == 0
        assert (folder / "postgres" / "PG_VERSION").exists()
        assert not (folder / "postgres" / "postmaster.pid").exists()
