"""A pytest plugin: runs pure tests in forks of the process that has collected them.

Workers of xdist each import Django, the SDK and the tests, and collect: six seconds of CPU, before the first
test runs. A fork begins with all of that. Tests of other tiers have servers, databases and browsers of their
own in each worker, and stay with xdist.

Parent and forks share nothing that runs: no test, thread or child process has started before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.queues import SimpleQueue
from typing import Any

import pytest

FORKS = pytest.StashKey[int]()
"""How many processes are to run the tests; without it, pytest or xdist runs them."""

_context = get_context("fork")
Turns = SimpleQueue[int | None]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the collected tests in as many processes as are wanted, file by file."""
    forks = session.config.stash.get(FORKS, 0)
    if forks < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    files = [list(items) for _, items in groupby(session.items, key=lambda item: item.path)]
    turns: Turns = _context.SimpleQueue()
    for turn in [*range(len(files)), *[None] * forks]:
        turns.put(turn)
    started = [_Fork.start(session, files, turns) for _ in range(forks)]
    try:
        _report(session, started)
    finally:
        for fork in started:
            fork.process.kill()
            fork.process.join()
    return True


@dataclass(frozen=True, slots=True)
class _Fork:
    process: Any
    reports: Connection

    @classmethod
    def start(cls, session: pytest.Session, files: Sequence[list[pytest.Item]], turns: Turns) -> "_Fork":
        ours, theirs = _context.Pipe(duplex=False)
        process = _context.Process(target=_run, args=(session, files, turns, theirs))
        process.start()
        theirs.close()
        return cls(process, ours)


def _report(session: pytest.Session, started: Sequence[_Fork]) -> None:
    """Pass on what the forks report until all have ended. Raises if one ends early, or as `-x` wants."""
    hook = session.config.hook
    if terminal := session.config.pluginmanager.get_plugin("terminalreporter"):
        terminal.showfspath = False  # the dots of two files mix
    running = {fork.reports: fork for fork in started}
    while running:
        for reports in wait(running):
            assert isinstance(reports, Connection)
            try:
                of_test = reports.recv()
            except EOFError:
                process = running.pop(reports).process
                process.join()
                if process.exitcode:
                    raise RuntimeError(f"a process of the tests ended with {process.exitcode}") from None
                continue
            for told in of_test:
                report = hook.pytest_report_from_serializable(config=session.config, data=told)
                hook.pytest_runtest_logreport(report=report)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)


def _run(
    session: pytest.Session, files: Sequence[list[pytest.Item]], turns: Turns, reports: Connection
) -> None:
    """In a fork: run one file after another, as long as there are any."""
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    plugins.register(_Sender(session.config, reports))
    items: Iterator[pytest.Item | None] = chain(_items(files, turns), [None])
    # The next test decides which fixtures end.
    for item, following in pairwise(items):
        assert item is not None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _items(files: Sequence[list[pytest.Item]], turns: Turns) -> Iterator[pytest.Item]:
    while (turn := turns.get()) is not None:
        yield from files[turn]


@dataclass(frozen=True, slots=True, eq=False)  # pytest keeps its plugins in sets
class _Sender:
    """Sends the reports of a test together: its setup, its call, and its teardown."""

    config: pytest.Config
    reports: Connection
    _of_test: list[dict[str, Any]] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self._of_test.append(told)

    def pytest_runtest_logfinish(self) -> None:
        self.reports.send(self._of_test)
        self._of_test.clear()
