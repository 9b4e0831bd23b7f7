"""The database that Sage brings itself, through the lives and deaths of its users."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import psutil
import psycopg
import pytest

from sage.embedded_postgres import SYSTEM_USER, EmbeddedPostgres
from sage.env import StartError
from tests.sage.processes import PROJECT, started

HOLD = """
import sys
from pathlib import Path
from sage.embedded_postgres import EmbeddedPostgres
server = EmbeddedPostgres.of(Path(sys.argv[1]), is_lasting=False)
server.join()
print("joined", flush=True)
sys.stdin.read() if not sys.argv[2:] else __import__("time").sleep(60)
"""


@pytest.fixture
def data_dir() -> Iterator[Path]:
    # Pytest's own temporary folders have too long a path for a socket.
    folder = Path(mkdtemp(prefix="sage-"))
    yield folder
    server = _server(folder)
    server.join()
    server.leave()
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def _server(data_dir: Path) -> EmbeddedPostgres:
    return EmbeddedPostgres.of(data_dir, is_lasting=False)


def _is_running(server: EmbeddedPostgres) -> bool:
    return server._has_process()


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


def test_a_user_that_was_killed_is_forgotten(data_dir: Path) -> None:
    server = _server(data_dir)
    with started("-c", HOLD, str(data_dir), "long") as other:
        other.wait_for_line(lambda line: "joined" in line)
        server.join()
        other.end(signal.SIGKILL)
    server.leave()
    assert not _is_running(server)


def test_a_server_that_outlived_its_users_is_joined_and_then_stopped(data_dir: Path) -> None:
    with started("-c", HOLD, str(data_dir), "long") as other:
        other.wait_for_line(lambda line: "joined" in line)
        other.end(signal.SIGKILL)
    server = _server(data_dir)
    assert _is_running(server)
    server.join()
    server.leave()
    assert not _is_running(server)


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


def test_a_pid_file_that_names_another_program_is_not_believed(data_dir: Path) -> None:
    server = _server(data_dir)
    server.join()
    server.leave()
    (server.folder / "postmaster.pid").write_text(f"{os.getpid()}\n{server.folder}\n1\n5432\n\n\n\nready\n")
    server.join()
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    server.leave()


def test_a_cluster_that_was_cut_in_the_making_is_made_anew(data_dir: Path) -> None:
    (data_dir / "postgres.new").mkdir()
    (data_dir / "postgres.new" / "PG_VERSION").write_text("18\n")
    server = _server(data_dir)
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


def test_a_lost_password_is_told_in_one_line(data_dir: Path) -> None:
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_somebody_who_is_not_root_runs_it_too(data_dir: Path) -> None:
    server = _server(data_dir)
    server.join()  # makes the account that is borrowed here, and opens the way to the programs
    server.leave()
    other = data_dir / "other"
    other.mkdir(mode=0o700)
    subprocess.run(["chown", SYSTEM_USER, str(other)], check=True)
    # It lets go of root's rights only after its imports: Python itself may lie where nobody else can read.
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
