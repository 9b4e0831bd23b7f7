"""Loops that fail begin again; what fails is logged and counted, and what keeps failing is named."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from django.db import InterfaceError, OperationalError
from prometheus_client import REGISTRY
from psycopg.errors import (
    AdminShutdown,
    CannotConnectNow,
    ConnectionFailure,
    DeadlockDetected,
    DiskFull,
    LockNotAvailable,
    QueryCanceled,
)
from structlog.testing import capture_logs
from structlog.typing import EventDict

from coaching import supervision
from coaching.supervision import FAILURES_IN_A_ROW, Items, Supervisor

LOOP = "of_the_tests"
FOREVER = 3600.0


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "FIRST_WAIT_SECONDS", 0.001)
    monkeypatch.setattr(supervision, "LONGEST_WAIT_SECONDS", 0.004)


@pytest.fixture
def logged() -> Iterator[list[EventDict]]:
    with capture_logs() as events:
        yield events


class Script:
    """A loop that does one thing each time it is run, and then waits for ever."""

    def __init__(self, *steps: Callable[[], None]) -> None:
        self._steps = list(steps)
        self.is_waiting = asyncio.Event()

    async def run(self) -> None:
        if self._steps:
            self._steps.pop(0)()
            return
        self.is_waiting.set()
        await asyncio.sleep(FOREVER)


def fail() -> None:
    raise ValueError


def be_cancelled() -> None:
    raise asyncio.CancelledError


def end() -> None:
    """Return, and so end the loop."""


async def ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task], timeout=5)
    assert task.done()


async def eventually(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110 - nothing here is told when it happens
            await asyncio.sleep(0.001)


def failures() -> float:
    return REGISTRY.get_sample_value("sage_loop_failures_total", {"loop": LOOP}) or 0.0


@pytest.mark.parametrize(
    ("step", "event"), [(fail, "loop_failed"), (be_cancelled, "loop_failed"), (end, "loop_returned")]
)
async def test_a_loop_that_ends_begins_again_and_that_is_logged_and_counted(
    logged: list[EventDict], step: Callable[[], None], event: str
) -> None:
    before, script = failures(), Script(step)
    task = Supervisor().keep(LOOP, script.run)
    await asyncio.wait_for(script.is_waiting.wait(), 30)
    (entry,) = logged
    assert (entry["event"], entry["log_level"], entry["loop"]) == (event, "error", LOOP)
    if step is not end:
        assert step.__name__ in str(entry["exc_info"].__traceback__.tb_next.tb_next.tb_frame)
    assert failures() == before + 1
    await ended(task)


async def test_the_wait_doubles_up_to_a_limit(logged: list[EventDict]) -> None:
    script = Script(*[fail] * 5)
    task = Supervisor().keep(LOOP, script.run)
    await asyncio.wait_for(script.is_waiting.wait(), 30)
    assert [entry["again_after"] for entry in logged] == [0.001, 0.002, 0.004, 0.004, 0.004]
    await ended(task)


async def test_a_loop_that_keeps_failing_is_named_until_it_has_run_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    supervisor, script = Supervisor(), Script(*[fail] * FAILURES_IN_A_ROW)
    task, other = supervisor.keep(LOOP, script.run), supervisor.keep("another", Script(fail).run)
    await eventually(lambda: supervisor.failing() == [LOOP])
    await asyncio.wait_for(script.is_waiting.wait(), 30)
    assert supervisor.failing() == [LOOP]
    monkeypatch.setattr(supervision, "STEADY_SECONDS", 0.0)
    assert supervisor.failing() == []
    await ended(task)
    await ended(other)


async def test_a_failure_after_a_long_run_is_the_first_in_a_row(
    monkeypatch: pytest.MonkeyPatch, logged: list[EventDict]
) -> None:
    monkeypatch.setattr(supervision, "STEADY_SECONDS", 0.0)
    supervisor, script = Supervisor(), Script(*[fail] * 5)
    task = supervisor.keep(LOOP, script.run)
    await asyncio.wait_for(script.is_waiting.wait(), 30)
    assert {entry["again_after"] for entry in logged} == {0.001}
    await ended(task)


async def test_a_loop_that_has_ended_is_named_no_more() -> None:
    supervisor = Supervisor()
    task = supervisor.keep(LOOP, Script(*[fail] * 1000).run)
    await eventually(lambda: supervisor.failing() == [LOOP])
    await ended(task)
    await asyncio.sleep(0)
    assert supervisor.failing() == []


async def test_what_has_an_end_is_run_until_it_succeeds_once(logged: list[EventDict]) -> None:
    script = Script(fail, end, fail)
    task = Supervisor().keep(LOOP, script.run, is_endless=False)
    await asyncio.wait_for(task, 30)
    assert [entry["event"] for entry in logged] == ["loop_failed"]


async def test_a_loop_is_ended_at_once_while_it_waits_to_begin_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervision, "FIRST_WAIT_SECONDS", FOREVER)
    monkeypatch.setattr(supervision, "LONGEST_WAIT_SECONDS", FOREVER)
    before = failures()
    task = Supervisor().keep(LOOP, Script(fail).run)
    await eventually(lambda: failures() > before)
    await ended(task)


@pytest.mark.parametrize("step", [fail, end])
async def test_a_loop_whose_end_fails_does_not_begin_again(
    logged: list[EventDict], step: Callable[[], None]
) -> None:
    runs = 0

    async def run() -> None:
        nonlocal runs
        runs += 1
        try:
            await asyncio.sleep(FOREVER)
        except asyncio.CancelledError:
            step()

    task = Supervisor().keep(LOOP, run)
    await asyncio.sleep(0)
    await ended(task)
    assert runs == 1
    assert [entry["event"] for entry in logged] == (["loop_failed"] if step is fail else [])


def test_an_item_that_fails_is_logged_counted_and_left_out_for_a_while(
    logged: list[EventDict], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, items, told = failures(), Items(LOOP), list[str]()
    with items.apart("a", on_failure=lambda: told.append("a"), session_id="a"):
        fail()
    with items.apart("b", on_failure=lambda: told.append("b")):
        pass
    (entry,) = logged
    assert (entry["event"], entry["log_level"], entry["session_id"]) == ("loop_item_failed", "error", "a")
    assert entry["exc_info"]
    assert (failures(), told) == (before + 1, ["a"])
    assert (items.is_due("a"), items.is_due("b")) == (False, True)
    monkeypatch.setattr(supervision, "ITEM_WAIT_SECONDS", 0.0)
    assert items.is_due("a")


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
@pytest.mark.parametrize("cause", [None, AdminShutdown, CannotConnectNow, ConnectionFailure, DiskFull])
def test_an_item_without_a_database_stops_its_loop(
    error: type[Exception], cause: type[Exception] | None
) -> None:
    items = Items(LOOP)
    with pytest.raises(error), items.apart("a"):
        raise error from cause and cause()
    assert items.is_due("a")


@pytest.mark.parametrize("cause", [QueryCanceled, LockNotAvailable, DeadlockDetected])
def test_an_items_own_error_of_the_database_is_like_any_other(
    logged: list[EventDict], cause: type[Exception]
) -> None:
    def fail_by_it() -> None:
        raise OperationalError from cause()

    before, items = failures(), Items(LOOP)
    with items.apart("a", session_id="a"):
        fail_by_it()
    assert [entry["event"] for entry in logged] == ["loop_item_failed"]
    assert (failures(), items.is_due("a")) == (before + 1, False)
