"""A process for each request: alone, limited, and gone afterwards."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coaching.sandbox.forking import START_SECONDS, ForkingProcesses, NotAnswered, NotStarted
from tests.patience import patience

Make = Callable[..., ForkingProcesses]


@pytest.fixture
def make() -> Iterator[Make]:
    """Make processes that do what the name of a request says."""
    made = []

    def make_one(**options: float) -> ForkingProcesses:
        made.append(ForkingProcesses("tests.sandbox.forked_script", **options))  # type: ignore[arg-type]
        return made[-1]

    yield make_one
    for one in made:
        one.close()


def ask(processes: ForkingProcesses, name: str, data: bytes = b"") -> bytes:
    return processes.ask(name, [data], len(data))


def test_each_request_has_a_process_that_knows_no_other(make: Make) -> None:
    processes = make(processes=1)
    assert ask(processes, "one", b"x" * 3_000_000) == b"x" * 3_000_000
    first, second = ask(processes, "pid"), ask(processes, "pid")
    assert first != second
    assert ask(processes, "seen") == b"seen"
    assert len(processes.pids()) == 1
    assert not any(Path("/proc", pid.decode()).exists() for pid in (first, second))


def test_a_process_started_in_advance_answers_the_first_request(make: Make) -> None:
    processes = make()
    processes.warm()
    processes.warm()
    (started,) = processes.pids()
    assert ask(processes, "one", b"data") == b"data"
    assert processes.pids() == [started]
    processes.close()
    assert not Path("/proc", str(started)).exists()


@pytest.mark.parametrize(
    ("name", "is_too_costly"), [("spin", True), ("fill", True), ("fail", False), ("crash", False)]
)
def test_what_fails_or_costs_too_much_is_ended_and_the_next_is_answered(
    make: Make, name: str, is_too_costly: bool
) -> None:
    processes = make(processes=1, seconds=3)
    ask(processes, "one")
    began = time.monotonic()
    with pytest.raises(NotAnswered) as caught:
        ask(processes, name, b"data")
    assert time.monotonic() - began < 3 + patience()
    assert caught.value.is_too_costly is is_too_costly
    assert ask(processes, "two", b"data") == b"data"


def test_a_request_reaches_no_network_and_writes_no_file(make: Make, tmp_path: Path) -> None:
    processes = make(processes=1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        with pytest.raises(NotAnswered):
            ask(processes, f"connect {server.getsockname()[1]}")
        with pytest.raises(TimeoutError):
            server.accept()
    with pytest.raises(NotAnswered):
        ask(processes, f"write {tmp_path / 'file'}")
    assert not (tmp_path / "file").exists() or not (tmp_path / "file").read_text()


def test_a_request_sees_no_secret_and_no_django(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    processes = make(processes=1)
    told = ask(processes, "environment").decode()
    assert "secret" not in told.lower()
    assert "DATABASE_URL" in os.environ
    assert "DATABASE_URL" not in told
    assert "django" not in ask(processes, "modules").decode().split()


def test_only_so_many_are_answered_at_once(make: Make) -> None:
    processes = make(processes=2, seconds=20)
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda number: ask(processes, "x", b"%d" % number), range(6)))
    assert answers == [b"%d" % number for number in range(6)]
    assert 1 <= len(processes.pids()) <= 2


def test_a_module_that_cannot_be_loaded_is_nobodys_fault() -> None:
    began = time.monotonic()
    with pytest.raises(NotStarted):
        ask(ForkingProcesses("tests.sandbox.no_such_module", processes=1), "x")
    assert time.monotonic() - began < START_SECONDS
