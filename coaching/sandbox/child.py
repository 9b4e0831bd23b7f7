"""A process that reads untrusted bytes, as its host sees it: pipes, each wait with a deadline, and its end.

What it sends is untrusted, too: lengths are bounded, and whatever isn't in order counts as its failure.
"""

import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain

from coaching.sandbox.errors import OutOfTime
from coaching.sandbox.frames import (
    ANSWER,
    ANSWERED,
    COSTLY_CODE,
    END,
    EXIT_CODE,
    LAST,
    MAX_READY_BYTES,
    PROCESS_ID,
    READY,
    REQUEST,
)
from coaching.sandbox.layers import report_missing
from coaching.sandbox.limits import Limits

PIPE_BYTES = 1 << 18
"""What one system call moves at most: many small ones slow this process's other threads down."""
_SMALL_BYTES = 4_096
_PAUSE_SECONDS = 0.001
"""After a small piece of a larger answer: pieces of one byte would keep this process busy."""
_EXIT_SECONDS = 1.0


class Child:
    """Used by one thread at a time. Deadlines are monotonic seconds. `OSError`: it has failed."""

    def __init__(
        self, *, requests: int, answers: int, status: int, limits: Limits, kill: Callable[[int], None]
    ) -> None:
        self._requests, self._answers, self._status = requests, answers, status
        self._limits = limits
        self._kill = kill
        self._began = time.monotonic()
        # Of the frame that arrives: its kind, empty during its head, and what has arrived of it.
        self._kind = b""
        self._data = bytearray(ANSWER.size)
        self._arrived = 0
        self._exit_code: int | None = None
        self._is_ready = False
        self.pid = 0
        self.is_last = False
        """Whether it ends after the answer that was received."""
        # Each call moves what it can at once; only then is there a wait.
        os.set_blocking(requests, False)
        os.set_blocking(answers, False)

    @property
    def is_alive(self) -> bool:
        """Whether its end hasn't been reported. One that hasn't begun yet is alive."""
        return not self.pid or not _is_ready_by(self._status, select.POLLIN, 0)

    @property
    def cpu_seconds(self) -> float:
        """The processor time that it has used; where the system doesn't tell, the time since its start."""
        try:
            return time.clock_gettime(~self.pid << 3 | 2)
        except (OSError, AttributeError):
            return time.monotonic() - self._began

    def await_ready(self, deadline: float) -> None:
        """Wait until it has begun and dropped its rights."""
        if not self.pid:
            _wait(self._status, select.POLLIN, deadline)
            told = os.read(self._status, PROCESS_ID.size)
            if len(told) < PROCESS_ID.size:
                raise OSError("the template is gone")
            (self.pid,) = PROCESS_ID.unpack(told)
        if not self._is_ready:
            kind, said = self._frame(deadline, MAX_READY_BYTES)
            if kind != READY:
                raise OSError("the process isn't ready")
            report_missing(said.decode("ascii", "replace"))
            self._is_ready = True

    def send(self, head: bytes, body: Iterable[bytes], size: int, deadline: float) -> None:
        """Write a request with a body of `size` bytes in parts, without joining them in memory."""
        parts = iter(body)
        start, first = REQUEST.pack(len(head), size) + head, next(parts, b"")
        # A small request in one piece: each costs system calls on both sides.
        pieces = (start + first,) if len(first) <= _SMALL_BYTES else (start, first)
        for part in chain(pieces, parts):
            self._write(part, deadline)

    def has_answer_by(self, deadline: float) -> bool:
        """Wait for the first byte of the answer, or the end of the process."""
        return _is_ready_by(self._answers, select.POLLIN, deadline - time.monotonic())

    def receive(self, deadline: float) -> bytes | None:
        """Return an answer; None at the end of a stream. After `OutOfTime` it goes on where it was."""
        kind, answer = self._frame(deadline, self._limits.answer_bytes)
        if kind not in (ANSWERED, LAST, END):
            raise OSError("the process sent no answer")
        self.is_last = kind == LAST
        return None if kind == END else answer

    def is_too_costly(self) -> bool:
        """Return whether it ended because of its limits on memory or processor time."""
        if self._exit_code is None and self.pid and _is_ready_by(self._status, select.POLLIN, _EXIT_SECONDS):
            told = os.read(self._status, EXIT_CODE.size)
            self._exit_code = EXIT_CODE.unpack(told)[0] if len(told) == EXIT_CODE.size else 0
        return self._exit_code in (COSTLY_CODE, -signal.SIGXCPU)

    def set_priority(self, niceness: int) -> None:
        """Set its priority, where that is permitted: in containers, not of another user's process."""
        with suppress(PermissionError, ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, self.pid, niceness)

    def close(self, *, is_awaited: bool = False) -> None:
        """Kill it."""
        if self.pid and self.is_alive:
            self._kill(self.pid)
            if is_awaited:
                _is_ready_by(self._status, select.POLLIN, _EXIT_SECONDS)
        for pipe in (self._requests, self._answers, self._status):
            os.close(pipe)

    def _write(self, part: bytes, deadline: float) -> None:
        view = memoryview(part)
        while view:
            try:
                view = view[os.write(self._requests, view[:PIPE_BYTES]) :]
            except BlockingIOError:  # no room for even the least that it takes
                _wait(self._requests, select.POLLOUT, deadline)

    def _frame(self, deadline: float, most: int) -> tuple[bytes, bytes]:
        """Return the kind of what arrives, and what."""
        self._fill(deadline)
        if not self._kind:
            self._kind, length = ANSWER.unpack(self._data)
            if length > most:
                raise OSError("the process claims too long an answer")
            self._data, self._arrived = bytearray(length), 0
            self._fill(deadline)
        kind, data = self._kind, bytes(self._data)
        self._kind, self._data, self._arrived = b"", bytearray(ANSWER.size), 0
        return kind, data

    def _fill(self, deadline: float) -> None:
        view = memoryview(self._data)
        while self._arrived < len(view):
            try:
                read = os.readv(self._answers, [view[self._arrived : self._arrived + PIPE_BYTES]])
            except BlockingIOError:
                _wait(self._answers, select.POLLIN, deadline)
                continue
            if not read:
                raise OSError("the process is gone")
            self._arrived += read
            if read < _SMALL_BYTES and self._arrived < len(view):
                time.sleep(_PAUSE_SECONDS)
                if time.monotonic() > deadline:
                    raise OutOfTime


def _wait(descriptor: int, event: int, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0 or not _is_ready_by(descriptor, event, left):
        raise OutOfTime


def _is_ready_by(descriptor: int, event: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, event)
    return bool(poll.poll(max(0.0, seconds) * 1000))
