"""`manage.py up` as a newcomer runs it: a process, a port, a browser's requests."""

import json
import os
import re
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from tempfile import mkdtemp
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import psutil
import pytest
from django.conf import settings
from django.core.management import get_commands

from tests.sage.processes import StartedProcess, finished, processes_naming, started

KEY = "a-key-of-the-test"


class Up:
    """A running `up`, with its output."""

    def __init__(self, process: StartedProcess, data_dir: Path) -> None:
        self.process = process
        self.data_dir = data_dir
        self.environment = {"SAGE_DATA_DIR": str(data_dir)}
        self.url = process.wait_for_line(lambda line: "  open  " in line, 120).split()[1]
        process.wait_for_line(lambda line: "Ctrl-C" in line)

    @property
    def password(self) -> str | None:
        """Return the demo account's password, if it was shown."""
        found = re.search(r"demo@sage\.local  (\S+)", self.process.output)
        return found[1] if found else None


@contextmanager
def running(data_dir: Path, *arguments: str) -> Iterator[Up]:
    """Run `up` on a free port."""
    command = ("manage.py", "up", "--port", "0", *arguments)
    environment = {"SAGE_DATA_DIR": str(data_dir), "AWS_SECRET_ACCESS_KEY": KEY}
    with started(*command, environment=environment) as process:
        yield Up(process, data_dir)


@pytest.fixture(scope="module")
def first() -> Iterator[Up]:
    """Sage after its first start was killed; ended by SIGTERM, which must leave no process.

    Not in pytest's folder, whose path is too long for a database socket.
    """
    folder = Path(mkdtemp(prefix="sage-"))
    with running(folder, "--no-demo") as killed:
        assert killed.password is None
        killed.process.end(signal.SIGKILL)
    with running(folder) as up:
        up.process.wait_for_line(lambda line: "Starting worker" in line)
        yield up
        assert up.process.end(signal.SIGTERM) == 0
        assert "Stopped worker" in up.process.output
        assert up.process.output.rstrip().endswith("Sage has stopped.")
        assert "Traceback" not in up.process.output
    assert processes_naming(str(folder)) == []
    shutil.rmtree(folder)


def test_the_first_account_is_a_demo_that_can_sign_in(first: Up) -> None:
    assert first.password
    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    page = browser.open(f"{first.url}accounts/login/").read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token
    form = {"csrfmiddlewaretoken": token[1], "login": "demo@sage.local", "password": first.password}
    assert browser.open(f"{first.url}accounts/login/", urlencode(form).encode()).url == first.url


def test_the_summary_says_what_a_newcomer_must_know(first: Up) -> None:
    assert "practice model" in first.process.output
    assert str(first.data_dir) in first.process.output
    assert f"{first.url}accounts/signup/" in first.process.output


def test_background_jobs_are_worked_on_in_the_same_process(first: Up) -> None:
    first.process.wait_for_line(lambda line: "Starting worker" in line)


def test_pages_come_with_hashed_files_that_may_be_kept_for_ever(first: Up) -> None:
    page = urlopen(f"{first.url}accounts/login/").read().decode()
    sheets = re.findall(r'href="/(static/dist/[a-z]+\.[0-9a-f]{12}\.css)"', page)
    assert len(sheets) == 1
    answer = urlopen(first.url + sheets[0])
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Server"] is None


def test_a_page_loads_all_styles_and_its_scripts_as_one_hashed_file_each(first: Up) -> None:
    page = urlopen(f"{first.url}accounts/login/").read().decode()
    (sheet,) = re.findall(r'rel="stylesheet" href="/(static/dist/sage\.[0-9a-f]{12}\.css)"', page)
    (script,) = re.findall(r'type="module" src="/(static/dist/passkeys\.[0-9a-f]{12}\.js)"', page)
    for name in (sheet, script):
        assert "immutable" in urlopen(first.url + name).headers["Cache-Control"]
    fonts = re.findall(r"url\(\"?\.\./(fonts/[^)\"]+)", urlopen(first.url + sheet).read().decode())
    assert len(fonts) == len(list((settings.BASE_DIR / "static" / "fonts").rglob("*.woff2")))
    assert all(re.search(r"\.[0-9a-f]{12}\.woff2$", font) for font in fonts), fonts


def test_what_a_page_loads_later_has_a_hash_too(first: Up) -> None:
    page = urlopen(f"{first.url}accounts/login/").read().decode()
    (script,) = re.findall(r'data-script="/(static/vendor/temml/temml\.min\.[0-9a-f]{12}\.js)"', page)
    assert "immutable" in urlopen(first.url + script).headers["Cache-Control"]


def test_no_process_that_it_starts_knows_a_key(first: Up) -> None:
    main = psutil.Process(first.process.popen.pid)
    server = psutil.Process(int((first.data_dir / "postgres" / "postmaster.pid").read_text().split()[0]))
    children = {server, *server.children(recursive=True), *main.children(recursive=True)}
    assert len(children) > 4  # the database's, and those that read untrusted text
    environments = {child.pid: Path(f"/proc/{child.pid}/environ").read_bytes() for child in children}
    assert KEY.encode() in Path(f"/proc/{main.pid}/environ").read_bytes()
    assert [pid for pid, environment in environments.items() if KEY.encode() in environment] == []


def test_other_commands_work_while_it_runs(first: Up) -> None:
    script = "from django.contrib.auth.models import User; print('people:', User.objects.count())"
    told = finished("manage.py", "shell", "--no-imports", "-c", script, environment=first.environment)
    assert told == (0, "people: 1\n")
    assert urlopen(f"{first.url}readyz").status == 200


def reader_of(started: Up) -> psutil.Process:
    """Wait for the process that reads documents, which starts during the first requests."""
    main, deadline = psutil.Process(started.process.popen.pid), time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in main.children():
            if "coaching.library.extractors.worker" in " ".join(child.cmdline()):
                return child
        time.sleep(0.1)
    raise AssertionError


def test_a_second_start_is_ready_within_10_seconds_and_keeps_the_password_to_itself(first: Up) -> None:
    began = time.monotonic()
    with running(first.data_dir) as second:
        seconds = time.monotonic() - began
        assert second.password is None
        reader = reader_of(second)
        assert second.process.end(signal.SIGINT) == 0
    # It may have been starting still, and notices only then. Without a parent it may stay a zombie, too.
    psutil.wait_procs([reader], timeout=10)
    assert not reader.is_running() or reader.status() == psutil.STATUS_ZOMBIE
    # Ten seconds on an idle machine; next to other tests each process has its share.
    assert seconds < 10 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    # The database stays up for its remaining user.
    assert urlopen(f"{first.url}readyz").status == 200


def test_health_says_that_it_lives_and_which_part_fails(first: Up) -> None:
    assert urlopen(f"{first.url}healthz").read() == b"ok\n"
    everything = json.load(urlopen(f"{first.url}readyz"))
    assert everything == {"status": "ok", "database": "ok", "cache": "ok", "storage": "ok", "sandbox": "full"}
    files = first.data_dir / "files"
    shutil.rmtree(files)
    files.write_text("in the way")
    try:
        with pytest.raises(HTTPError) as refused:
            urlopen(f"{first.url}readyz")
    finally:
        files.unlink()
    with refused.value as answer:
        assert answer.code == 503
        assert json.load(answer) == everything | {"status": "failing", "storage": "failing"}


def test_commands_without_it_leave_no_process_and_web_wants_a_migrated_database() -> None:
    folder = Path(mkdtemp(prefix="sage-"))
    told = finished("manage.py", "web", "--port", "0", environment={"SAGE_DATA_DIR": str(folder)})
    assert told == (
        1,
        "Sage can't start: the database isn't of this version: run `manage.py migrate` (or `up`) first.\n",
    )
    assert (folder / "postgres" / "PG_VERSION").exists()
    assert processes_naming(str(folder)) == []
    shutil.rmtree(folder)


# Required arguments; all other commands run without.
ARGUMENTS = {
    "changepassword": ["ada"],
    "classify": ["pyproject.toml", "--user", "ada"],
    "createsuperuser": ["--noinput", "--username", "ada", "--email", "ada@example.org"],
    "delete_user": ["ada"],
    "export_user": ["ada", "--out", "ada.zip"],
    "import_legacy": ["pyproject.toml", "--user", "ada"],
    "mcp": ["--user", "ada"],
    "recall": ["sister", "--user", "ada"],
    "show_prompt": ["--user", "ada"],
}
NEED_NO_TABLES = {
    "check_model", "collect_garbage", "compilemessages", "makemessages", "migrate", "read_inbox",
    "restore", "sendtestemail", "up", "upgrade_database",
}  # fmt: skip
"""`read_inbox` first says what isn't set, `restore` makes the tables, and an upgrade needs no new ones."""
OURS = {name for name, app in get_commands().items() if app in ("sage", "coaching")}
BEFORE_THE_FIRST_UP = sorted((OURS | ARGUMENTS.keys()) - NEED_NO_TABLES)
WITHOUT_A_DATABASE = ["createsuperuser", "export_user", "migrate"]

Told = dict[str, tuple[int, str]]


def told_by(commands: list[str], environment: dict[str, str]) -> Told:
    """Run commands, each in a process of its own; return exit codes and outputs."""
    lines = [[command, *ARGUMENTS.get(command, [])] for command in commands]
    code, told = finished("-m", "tests.sage.each_command", json.dumps(lines), environment=environment)
    assert code == 0, told
    return {command: (code, text) for command, (code, text) in zip(commands, json.loads(told), strict=True)}


@pytest.fixture(scope="module")
def told_before_the_first_up(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return told_by(BEFORE_THE_FIRST_UP, _elsewhere(tmp_path_factory.mktemp("data")))


@pytest.mark.parametrize("command", BEFORE_THE_FIRST_UP)
def test_a_command_before_the_first_up_says_what_to_do_in_one_line(
    command: str, told_before_the_first_up: Told
) -> None:
    code, told = told_before_the_first_up[command]
    assert code == 1
    line = "the database isn't of this version: run `manage.py migrate` (or `up`) first."
    assert told.splitlines()[-1] == f"Sage can't start: {line}"
    assert "Traceback" not in told


@pytest.fixture(scope="module")
def told_without_a_database(tmp_path_factory: pytest.TempPathFactory) -> Told:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    address = {"DATABASE_URL": f"postgres://sage:hunter2@127.0.0.1:{port}/sage"}
    return told_by(WITHOUT_A_DATABASE, _elsewhere(tmp_path_factory.mktemp("data")) | address)


@pytest.mark.parametrize("command", WITHOUT_A_DATABASE)
def test_a_command_without_its_database_says_what_to_do_instead_of_a_traceback(
    command: str, told_without_a_database: Told
) -> None:
    code, told = told_without_a_database[command]
    assert code == 1
    line = told.splitlines()[-1]
    assert line.startswith("Sage can't start: the database can't be reached (")
    assert "correct DATABASE_URL" in line
    assert "Traceback" not in told
    assert "hunter2" not in told


def test_a_port_in_use_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = finished("manage.py", "up", "--port", port, environment=_elsewhere(tmp_path))
    line = f"port {port} on 127.0.0.1 is in use: stop what uses it, or choose another with --port."
    assert told == (1, f"Sage can't start: {line}\n")


def _elsewhere(folder: Path) -> dict[str, str]:
    """Settings with the tests' database, so that nothing is started."""
    return {"SAGE_DATA_DIR": str(folder), "DATABASE_URL": os.environ["DATABASE_URL"]}
