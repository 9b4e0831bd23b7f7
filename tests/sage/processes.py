"""Real processes for tests: started, awaited, and ended."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import IO

import psutil

from sage.env import variable_names
from tests.forked import ForkedProcess

PROJECT = Path(__file__).resolve().parents[2]


class StartedProcess:
    """A process with its output; it and its children are killed at the end if necessary.

    A forked one has third-party modules already: half of the time that a start takes.
    """

    def __init__(
        self, arguments: list[str], environment: Mapping[str, str], *, is_forked: bool = False
    ) -> None:
        self._lines: list[str] = []
        self._news = threading.Condition()
        self.popen: subprocess.Popen[str] | ForkedProcess
        start = _forked if is_forked else _run
        self.popen, self._output = start(arguments, blank_environment() | dict(environment))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        """Return its output so far."""
        with self._news:
            return "".join(self._lines)

    def wait_for_line(self, is_it: Callable[[str], bool], seconds: float = 60) -> str:
        """Return the first line for which `is_it` is true; fail if the process ends first."""
        deadline = time.monotonic() + seconds
        seen = 0
        with self._news:
            while True:
                for line in self._lines[seen:]:
                    if is_it(line):
                        return line.strip()
                seen = len(self._lines)
                assert self._reader.is_alive(), f"the process has ended:\n{''.join(self._lines)}"
                assert time.monotonic() < deadline, f"the line didn't come:\n{''.join(self._lines)}"
                self._news.wait(0.5)

    def writes_within(self, seconds: float) -> bool:
        """Wait up to `seconds` for the next line; return whether it came."""
        with self._news:
            known = len(self._lines)
            return self._news.wait_for(lambda: len(self._lines) > known, seconds)

    def end(self, number: signal.Signals = signal.SIGTERM, seconds: float = 30) -> int:
        """Send a signal and return the exit code."""
        self.popen.send_signal(number)
        return self.wait(seconds)

    def wait(self, seconds: float = 60) -> int:
        """Wait for its end and return the exit code."""
        code = self.popen.wait(seconds)
        self._reader.join(seconds)
        return code

    def kill(self) -> None:
        """Kill it and its children, in any state."""
        if self.popen.poll() is None:
            for child in psutil.Process(self.popen.pid).children(recursive=True):
                child.kill()
            self.popen.kill()
            self.popen.wait()
        self._reader.join(10)
        self._output.close()

    def _read(self) -> None:
        for line in self._output:
            with self._news:
                self._lines.append(line)
                self._news.notify_all()
        with self._news:
            self._news.notify_all()


def _run(arguments: list[str], environment: dict[str, str]) -> tuple[subprocess.Popen[str], IO[str]]:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    return process, process.stdout


def _forked(arguments: list[str], environment: dict[str, str]) -> tuple[ForkedProcess, IO[str]]:
    output, written = Pipe(duplex=False)
    with output, written:
        process = ForkedProcess(arguments, environment=environment, log=written)
        return process, os.fdopen(os.dup(output.fileno()))


@contextmanager
def started(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[StartedProcess]:
    """Start `python ARGUMENTS` in the project, and ensure that it ends."""
    process = StartedProcess(list(arguments), environment or {})
    try:
        yield process
    finally:
        process.kill()


def finished(
    *arguments: str, environment: Mapping[str, str] | None = None, seconds: float = 180
) -> tuple[int, str]:
    """Run `python ARGUMENTS` to its end; return exit code and output."""
    with started(*arguments, environment=environment) as process:
        return process.wait(seconds), process.output


def blank_environment() -> dict[str, str]:
    """Return this process's environment without Sage's settings, and with default buffering."""
    unset = dict.fromkeys(variable_names(), "")
    return {**os.environ, **unset, "DJANGO_SETTINGS_MODULE": "sage.settings", "PYTHONUNBUFFERED": ""}


def processes_naming(text: str) -> list[str]:
    """Return the command lines of all living processes that name `text`."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if text in line and process.info["status"] != psutil.STATUS_ZOMBIE and process.pid != os.getpid():
            found.append(line)
    return found
