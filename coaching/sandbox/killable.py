"""Worker processes that can be killed, for texts whose processing time is unpredictable.

A pool keeps a few workers that answer one request at a time. A request that isn't answered quickly gives its
slot to the next one and continues in parallel, as long as few do; at its deadline its worker is killed. So an
endless text costs the others a fraction of a second.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from coaching.sandbox.worker_process import LENGTH, OutOfTime, WorkerProcess
from sessions_app.database import give_back_connections

ResultT = TypeVar("ResultT")

SECONDS = 2.0
QUICK_SECONDS = 0.4
"""How long a request may hold a slot that others wait for."""
SLOW_NICENESS = 10
WORKERS = 2
SLOW_WORKERS = 2
"""How many slow requests may continue in parallel, each in a worker of its own."""

_RUNNER = Path(__file__).with_name("killable_worker.py")


class TookTooLong(Exception):
    """The request reached its deadline, or its worker died."""


class AllBusy(Exception):
    """No worker was free, which says nothing about the request."""


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
        self._idle: queue.LifoQueue[WorkerProcess | None] = queue.LifoQueue()
        for _ in range(workers):
            self._idle.put(None)
        self._slow = threading.BoundedSemaphore(slow_workers)
        self._is_closed = False

    def _start(self) -> WorkerProcess:
        return WorkerProcess([str(_RUNNER), str(self._script)])

    def warm(self) -> None:
        """Start the workers, so that the first request doesn't wait for them."""
        idle = [self._idle.get() for _ in range(self._workers)]
        for worker in idle:
            self._idle.put(worker or self._start())

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
            self._caught(partial(self._finish_slowly, item, deadline))
            if isinstance(item, WorkerProcess)
            else item
            for item in begun
        ]

    def _caught(self, call: Callable[[], ResultT]) -> ResultT | TookTooLong | AllBusy:
        try:
            return call()
        except (TookTooLong, AllBusy) as error:
            return error

    def _begin(self, request: bytes, deadline: float) -> bytes | WorkerProcess:
        """Return the answer if it comes quickly, otherwise the worker, which continues in parallel."""
        worker = self._take(deadline)
        if deadline - time.monotonic() < min(self._quick_seconds, self._seconds / 2):
            self._give_back(worker)  # too little time to judge the request
            raise AllBusy
        try:
            worker.send([LENGTH.pack(len(request)), request], deadline)
            if worker.has_answer_by(min(deadline, time.monotonic() + self._quick_seconds)):
                answer = worker.read(deadline)
                self._give_back(worker)
                return answer
        except (OSError, OutOfTime) as error:
            self._replace(worker)
            raise TookTooLong from error
        if not self._slow.acquire(blocking=False):
            self._replace(worker)
            raise AllBusy
        self._give_back(self._new_worker())
        worker.set_priority(SLOW_NICENESS)
        return worker

    def _take(self, deadline: float) -> WorkerProcess:
        try:
            worker = self._idle.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise AllBusy from None
        if worker and not worker.is_alive:
            worker.close()
            worker = None
        try:
            worker = worker or self._start()
            worker.await_ready(deadline)
        except (OSError, OutOfTime) as error:  # It may be ready for the next one.
            self._give_back(worker)
            raise AllBusy from error
        return worker

    def _finish_slowly(self, worker: WorkerProcess, deadline: float) -> bytes:
        """Wait for a slow answer without holding a slot that others wait for."""
        try:
            return worker.read(deadline)
        except (OSError, OutOfTime) as error:
            raise TookTooLong from error
        finally:
            worker.close()
            self._slow.release()

    def _replace(self, worker: WorkerProcess) -> None:
        worker.close()
        self._give_back(self._new_worker())

    def _new_worker(self) -> WorkerProcess | None:
        """Start a worker in advance, so that the next request needn't wait for it."""
        try:
            return None if self._is_closed else self._start()
        except OSError:  # No process available just now.
            return None

    def _give_back(self, worker: WorkerProcess | None) -> None:
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
