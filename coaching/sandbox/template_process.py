"""The template process of a host, from outside: started, told to fork, and ended with all that it forked."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

from coaching.sandbox.child import PIPE_BYTES, Child
from coaching.sandbox.environment import worker_environment
from coaching.sandbox.frames import COMMAND, FORK, KILL
from coaching.sandbox.limits import Limits

_PROJECT = Path(__file__).parents[2]
CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); from coaching.sandbox import template; "
    "template.main(*sys.argv[2:])"
)


class TemplateProcess:
    """A process that has loaded a module, and the processes forked from it. Thread-safe."""

    def __init__(self, module: str, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._control, inner = socket.socketpair()
        command = [sys.executable, "-I", "-c", CODE, str(_PROJECT), module, *limits.as_arguments()]
        with inner:
            # A separate session: Ctrl-C in the terminal is for us, and we then close it.
            self._process = subprocess.Popen(
                command,
                stdin=inner.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=worker_environment(),
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return int(self._process.pid)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, file: int | None = None) -> Child:
        """Have it fork a process, which may hold a file, without waiting. Raises `OSError`."""
        with ExitStack() as ours, ExitStack() as given:
            source, requests = _pipe(given, ours)
            answers, sink = _pipe(ours, given)
            status, reported = _pipe(ours, given)
            for pipe in (requests, answers):
                _enlarge(pipe)
            descriptors = [source, sink, reported] if file is None else [source, sink, reported, file]
            with self._lock:
                socket.send_fds(self._control, [COMMAND.pack(FORK, 0)], descriptors)
            ours.pop_all()
        return Child(requests=requests, answers=answers, status=status, limits=self._limits, kill=self._kill)

    def _kill(self, child: int) -> None:
        """Have it kill a process, which only it can tell from a later one with the same id."""
        with self._lock, suppress(OSError):  # it's gone, and its processes with it
            self._control.sendall(COMMAND.pack(KILL, child))

    def close(self) -> None:
        """Kill it with all that it forked."""
        with self._lock:
            if self.is_alive:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._control.close()


def _pipe(readers: ExitStack, writers: ExitStack) -> tuple[int, int]:
    """Open a pipe; return its ends, each of which is closed with its stack."""
    read, write = os.pipe()
    readers.callback(os.close, read)
    writers.callback(os.close, write)
    return read, write


def _enlarge(pipe: int) -> None:
    """Enlarge a pipe from 64 KB, where the system can and the limit for this user allows it."""
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
