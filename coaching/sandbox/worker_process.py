"""One worker process with a pipe to it and a pipe from it, each wait with a deadline.

Scripts read untrusted text, so their environment is minimal and has no secrets.
"""

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

LENGTH = struct.Struct("!I")

_PIPE_BYTES = 1 << 18
"""What one system call moves at most: many small ones slow this process's other threads down."""
_EXIT_SECONDS = 1.0
# For a Python that isn't the system's, and for systems without time zones.
_NEEDED_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONTZPATH")


class OutOfTime(Exception):
    """A pipe wasn't ready at the deadline."""


def worker_environment() -> Mapping[str, str]:
    """Return the minimal environment for a process that reads untrusted text: no keys or passwords."""
    return {name: os.environ[name] for name in _NEEDED_VARIABLES if name in os.environ}


class WorkerProcess:
    """A worker process. Used by one thread at a time. Deadlines are monotonic seconds."""

    def __init__(self, arguments: Sequence[str]) -> None:
        # A separate session: Ctrl-C in the terminal is for us, and we then close it.
        self._process = subprocess.Popen(
            [sys.executable, "-I", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=worker_environment(),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._is_ready = False
        # A write takes what the pipe has room for, and never blocks.
        os.set_blocking(self._stdin.fileno(), False)
        for pipe in (self._stdin, self._stdout):
            _enlarge(pipe.fileno())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def exit_code(self) -> int | None:
        """Return the exit code of a process that is ending; None if it doesn't end."""
        try:
            return self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            return None

    def await_ready(self, deadline: float) -> None:
        """Wait until it has loaded its script, which it signals with an empty answer."""
        if not self._is_ready:
            _wait(self._stdout.fileno(), select.POLLIN, deadline)
            self.read(deadline)
            self._is_ready = True

    def send(self, parts: Iterable[bytes], deadline: float) -> None:
        """Write parts one after another, without joining them in memory."""
        for part in parts:
            view = memoryview(part)
            while view:
                _wait(self._stdin.fileno(), select.POLLOUT, deadline)
                with suppress(BlockingIOError):  # no room for even the least that it takes
                    view = view[os.write(self._stdin.fileno(), view[:_PIPE_BYTES]) :]

    def has_answer_by(self, deadline: float) -> bool:
        """Wait for the first byte of the answer, or the worker's exit."""
        try:
            _wait(self._stdout.fileno(), select.POLLIN, deadline)
        except OutOfTime:
            return False
        return True

    def read(self, deadline: float) -> bytes:
        (length,) = LENGTH.unpack(self._read(LENGTH.size, deadline))
        return self._read(length, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while size:
            _wait(self._stdout.fileno(), select.POLLIN, deadline)
            part = os.read(self._stdout.fileno(), min(size, _PIPE_BYTES))
            if not part:
                raise OSError("the worker is gone")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def set_priority(self, niceness: int) -> None:
        os.setpriority(os.PRIO_PROCESS, self._process.pid, niceness)

    def close(self) -> None:
        """Kill it with its children."""
        if self.is_alive:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):
                pipe.close()


def _enlarge(pipe: int) -> None:
    """Enlarge a pipe from 64 KB, where the system can and the limit for this user allows it."""
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _wait(descriptor: int, event: int, deadline: float) -> None:
    left = deadline - time.monotonic()
    poll = select.poll()
    poll.register(descriptor, event)
    if left <= 0 or not poll.poll(left * 1000):
        raise OutOfTime
