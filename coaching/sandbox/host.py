"""The host of all processes that read untrusted bytes: documents, images, calendars, markdown, versions.

They may exploit, exhaust or crash what reads them. So a template process loads the reader's module, and
forks processes that drop their rights (`rights`) before they read: no file, no network, no other process, and
limited memory and time. Forking takes milliseconds; loading the module anew would take most of a second.
"""

import atexit
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import BinaryIO, TypeVar

from coaching.sandbox.child import Child
from coaching.sandbox.errors import AllBusy, NotAnswered, NotStarted, OutOfTime
from coaching.sandbox.limits import Limits
from coaching.sandbox.template_process import TemplateProcess
from sessions_app.database import give_back_connections

ResultT = TypeVar("ResultT")

QUICK_SECONDS = 0.4
"""How long a request may hold a slot that others wait for."""
SLOW_NICENESS = 10
START_SECONDS = 30.0
"""For loading the module, which isn't the request's fault."""


class Reading:
    """A file that a process reads, answer by answer. Used by one thread at a time."""

    def __init__(self, child: Child) -> None:
        self._child = child

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def cpu_seconds(self) -> float:
        """The processor time used so far, as the system counts it."""
        return self._child.cpu_seconds

    def next(self, *, seconds: float) -> bytes | None:
        """Return the next answer, None after the last one. Raises `NotAnswered`.

        Raises `OutOfTime` if it isn't complete in so many seconds; the next call goes on where this one was.
        """
        try:
            return self._child.receive(time.monotonic() + seconds)
        except OSError as error:
            raise NotAnswered(is_too_costly=self._child.is_too_costly()) from error


class ProcessHost:
    """Processes that answer with a module's functions, `slots` at once. Thread-safe.

    The module has `answer(head, body)` for requests, or `answers(head, file)` for streams. It imports no
    Django, and loads at import whatever it may need: its processes can't open any file.
    """

    def __init__(
        self,
        module: str,
        limits: Limits,
        *,
        slots: int = 2,
        slow_slots: int = 0,
        quick_seconds: float = QUICK_SECONDS,
        has_spares: bool = False,
    ) -> None:
        self.module = module
        self.limits = limits
        self._quick_seconds = quick_seconds
        self._has_spares = has_spares
        self._slow = threading.BoundedSemaphore(slow_slots)
        self._lock = threading.Lock()
        self._template: TemplateProcess | None = None
        # None stands for a process that starts when needed.
        self._idle: queue.LifoQueue[Child | None] = queue.LifoQueue()
        for _ in range(slots):
            self._idle.put(None)
        self._is_closed = False
        atexit.register(self.close)

    def warm(self) -> None:
        """Start processes for the free slots, without waiting for them. Raises `OSError`."""
        for child in self._all_idle():
            self._idle.put(child or self._fork())

    def pids(self) -> list[int]:
        """Return the ids of the processes that wait for requests."""
        return [child.pid for child in list(self._idle.queue) if child and child.pid]

    def ask(
        self,
        head: bytes,
        body: Iterable[bytes],
        size: int,
        *,
        seconds: float | None = None,
        wait_seconds: float | None = None,
    ) -> bytes:
        """Return the answer on a body of `size` bytes in parts. Blocks, at first for a free slot.

        Raises `NotAnswered`, `NotStarted`, `AllBusy` after `wait_seconds`, and `RuntimeError` in a transactio
        """
        give_back_connections()
        child = self._started(self._take(wait_seconds))
        is_reusable, spare = False, None
        try:
            deadline = time.monotonic() + (self.limits.seconds if seconds is None else seconds)
            child.send(head, body, size, deadline)
            if self._has_spares and self.limits.requests == 1:
                spare = self._spare()  # while this one reads
            answer = child.receive(deadline)
            is_reusable = answer is not None
        except OutOfTime as error:
            raise NotAnswered(is_too_costly=True) from error
        except OSError as error:
            raise NotAnswered(is_too_costly=child.is_too_costly()) from error
        finally:
            self._give_back(child, spare, is_reusable=is_reusable)
        if answer is None:
            raise NotAnswered(is_too_costly=False)
        return answer

    @contextmanager
    def open(self, file: BinaryIO, head: bytes, *, wait_seconds: float | None = None) -> Iterator[Reading]:
        """Let a process read an open file, until the block ends. Blocks for a free slot.

        The process shares the file's position. Raises `NotStarted`, `AllBusy` after `wait_seconds`, or
        `RuntimeError` in a transaction.
        """
        give_back_connections()
        idle = self._take(wait_seconds)
        if idle:  # it was started without the file
            idle.close()
        child = self._started(None, file.fileno())
        try:
            with suppress(OSError):  # it has ended, which the first answer tells
                child.send(head, (), 0, time.monotonic() + START_SECONDS)
            yield Reading(child)
        finally:
            self._give_back(child, is_reusable=False)

    def ask_all(self, requests: Sequence[bytes]) -> list[bytes | NotAnswered | AllBusy]:
        """Return answers or exceptions within the time limit of one request, whatever the load.

        A request that isn't answered quickly gives its slot to the next one and continues in parallel, as
        long as few do, so that an endless one costs the others a fraction of a second. Raises `RuntimeError`
        in a transaction.
        """
        give_back_connections()
        deadline = time.monotonic() + self.limits.seconds
        begun = [self._caught(partial(self._begin, request, deadline)) for request in requests]
        return [
            self._caught(partial(self._finish_slowly, item, deadline)) if isinstance(item, Child) else item
            for item in begun
        ]

    def close(self) -> None:
        """End all processes. A later request starts new ones, which end with it."""
        self._is_closed = True
        for child in self._all_idle():
            if child:
                child.close(is_awaited=True)
            self._idle.put(None)
        with self._lock:
            template, self._template = self._template, None
        if template:
            template.close()

    def _all_idle(self) -> list[Child | None]:
        """Take all free slots without waiting for others."""
        found: list[Child | None] = []
        with suppress(queue.Empty):
            while True:
                found.append(self._idle.get_nowait())
        return found

    def _caught(self, call: Callable[[], ResultT]) -> ResultT | NotAnswered | AllBusy:
        try:
            return call()
        except (NotAnswered, AllBusy) as error:
            return error

    def _begin(self, request: bytes, deadline: float) -> bytes | Child:
        """Return the answer if it comes quickly, otherwise the process, which continues in parallel."""
        child = self._taken_by(deadline)
        if deadline - time.monotonic() < min(self._quick_seconds, self.limits.seconds / 2):
            self._idle.put(child)  # too little time to judge the request
            raise AllBusy
        try:
            child.send(b"", [request], len(request), deadline)
            if child.has_answer_by(min(deadline, time.monotonic() + self._quick_seconds)):
                answer = self._received(child, deadline)
                self._give_back(child, is_reusable=True)
                return answer
        except (OSError, OutOfTime) as error:
            self._give_back(child, is_reusable=False)
            raise NotAnswered(is_too_costly=True) from error
        if not self._slow.acquire(blocking=False):
            self._give_back(child, is_reusable=False)
            raise AllBusy
        self._idle.put(self._spare())
        child.set_priority(SLOW_NICENESS)
        return child

    def _finish_slowly(self, child: Child, deadline: float) -> bytes:
        """Wait for a slow answer without holding a slot that others wait for."""
        try:
            return self._received(child, deadline)
        except (OSError, OutOfTime) as error:
            raise NotAnswered(is_too_costly=True) from error
        finally:
            child.close()
            self._slow.release()

    def _received(self, child: Child, deadline: float) -> bytes:
        answer = child.receive(deadline)
        if answer is None:
            raise OSError("the process sent no answer")
        return answer

    def _take(self, seconds: float | None) -> Child | None:
        try:
            return self._idle.get(timeout=seconds)
        except queue.Empty:
            raise AllBusy from None

    def _taken_by(self, deadline: float) -> Child:
        """Return a process that is ready before the deadline; one that isn't may be for the next request."""
        child = self._take(max(0.0, deadline - time.monotonic()))
        try:
            child = self._living(child) or self._fork()
            child.await_ready(deadline)
        except OutOfTime:
            self._idle.put(child)
            raise AllBusy from None
        except OSError as error:
            self._give_back(child, is_reusable=False)
            raise NotStarted from error
        return child

    def _started(self, child: Child | None, file: int | None = None) -> Child:
        """Return a ready process for a slot. Gives the slot back if it raises `NotStarted`."""
        try:
            child = self._living(child) or self._fork(file)
            child.await_ready(time.monotonic() + START_SECONDS)
        except (OSError, OutOfTime) as error:
            self._give_back(child, is_reusable=False)
            raise NotStarted from error
        return child

    def _living(self, child: Child | None) -> Child | None:
        if child and not child.is_alive:
            child.close()
            return None
        return child

    def _fork(self, file: int | None = None) -> Child:
        """Fork a process without waiting for it; from a new template, if the last one has ended."""
        with self._lock:
            for _ in range(2):
                if self._template and not self._template.is_alive:
                    self._template.close()
                    self._template = None
                self._template = self._template or TemplateProcess(self.module, self.limits)
                with suppress(BrokenPipeError):  # it ends at this moment
                    return self._template.fork(file)
        raise OSError("the template ended twice")

    def _spare(self) -> Child | None:
        """Fork a process in advance, so that the next request needn't wait for it."""
        try:
            return None if self._is_closed else self._fork()
        except OSError:  # no process available just now
            return None

    def _give_back(self, child: Child | None, spare: Child | None = None, *, is_reusable: bool) -> None:
        """Free a slot, with its process or with one that is forked in advance."""
        if child and is_reusable and not child.is_last and not self._is_closed:
            self._idle.put(child)
            return
        if child:
            child.close()
        self._idle.put(spare or (self._spare() if self._has_spares else None))
