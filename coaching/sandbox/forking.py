"""A process of its own for each request, forked from one that has loaded its script in advance.

For files that exploit, exhaust or crash what reads them: nothing of one request is left for the next one,
and each has limits on time and memory. Loading the script anew each time would take most of a second.
"""

import queue
import time
from collections.abc import Iterable
from pathlib import Path

from coaching.sandbox.forking_worker import ANSWERED, COSTLY_CODE
from coaching.sandbox.worker_process import LENGTH, OutOfTime, WorkerProcess
from sessions_app.database import give_back_connections

SECONDS = 10.0
START_SECONDS = 30.0
"""For loading the script, which isn't the request's fault."""
PROCESSES = 2
NICENESS = 10

_RUNNER = Path(__file__).with_name("forking_worker.py")
_PROJECT = Path(__file__).parents[2]


class NotAnswered(Exception):
    """The request reached its deadline or its memory limit (`is_too_costly`), or its process failed."""

    def __init__(self, *, is_too_costly: bool) -> None:
        super().__init__()
        self.is_too_costly = is_too_costly


class NotStarted(Exception):
    """No process could be started, which says nothing about the request."""


class ForkingProcesses:
    """Processes that answer with a module's `answer(name, data)`. Thread-safe, `processes` at once."""

    def __init__(self, module: str, *, processes: int = PROCESSES, seconds: float = SECONDS) -> None:
        self._module = module
        self._seconds = seconds
        # None stands for a process that starts when needed.
        self._idle: queue.LifoQueue[WorkerProcess | None] = queue.LifoQueue()
        for _ in range(processes):
            self._idle.put(None)

    def warm(self) -> None:
        """Start a process for the first request, without waiting until it has loaded its script."""
        try:
            process = self._idle.get_nowait()
        except queue.Empty:  # all of them work
            return
        try:
            process = process or self._start()
        finally:
            self._idle.put(process)

    def ask(self, name: str, parts: Iterable[bytes], size: int) -> bytes:
        """Return the answer on `size` bytes in parts. Blocks, at first for a free process.

        Raises `NotAnswered`, `NotStarted`, or `RuntimeError` in a transaction.
        """
        give_back_connections()
        process = self._idle.get()
        is_reusable = False
        try:
            process = self._ready(process)
            answer = self._answer(process, name, parts, size)
            is_reusable = True
            return answer
        finally:
            if process and not is_reusable:
                process.close()
            self._idle.put(process if is_reusable else None)

    def pids(self) -> list[int]:
        return [process.pid for process in list(self._idle.queue) if process]

    def close(self) -> None:
        """End the idle processes; the others end with this one."""
        places = 0
        try:
            while True:
                process = self._idle.get_nowait()
                places += 1
                if process:
                    process.close()
        except queue.Empty:
            for _ in range(places):
                self._idle.put(None)

    def _start(self) -> WorkerProcess:
        return WorkerProcess([str(_RUNNER), str(_PROJECT), self._module])

    def _ready(self, process: WorkerProcess | None) -> WorkerProcess:
        if process and not process.is_alive:
            process.close()
            process = None
        started = process or self._start()
        try:
            started.await_ready(time.monotonic() + START_SECONDS)
            # Not while it loads: a person may wait for that, and it happens once.
            started.set_priority(NICENESS)
        except (OSError, OutOfTime) as error:
            started.close()
            raise NotStarted from error
        return started

    def _answer(self, process: WorkerProcess, name: str, parts: Iterable[bytes], size: int) -> bytes:
        deadline = time.monotonic() + self._seconds
        encoded = name.encode("utf-8", "replace")
        head = LENGTH.pack(len(encoded)) + LENGTH.pack(size) + encoded
        try:
            process.send([head], deadline)
            process.send(parts, deadline)
            answer = process.read(deadline)
        except OutOfTime as error:
            raise NotAnswered(is_too_costly=True) from error
        except OSError as error:
            raise NotAnswered(is_too_costly=process.exit_code() == COSTLY_CODE) from error
        if answer[:1] != ANSWERED:
            raise NotAnswered(is_too_costly=False)
        return answer[1:]
