"""Work of unknown length: answered in time, or killed without delaying others."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coaching.sandbox.killable import AllBusy, KillablePool, TookTooLong
from tests.patience import patience

SCRIPT = """
import os, time

def answer(request):
    word, _, rest = request.partition(b" ")
    if word == b"sleep":
        time.sleep(float(rest))
    if word == b"die":
        os._exit(1)
    if word == b"environment":
        return repr(dict(os.environ)).encode()
    if word == b"big":
        return b"x" * int(rest)
    return request
"""

MakePool = Callable[..., KillablePool]


@pytest.fixture
def make_pool(tmp_path: Path) -> Iterator[MakePool]:
    """Make pools whose workers sleep, die or answer on request."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    pools = []

    def make(**options: float) -> KillablePool:
        pool = KillablePool(script, **{"workers": 1, **options})  # type: ignore[arg-type]
        pools.append(pool)
        return pool

    yield make
    for pool in pools:
        pool.close()


def test_a_worker_answers_one_request_after_another(make_pool: MakePool) -> None:
    pool = make_pool(seconds=20)
    assert pool.ask(b"one") == b"one"
    (worker,) = pool.pids()
    assert pool.ask(b"big 1000000") == b"x" * 1_000_000
    assert pool.ask(b"two" * 100_000) == b"two" * 100_000
    assert pool.ask(b"") == b""
    assert pool.pids() == [worker]


def test_what_takes_too_long_is_killed_in_time_and_the_next_is_answered(make_pool: MakePool) -> None:
    pool = make_pool(seconds=1.5, quick_seconds=0.1)
    pool.ask(b"wake up")
    began = time.monotonic()
    with pytest.raises(TookTooLong):
        pool.ask(b"sleep 60")
    assert time.monotonic() - began < 3 + patience()
    assert pool.ask(b"next") == b"next"


def test_a_slow_request_runs_in_parallel_and_delays_nobody(make_pool: MakePool) -> None:
    pool = make_pool(seconds=20, quick_seconds=0.1)
    pool.ask(b"wake up")
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(pool.ask, b"sleep 3")
        while pool.pids():  # until the slow one has the only slot
            time.sleep(0.005)
        assert pool.ask(b"quick") == b"quick"
        assert not slow.done()
        assert slow.result() == b"sleep 3"


def test_when_too_many_are_slow_further_ones_are_given_up_early(make_pool: MakePool) -> None:
    pool = make_pool(seconds=20, quick_seconds=0.1, slow_workers=0)
    pool.ask(b"wake up")
    began = time.monotonic()
    with pytest.raises(AllBusy):
        pool.ask(b"sleep 15")
    assert time.monotonic() - began < 10
    assert pool.ask(b"next") == b"next"


def test_of_many_requests_a_slow_one_costs_itself_alone_and_all_take_the_time_of_one(
    make_pool: MakePool,
) -> None:
    pool = make_pool(seconds=3, quick_seconds=0.2)
    pool.ask(b"wake up")
    began = time.monotonic()
    first, slow, endless, last = pool.ask_all([b"first", b"sleep 1", b"sleep 60", b"last"])
    assert time.monotonic() - began < 3 + patience()
    assert (first, slow, last) == (b"first", b"sleep 1", b"last")
    assert isinstance(endless, TookTooLong)
    third = pool.ask_all([b"sleep 60", b"sleep 60", b"sleep 60", b"last"])
    assert [type(answer) for answer in third] == [TookTooLong, TookTooLong, AllBusy, bytes]


def test_a_worker_that_dies_of_its_request_or_by_a_hand_is_replaced(make_pool: MakePool) -> None:
    pool = make_pool(seconds=20)
    with pytest.raises(TookTooLong):
        pool.ask(b"die")
    assert pool.ask(b"one") == b"one"
    (worker,) = pool.pids()
    os.kill(worker, 9)
    while is_alive(worker):
        time.sleep(0.005)
    assert pool.ask(b"two") == b"two"


def test_a_worker_gets_no_secret(make_pool: MakePool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/where/python/lies")
    told = make_pool(seconds=20).ask(b"environment").decode()
    assert "/where/python/lies" in told
    assert "secret" not in told.lower()
    assert "DATABASE_URL" in os.environ
    assert "DATABASE_URL" not in told


def test_a_closed_pool_leaves_no_process_behind(make_pool: MakePool) -> None:
    pool = make_pool(seconds=20, workers=2)
    pool.warm()
    workers = pool.pids()
    assert len(workers) == 2
    pool.close()
    assert not any(map(is_alive, workers))


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    code = (
        "import pathlib, sys; from coaching.sandbox.killable import KillablePool; "
        "pool = KillablePool(pathlib.Path(sys.argv[1]), seconds=20, workers=1); "
        "pool.ask(b'x'); print(pool.pids()[0])"
    )
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "script.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    worker = int(found.stdout)
    deadline = time.monotonic() + 10
    while is_alive(worker):
        assert time.monotonic() < deadline, "the worker outlived its parent"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
            return stat.read().split()[2] != "Z"
    except OSError:
        return False
