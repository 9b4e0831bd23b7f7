"""`manage.py up` as a newcomer runs it: a process, a port, a browser's requests."""

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from tempfile import mkdtemp
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import pytest

from tests.sage.processes import StartedProcess, finished, processes_naming, started


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """One data folder for the whole story; pytest's own have too long a path for a database socket."""
    folder = Path(mkdtemp(prefix="sage-"))
    yield folder
    subprocess.run(["rm", "-rf", str(folder)], check=True)


class Up:
    """A running `up`, with what it has told."""

    def __init__(self, process: StartedProcess) -> None:
        self.process = process
        ready = process.wait_for_line(lambda line: line.startswith("Sage is ready after"), 120)
        self.seconds = float(ready.split()[4])
        self.url = process.wait_for_line(lambda line: "  open  " in line).split()[1]
        process.wait_for_line(lambda line: "Ctrl-C" in line)

    @property
    def password(self) -> str | None:
        """Return the demo account's password, if it was shown."""
        found = re.search(r"demo@sage\.local  (\S+)", self.process.output)
        return found[1] if found else None


@contextmanager
def running(data_dir: Path, *arguments: str, **variables: str) -> Iterator[Up]:
    """Run `up` on a free port."""
    command = ("manage.py", "up", "--port", "0", *arguments)
    with started(*command, environment={"SAGE_DATA_DIR": str(data_dir), **variables}) as process:
        yield Up(process)


def test_a_first_start_makes_a_demo_account_that_can_sign_in(data_dir: Path) -> None:
    with running(data_dir) as up:
        assert up.password
        assert "practice model" in up.process.output
        assert str(data_dir) in up.process.output
        browser = build_opener(HTTPCookieProcessor(CookieJar()))
        page = browser.open(f"{up.url}accounts/login/").read().decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token
        form = {"csrfmiddlewaretoken": token[1], "login": "demo@sage.local", "password": up.password}
        answer = browser.open(f"{up.url}accounts/login/", urlencode(form).encode())
        assert answer.url == up.url
        assert up.process.end() == 0


def test_a_second_start_is_ready_in_10_seconds_and_keeps_the_password_to_itself(data_dir: Path) -> None:
    with running(data_dir) as up:
        assert up.seconds < 10
        assert up.password is None
        health = json.load(urlopen(f"{up.url}readyz"))
        assert health == {"status": "ok", "database": "ok", "cache": "ok", "storage": "ok"}
        assert urlopen(f"{up.url}healthz").read() == b"ok\n"
        assert up.process.end(signal.SIGINT) == 0
    assert "Traceback" not in up.process.output


def test_pages_come_with_hashed_files_that_may_be_kept_for_ever(data_dir: Path) -> None:
    with running(data_dir) as up:
        page = urlopen(f"{up.url}accounts/login/").read().decode()
        sheets = re.findall(r'href="/(static/css/[a-z]+\.[0-9a-f]{12}\.css)"', page)
        assert sheets
        answer = urlopen(up.url + sheets[0])
        assert "immutable" in answer.headers["Cache-Control"]
        assert answer.headers["Server"] is None


def test_other_commands_work_beside_it_and_without_it(data_dir: Path) -> None:
    environment = {"SAGE_DATA_DIR": str(data_dir)}
    script = "from django.contrib.auth.models import User; print('people:', User.objects.count())"
    count = ("manage.py", "shell", "--no-imports", "-c", script)
    with running(data_dir) as up:
        beside = finished(*count, environment=environment)
        assert urlopen(f"{up.url}readyz").status == 200
        assert up.process.end() == 0
    assert processes_naming(str(data_dir)) == []
    without = finished(*count, environment=environment)
    assert beside == without == (0, "people: 1\n")
    assert processes_naming(str(data_dir)) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_no_process(data_dir: Path, number: signal.Signals) -> None:
    with running(data_dir) as up:
        assert processes_naming(str(data_dir))
        assert up.process.end(number) == 0
        assert up.process.output.rstrip().endswith("Sage has stopped.")
    assert processes_naming(str(data_dir)) == []


def test_it_starts_after_it_was_killed_and_then_leaves_no_process(data_dir: Path) -> None:
    with running(data_dir) as killed:
        killed.process.end(signal.SIGKILL)
    with running(data_dir) as up:
        assert up.process.end() == 0
    assert processes_naming(str(data_dir)) == []


def test_a_port_in_use_is_one_line_that_says_what_to_do(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, output = finished(
            "manage.py", "up", "--port", port, environment={"SAGE_DATA_DIR": str(data_dir)}
        )
    assert code == 1
    assert output.strip() == (
        f"Sage can't start: port {port} on 127.0.0.1 is in use: "
        "stop what uses it, or choose another with --port."
    )
    assert processes_naming(str(data_dir)) == []


@pytest.mark.parametrize("command", ["up", "web"])
@pytest.mark.parametrize(
    ("variable", "url"),
    [("DATABASE_URL", "postgres://me:hunter2@127.0.0.1:1/sage"), ("REDIS_URL", "redis://127.0.0.1:1/0")],
)
def test_a_server_that_is_not_there_is_one_line_that_names_its_variable(
    data_dir: Path, command: str, variable: str, url: str
) -> None:
    environment = {"SAGE_DATA_DIR": str(data_dir), variable: url}
    code, output = finished("manage.py", command, "--port", "0", environment=environment)
    assert code == 1
    assert len(output.strip().splitlines()) == 1
    assert output.startswith("Sage can't start: ")
    assert variable in output
    assert "hunter2" not in output


def test_web_refuses_a_database_of_another_version() -> None:
    folder = Path(mkdtemp(prefix="sage-"))
    environment = {"SAGE_DATA_DIR": str(folder)}
    code, output = finished("manage.py", "web", "--port", "0", environment=environment)
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    assert code == 1
    assert output.strip() == (
        "Sage can't start: the database isn't of this version: run `manage.py migrate` first."
    )


def test_no_demo_makes_nobody() -> None:
    folder = Path(mkdtemp(prefix="sage-"))
    try:
        with running(folder, "--no-demo") as up:
            assert up.password is None
            assert up.process.end() == 0
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_readiness_names_the_part_that_fails(data_dir: Path) -> None:
    with running(data_dir) as up:
        subprocess.run(["rm", "-rf", str(data_dir / "files")], check=True)
        (data_dir / "files").write_text("in the way")
        try:
            with pytest.raises(HTTPError) as refused:
                urlopen(f"{up.url}readyz")
        finally:
            (data_dir / "files").unlink()
        assert refused.value.code == 503
        assert json.load(refused.value) == {
            "status": "failing", "database": "ok", "cache": "ok", "storage": "failing",
        }  # fmt: skip
        refused.value.close()
