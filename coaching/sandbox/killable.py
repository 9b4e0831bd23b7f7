"""Worker processes that can be killed, for texts whose processing time is unpredictable.

A pool keeps a few workers that answer one request at a time. A request that isn't answered quickly gives its
slot to the next one and continues in parallel, as long as few do; at its deadline its worker is killed. So an
endless text costs the others a fraction of a second. Scripts read untrusted text, so their environment is
minimal and has no secrets.
"""

import os
import queue
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from sessions_app.database import give_back_connections

ResultT = TypeVar("ResultT")

SECONDS = 2.0
QUICK_SECONDS = 0.4
"""How long a request may hold a slot that others wait for."""
SLOW_NICENESS = 10
WORKERS = 2
SLOW_WORKERS = 2
"""How many slow requests may continue in parallel, each in a worker of its own."""

_LENGTH = struct.Struct("!I")
_RUNNER = Path(__file__).with_name("killable_worker.py")
_READ_BYTES = 1 << 16
# For a Python that isn't the system's, and for systems without time zones.
_NEEDED_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONTZPATH")


def worker_environment() -> Mapping[str, str]:
    """Return the minimal environment for a process that reads untrusted text: no keys or passwords."""
    return {name: os.environ[name] for name in _NEEDED_VARIABLES if name in os.environ}


class TookTooLong(Exception):
    """The request reached its deadline, or its worker died."""


class AllBusy(Exception):
    """No worker was free, which says nothing about the request."""


class _OutOfTime(Exception):
    """A pipe wasn't ready at the deadline."""


class _Worker:
    """One worker process. Used by one thread at a time. Deadlines are monotonic seconds."""

    def __init__(self, script: Path) -> None:
        # A separate session: Ctrl-C in the terminal is for us, and we then close it.
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_RUNNER), str(script)],
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

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def await_ready(self, deadline: float) -> None:
        """Wait until it has loaded its script, which it signals with an empty answer."""
        if not self._is_ready:
            _wait(self._stdout.fileno(), select.POLLIN, deadline)
            self.read(deadline)
            self._is_ready = True

    def send(self, request: bytes, deadline: float) -> None:
        view = memoryview(_LENGTH.pack(len(request)) + request)
        while view:
            _wait(self._stdin.fileno(), select.POLLOUT, deadline)
            # A writable pipe takes at least this much without blocking.
            view = view[os.write(self._stdin.fileno(), view[: select.PIPE_BUF]) :]

    def has_answer_by(self, deadline: float) -> bool:
        """Wait for the first byte of the answer, or the worker's exit."""
        try:
            _wait(self._stdout.fileno(), select.POLLIN, deadline)
        except _OutOfTime:
            return False
        return True

    def read(self, deadline: float) -> bytes:
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, deadline))
        return self._read(length, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while size:
            _wait(self._stdout.fileno(), select.POLLIN, deadline)
            part = os.read(self._stdout.fileno(), min(size, _READ_BYTES))
            if not part:
                raise OSError("the worker is gone")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def lower_priority(self) -> None:
        os.setpriority(os.PRIO_PROCESS, self._process.pid, SLOW_NICENESS)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):
                pipe.close()


def _wait(descriptor: int, event: int, deadline: float) -> None:
    left = deadline - time.monotonic()
    poll = select.poll()
    poll.register(descriptor, event)
    if left <= 0 or not poll.poll(left * 1000):
        raise _OutOfTime


class KillablePool:
    """Workers of one script. Thread-safe; each call ends within `seconds`."""

    def __init__(
        self,
        script: Path,
        *,
        workers: int = WORKERS,
        slow_workers: int = SLOW_WORKERS,
        seconds: float = SECONDS,
        quick_seconds: float = QUICK_SECONDS,
    ) -> None:
        self._script = script
        self._seconds = seconds
        self._quick_seconds = quick_seconds
        self._workers = workers
        # None stands for a worker that starts when needed.
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(workers):
            self._idle.put(None)
        self._slow = threading.BoundedSemaphore(slow_workers)
        self._is_closed = False

    def warm(self) -> None:
        """Start the workers, so that the first request doesn't wait for them."""
        idle = [self._idle.get() for _ in range(self._workers)]
        for worker in idle:
            self._idle.put(worker or _Worker(self._script))

    def pids(self) -> list[int]:
        return [worker.pid for worker in list(self._idle.queue) if worker]

    def ask(self, request: bytes) -> bytes:
        """Return the script's answer. Raises `TookTooLong`, `AllBusy`, or `RuntimeError` in a transaction."""
        (answer,) = self.ask_all([request])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ask_all(self, requests: Sequence[bytes]) -> list[bytes | TookTooLong | AllBusy]:
        """Return answers or exceptions within one time limit. Raises `RuntimeError` in a transaction."""
        give_back_connections()
        deadline = time.monotonic() + self._seconds
        begun = [self._caught(partial(self._begin, request, deadline)) for request in requests]
        return [
            self._caught(partial(self._finish_slowly, item, deadline)) if isinstance(item, _Worker) else item
            for item in begun
        ]

    def _caught(self, call: Callable[[], ResultT]) -> ResultT | TookTooLong | AllBusy:
        try:
            return call()
        except (TookTooLong, AllBusy) as error:
            return error

    def _begin(self, request: bytes, deadline: float) -> bytes | _Worker:
        """Return the answer if it comes quickly, otherwise the worker, which continues in parallel."""
        worker = self._take(deadline)
        if deadline - time.monotonic() < min(self._quick_seconds, self._seconds / 2):
            self._give_back(worker)  # too little time to judge the request
            raise AllBusy
        try:
            worker.send(request, deadline)
            if worker.has_answer_by(min(deadline, time.monotonic() + self._quick_seconds)):
                answer = worker.read(deadline)
                self._give_back(worker)
                return answer
        except (OSError, _OutOfTime) as error:
            self._replace(worker)
            raise TookTooLong from error
        if not self._slow.acquire(blocking=False):
            self._replace(worker)
            raise AllBusy
        self._give_back(self._new_worker())
        worker.lower_priority()
        return worker

    def _take(self, deadline: float) -> _Worker:
        try:
            worker = self._idle.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise AllBusy from None
        if worker and not worker.is_alive:
            worker.close()
            worker = None
        try:
            worker = worker or _Worker(self._script)
            worker.await_ready(deadline)
        except (OSError, _OutOfTime) as error:  # It may be ready for the next one.
            self._give_back(worker)
            raise AllBusy from error
        return worker

    def _finish_slowly(self, worker: _Worker, deadline: float) -> bytes:
        """Wait for a slow answer without holding a slot that others wait for."""
        try:
            return worker.read(deadline)
        except (OSError, _OutOfTime) as error:
            raise TookTooLong from error
        finally:
            worker.close()
            self._slow.release()

    def _replace(self, worker: _Worker) -> None:
        worker.close()
        self._give_back(self._new_worker())

    def _new_worker(self) -> _Worker | None:
        """Start a worker in advance, so that the next request needn't wait for it."""
        try:
            return None if self._is_closed else _Worker(self._script)
        except OSError:  # No process available just now.
            return None

    def _give_back(self, worker: _Worker | None) -> None:
        if worker and self._is_closed:
            worker.close()
            worker = None
        self._idle.put(worker)

    def close(self) -> None:
        """End the workers. A later request starts a new one, which ends with its request."""
        self._is_closed = True
        places = 0
        try:
            while True:
                worker = self._idle.get_nowait()
                places += 1
                if worker:
                    worker.close()
        except queue.Empty:
            for _ in range(places):
                self._idle.put(None)
