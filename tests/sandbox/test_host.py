"""Work on untrusted bytes: answered in time or ended, without delaying others, and gone afterwards."""

import itertools
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from coaching.sandbox.errors import AllBusy, NotAnswered, NotStarted, OutOfTime
from coaching.sandbox.host import START_SECONDS, ProcessHost
from coaching.sandbox.limits import MEGABYTE, Limits
from tests.patience import patience

MODULE = "tests.sandbox.readers"
MANY = 1_000

MakeHost = Callable[..., ProcessHost]


@pytest.fixture
def make_host() -> Iterator[MakeHost]:
    """Make hosts whose processes do what a request says."""
    made = []

    def make(
        *,
        slots: int = 1,
        slow_slots: int = 2,
        quick_seconds: float = 0.1,
        has_spares: bool = False,
        **limits: Any,
    ) -> ProcessHost:
        chosen = {
            "memory_bytes": 512 * MEGABYTE,
            "cpu_seconds": 60,
            "seconds": 20,
            "answer_bytes": 4 * MEGABYTE,
        }
        host = ProcessHost(
            MODULE,
            Limits(**(chosen | limits)),
            slots=slots,
            slow_slots=slow_slots,
            quick_seconds=quick_seconds,
            has_spares=has_spares,
        )
        made.append(host)
        return host

    yield make
    for one in made:
        one.close()


def ask(host: ProcessHost, head: bytes, body: bytes = b"") -> bytes:
    return host.ask(head, [body], len(body))


def ask_soon(host: ProcessHost, request: bytes) -> bytes | NotAnswered | AllBusy:
    (answer,) = host.ask_all([request])
    return answer


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except OSError:
        return True


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 10 * patience()
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


@pytest.mark.parametrize("has_spares", [False, True])
def test_each_request_has_a_process_that_knows_no_other(make_host: MakeHost, has_spares: bool) -> None:
    host = make_host(has_spares=has_spares)
    assert ask(host, b"one", b"x" * 3_000_000) == b"x" * 3_000_000
    first, second = int(ask(host, b"pid")), int(ask(host, b"pid"))
    assert first != second
    assert ask(host, b"seen") == b"seen"
    wait_until(lambda: has_ended(first) and has_ended(second), "a process outlived its request")


def test_a_process_that_may_answer_many_answers_one_after_another(make_host: MakeHost) -> None:
    host = make_host(requests=MANY)
    assert ask_soon(host, b"one") == b"one"
    (process,) = host.pids()
    assert ask_soon(host, b"send 1000000") == b"x" * 1_000_000
    assert ask_soon(host, b"two" * 100_000) == b"two" * 100_000
    assert ask_soon(host, b"") == b""
    assert host.pids() == [process]


@pytest.mark.slow
def test_a_process_that_has_answered_enough_gives_way_to_another(make_host: MakeHost) -> None:
    host = make_host(requests=3)
    pids = [ask_soon(host, b"pid") for _ in range(7)]
    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [3, 3, 1]
    host = make_host(requests=MANY, cpu_seconds=20, seconds=19.7)
    used = ask(host, b"pid")
    assert ask(host, b"compute 0.5") == b"computed"
    assert ask(host, b"pid") != used


def test_processes_started_in_advance_answer_the_first_requests(make_host: MakeHost) -> None:
    host = make_host(requests=MANY, slots=2)
    host.warm()
    host.warm()
    assert ask_soon(host, b"data") == b"data"
    assert ask(host, b"pid")
    assert 1 <= len(host.pids()) <= 2
    pids = host.pids()
    host.close()
    assert all(map(has_ended, pids))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "is_too_costly"),
    [
        (b"spin", True),
        (b"fill", True),
        (b"fail", False),
        (b"crash", False),
        (b"die", False),
        (b"babble", False),
    ],
)
def test_what_fails_or_costs_too_much_is_ended_and_the_next_is_answered(
    make_host: MakeHost, action: bytes, is_too_costly: bool
) -> None:
    host = make_host(seconds=3)
    ask(host, b"one")
    began = time.monotonic()
    with pytest.raises(NotAnswered) as caught:
        ask(host, action, b"data")
    assert time.monotonic() - began < 3 + patience()
    assert caught.value.is_too_costly is is_too_costly
    assert ask(host, b"two", b"data") == b"data"


@pytest.mark.slow
def test_processor_time_is_limited_whatever_the_clock_says(make_host: MakeHost) -> None:
    host = make_host(cpu_seconds=1, seconds=60)
    with pytest.raises(NotAnswered) as caught:
        ask(host, b"spin")
    assert caught.value.is_too_costly


@pytest.mark.slow
def test_a_long_answer_that_is_claimed_costs_the_reader_nothing(make_host: MakeHost) -> None:
    host = make_host(seconds=20, answer_bytes=1_000)
    began = time.monotonic()
    with pytest.raises(NotAnswered):
        ask(host, b"claim 4000000000")
    assert time.monotonic() - began < 3 + patience()


def test_an_answer_in_single_bytes_costs_the_reader_little(make_host: MakeHost) -> None:
    host = make_host(seconds=2)
    ask(host, b"one")
    began = time.thread_time()
    with pytest.raises(NotAnswered):
        ask(host, b"trickle 4000000")
    assert time.thread_time() - began < 1


def test_a_request_sees_no_secret_and_no_django(make_host: MakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    monkeypatch.setenv("PYTHONTZPATH", "/where/zones/lie")
    host = make_host()
    assert ask(host, b"environment") == b"{}"
    assert "DATABASE_URL" in os.environ
    assert "django" not in ask(host, b"modules").decode().split()


def test_only_so_many_are_answered_at_once(make_host: MakeHost) -> None:
    host = make_host(slots=2)
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda number: ask(host, b"x", b"%d" % number), range(6)))
    assert answers == [b"%d" % number for number in range(6)]
    with ThreadPoolExecutor(2) as threads:
        slow = [threads.submit(ask, host, b"sleep 2") for _ in range(2)]
        time.sleep(0.5)
        with pytest.raises(AllBusy):
            host.ask(b"x", [], 0, wait_seconds=0.1)
        assert [one.result() for one in slow] == [b"slept", b"slept"]


def test_a_module_that_cannot_be_loaded_is_nobodys_fault() -> None:
    limits = Limits(memory_bytes=512 * MEGABYTE, cpu_seconds=10, seconds=5, answer_bytes=MEGABYTE)
    host = ProcessHost("tests.sandbox.no_such_module", limits, slots=1)
    began = time.monotonic()
    for _ in range(2):
        with pytest.raises(NotStarted):
            ask(host, b"x")
    assert isinstance(ask_soon(host, b"x"), AllBusy)
    assert time.monotonic() - began < START_SECONDS


def test_what_takes_too_long_is_killed_in_time_and_the_next_is_answered(make_host: MakeHost) -> None:
    host = make_host(requests=MANY, seconds=1.5)
    ask_soon(host, b"wake up")
    began = time.monotonic()
    assert isinstance(ask_soon(host, b"sleep 60"), NotAnswered)
    assert time.monotonic() - began < 3 + patience()
    assert ask_soon(host, b"next") == b"next"


@pytest.mark.slow
def test_a_slow_request_runs_in_parallel_and_delays_nobody(make_host: MakeHost) -> None:
    host = make_host(requests=MANY)
    ask_soon(host, b"wake up")
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(ask_soon, host, b"sleep 3")
        while host.pids():  # until the slow one has the only slot
            time.sleep(0.005)
        assert ask_soon(host, b"quick") == b"quick"
        assert not slow.done()
        assert slow.result() == b"slept"


def test_when_too_many_are_slow_further_ones_are_given_up_early(make_host: MakeHost) -> None:
    host = make_host(requests=MANY, slow_slots=0)
    ask_soon(host, b"wake up")
    began = time.monotonic()
    assert isinstance(ask_soon(host, b"sleep 15"), AllBusy)
    assert time.monotonic() - began < 10
    assert ask_soon(host, b"next") == b"next"


@pytest.mark.slow
def test_of_many_requests_a_slow_one_costs_itself_alone_and_all_take_the_time_of_one(
    make_host: MakeHost,
) -> None:
    host = make_host(requests=MANY, seconds=3, quick_seconds=0.2)
    ask_soon(host, b"wake up")
    began = time.monotonic()
    first, slow, endless, last = host.ask_all([b"first", b"sleep 1", b"sleep 60", b"last"])
    assert time.monotonic() - began < 3 + patience()
    assert (first, slow, last) == (b"first", b"slept", b"last")
    assert isinstance(endless, NotAnswered)
    third = host.ask_all([b"sleep 60", b"sleep 60", b"sleep 60", b"last"])
    assert [type(answer) for answer in third] == [NotAnswered, NotAnswered, AllBusy, bytes]


def test_a_process_that_dies_of_its_request_or_by_a_hand_is_replaced(make_host: MakeHost) -> None:
    host = make_host(requests=MANY)
    assert isinstance(ask_soon(host, b"die"), NotAnswered)
    assert ask_soon(host, b"one") == b"one"
    (process,) = host.pids()
    template = parent_of(process)
    os.kill(process, 9)
    wait_until(lambda: has_ended(process), "the process is killed")
    assert ask_soon(host, b"two") == b"two"
    (process,) = host.pids()
    os.kill(template, 9)
    wait_until(lambda: has_ended(process), "a process outlived its template")
    assert ask_soon(host, b"three") == b"three"
    assert ask(host, b"pid")


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_closed_host_leaves_no_process_behind(make_host: MakeHost) -> None:
    host = make_host(requests=MANY, slots=2)
    host.warm()
    ask_soon(host, b"one")
    processes = host.pids()
    template = parent_of(processes[0])
    host.close()
    assert has_ended(template)
    wait_until(lambda: all(map(has_ended, processes)), "a process outlived its host")
    assert ask_soon(host, b"one") == b"one"


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them() -> None:
    code = (
        "import os; from coaching.sandbox.host import ProcessHost; "
        "from coaching.sandbox.limits import Limits; "
        "limits = Limits(memory_bytes=1 << 29, cpu_seconds=99, seconds=20, answer_bytes=99, requests=9); "
        f"host = ProcessHost('{MODULE}', limits, slots=1); "
        "print(host.ask(b'pid', [], 0).decode(), flush=True); os.kill(os.getpid(), 9)"
    )
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    process = int(found.stdout)
    wait_until(lambda: has_ended(process), "the process outlived its host")


def test_a_file_is_read_answer_by_answer(make_host: MakeHost, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"skipped\none\nsleep 1\nsend 1000000\nlast\n")
    host = make_host()
    with path.open("rb") as file, host.open(file, b"8") as reading:
        assert reading.next(seconds=20) == b"one\n"
        with pytest.raises(OutOfTime):
            reading.next(seconds=0.2)
        assert reading.next(seconds=20) == b"slept"
        assert reading.next(seconds=20) == b"x" * 1_000_000
        assert reading.next(seconds=20) == b"last\n"
        assert reading.next(seconds=20) is None
        pid = reading.pid
    wait_until(lambda: has_ended(pid), "the process outlived its file")


def test_a_process_that_cannot_be_forked_leaves_the_others_alone(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\nlast\n")
    limits = Limits(memory_bytes=512 * MEGABYTE, cpu_seconds=60, seconds=20, answer_bytes=MEGABYTE)
    host = ProcessHost("tests.sandbox.crowded", limits, slots=2)
    try:
        with path.open("rb") as file, host.open(file, b"0") as reading:
            assert reading.next(seconds=20) == b"one\n"
            with pytest.raises(NotStarted):
                ask(host, b"pid")
            assert reading.next(seconds=20) == b"last\n"
            assert ask(host, b"x", b"next") == b"next"
    finally:
        host.close()


def test_a_fork_without_room_for_its_pipes_leaves_none_open(make_host: MakeHost) -> None:
    host = make_host()
    ask(host, b"pid")  # so that the template runs
    before = _descriptors()
    free = (number for number in itertools.count() if number not in before)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next(itertools.islice(free, 3, None)), hard))
    try:
        with pytest.raises(NotStarted):
            ask(host, b"pid")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert _descriptors() == before
    assert ask(host, b"x", b"next") == b"next"


def _descriptors() -> set[int]:
    """Return this process's open descriptors, without the one that lists them."""
    return {int(each.name) for each in list(Path("/proc/self/fd").iterdir()) if each.exists()}


@pytest.mark.slow
def test_a_reading_tells_its_processor_time_and_ends_with_its_block(
    make_host: MakeHost, tmp_path: Path
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\nspin\n")
    host = make_host()
    with path.open("rb") as file, host.open(file, b"0") as reading:
        assert reading.next(seconds=20) == b"one\n"
        wait_until(lambda: reading.cpu_seconds > 0.3, "no processor time is told")
        with pytest.raises(OutOfTime):
            reading.next(seconds=0.01)
        with pytest.raises(AllBusy), host.open(file, b"0", wait_seconds=0.1):
            pass
        pid = reading.pid
    wait_until(lambda: has_ended(pid), "the process outlived its block")
    assert ask(host, b"x", b"next") == b"next"


@pytest.mark.parametrize(("line", "is_too_costly"), [("fill", True), ("fail", False), ("babble", False)])
def test_a_reading_that_fails_says_so(
    make_host: MakeHost, tmp_path: Path, line: str, is_too_costly: bool
) -> None:
    path = tmp_path / "lines"
    path.write_text(f"one\n{line}\n")
    with path.open("rb") as file, make_host().open(file, b"0") as reading:
        assert reading.next(seconds=20) == b"one\n"
        with pytest.raises(NotAnswered) as caught:
            reading.next(seconds=20)
        assert caught.value.is_too_costly is is_too_costly


@pytest.mark.slow
def test_answers_that_nobody_takes_cost_no_processor_time(make_host: MakeHost, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("send 100000\n" * 1_000)
    with path.open("rb") as file, make_host().open(file, b"0") as reading:
        reading.next(seconds=20)
        time.sleep(0.3)
        used = reading.cpu_seconds
        time.sleep(0.3)
        assert reading.cpu_seconds == used
