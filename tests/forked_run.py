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
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from selectors import EVENT_READ, DefaultSelector
from typing import Any

import pytest

from sage.garbage import collect_rarely

FORKS = pytest.StashKey[int]()
"""How many processes are to run the tests; without it, pytest or xdist runs them."""

_context = get_context("fork")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the collected tests in as many processes as are wanted, file by file."""
    forks = session.config.stash.get(FORKS, 0)
    if forks < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    files = [list(items) for _, items in groupby(session.items, key=lambda item: item.path)]
    run = _Run(session, files, _context.Value("i", 0))
    try:
        for _ in range(forks):
            run.start_fork()
        run.report()
    finally:
        for fork in run.started:
            fork.process.kill()
            fork.process.join()
    return True


@dataclass(frozen=True, slots=True)
class _Fork:
    process: Any
    reports: Connection
    places: Any
    """Shared memory: which of all tests it runs, -1 before the first, and which it runs next."""


@dataclass(frozen=True, slots=True)
class _Run:
    session: pytest.Session
    files: Sequence[list[pytest.Item]]
    turn: "Synchronized[int]"
    """Which file is next."""
    started: list[_Fork] = field(default_factory=list)

    def start_fork(self, first: Sequence[pytest.Item] = ()) -> _Fork:
        """Start a process that runs these tests, and then one file after another."""
        ours, theirs = _context.Pipe(duplex=False)
        places = _context.RawArray("i", [-1, -1])
        items = chain(first, self._items())
        process = _context.Process(target=_run, args=(self.session, items, places, theirs))
        process.start()
        theirs.close()
        self.started.append(_Fork(process, ours, places))
        return self.started[-1]

    def _items(self) -> Iterator[pytest.Item]:
        while True:
            with self.turn.get_lock():
                turn = self.turn.value
                self.turn.value += 1
            if turn >= len(self.files):
                return
            yield from self.files[turn]

    def report(self) -> None:
        """Pass on what the forks report until all have ended. Raises as `-x` wants."""
        session = self.session
        if terminal := session.config.pluginmanager.get_plugin("terminalreporter"):
            terminal.showfspath = False  # the dots of two files mix
        with DefaultSelector() as selector:
            for fork in self.started:
                selector.register(fork.reports, EVENT_READ, fork)
            while selector.get_map():
                for key, _ in selector.select():
                    self._hear(key.data, selector)
                    if session.shouldfail:
                        raise session.Failed(session.shouldfail)
                    if session.shouldstop:
                        raise session.Interrupted(session.shouldstop)

    def _hear(self, fork: _Fork, selector: DefaultSelector) -> None:
        """Pass on the reports of a fork's test; if it has crashed, hear its successor from now on."""
        try:
            of_test = fork.reports.recv()
        except EOFError:
            selector.unregister(fork.reports)
            if successor := self._end(fork):
                selector.register(successor.reports, EVENT_READ, successor)
        else:
            for told in of_test:
                self._pass_on(told)

    def _pass_on(self, told: pytest.TestReport | dict[str, Any]) -> None:
        hook = self.session.config.hook
        if isinstance(told, dict):
            told = hook.pytest_report_from_serializable(config=self.session.config, data=told)
        hook.pytest_runtest_logreport(report=told)

    def _end(self, fork: _Fork) -> _Fork | None:
        """If a fork has crashed, its test has failed, and another fork runs what it would have run next."""
        fork.process.join()
        if not fork.process.exitcode:
            return None
        told = f"the process of the test ended with {fork.process.exitcode}"
        place, following = fork.places
        if place < 0:
            raise RuntimeError(told)
        item = self.session.items[place]
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", told, "call")
        item.ihook.pytest_runtest_logreport(report=report)
        _, rest = next(groupby(self.session.items[following:], key=lambda item: item.path), (None, ()))
        return self.start_fork(list(rest))


def _run(session: pytest.Session, items: Iterator[pytest.Item], places: Any, reports: Connection) -> None:
    """In a fork: run the tests."""
    collect_rarely()  # it ends soon
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    plugins.register(_Sender(session.config, reports))
    numbers = {item: number for number, item in enumerate([*session.items, None])}
    # The next test decides which fixtures end.
    for item, following in pairwise(chain(items, [None])):
        assert item is not None
        places[:] = numbers[item], numbers[following]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


@dataclass(frozen=True, slots=True, eq=False)  # pytest keeps its plugins in sets
class _Sender:
    """Sends the reports of a test together: its setup, its call, and its teardown.

    What has passed is sent as it is: only failures have parts that have to be converted.
    """

    config: pytest.Config
    reports: Connection
    _of_test: list[pytest.TestReport | dict[str, Any]] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed:
            self._of_test.append(report)
        else:
            told = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
            self._of_test.append(told)

    def pytest_runtest_logfinish(self) -> None:
        self.reports.send(self._of_test)
        self._of_test.clear()
