"""Sage processes forked from one that has already imported what doesn't depend on settings.

Importing the model's SDK and Django takes two seconds of CPU, and the suite starts dozens of processes. The
new process loads settings, apps, the reactor and most of our own modules itself. tests/sage/test_up.py tests
a real start, and the long forms of tests/faults measure it.
"""

import atexit
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.preloaded"])


class ForkedProcess:
    """A running program, with the part of `subprocess.Popen` that tests need. Its output goes to `log`."""

    def __init__(
        self, program: Sequence[str], *, environment: Mapping[str, str], log: Path | Connection
    ) -> None:
        if isinstance(log, Path):
            log.touch()
        self._process = _context.Process(target=_run, args=(tuple(program), dict(environment), log))
        self._process.start()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises `subprocess.TimeoutExpired`."""
        self._process.join(timeout)
        if (code := self._process.exitcode) is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()


def _run(program: tuple[str, ...], environment: dict[str, str], log: Path | Connection) -> None:
    """Become `python PROGRAM`, with this environment and all output in the log."""
    output = os.open(log, os.O_WRONLY | os.O_TRUNC) if isinstance(log, Path) else log.fileno()
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    try:
        if program[0] == "-m":
            sys.argv = list(program[1:])
            runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = list(program)
            runpy.run_path(program[0], run_name="__main__")
    finally:
        # `multiprocessing` leaves it out.
        atexit._run_exitfuncs()
