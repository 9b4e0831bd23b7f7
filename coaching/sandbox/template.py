"""Runs in the template process of a `ProcessHost`: loads a module, then forks a process for each command.

It reads nothing untrusted: commands arrive on its standard input, a socket, with the descriptors of the pipes
that the forked process reads requests from and writes answers to. It ends with its parent, and its children
with it. A child drops its rights (`rights`) before its first read, and has one thread, as its template.
"""

import gc
import importlib
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

from coaching.sandbox.frames import (
    ANSWER,
    ANSWERED,
    COMMAND,
    COSTLY_CODE,
    END,
    EXIT_CODE,
    FAILED_CODE,
    FORK,
    LAST,
    PROCESS_ID,
    READY,
    REQUEST,
)
from coaching.sandbox.limits import Limits, limits_of
from coaching.sandbox.rights import Rights

IDLE_SECONDS = 600
"""After which a template without processes ends; the next request starts one."""

_CONTROL, _SOURCE, _SINK, _FILE = 0, 0, 1, 3
"""Descriptors: of the template, then of a child. A child has no others."""
_MAX_DESCRIPTORS = 256
_READ_BYTES = 1 << 20
_FILE_BUFFER_BYTES = 1 << 16

Answer = Callable[[bytes, bytes], bytes]
Answers = Callable[[bytes, BinaryIO], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class _Work:
    answer: Answer | None
    answers: Answers | None
    limits: Limits
    rights: Rights


def main(module: str, *arguments: str) -> None:
    """Load the module and fork until the other side closes."""
    limits = limits_of(list(arguments))
    loaded = importlib.import_module(module)
    if prepare := getattr(loaded, "prepare", None):
        prepare()
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MAX_DESCRIPTORS, _MAX_DESCRIPTORS))
    work = _Work(
        answer=getattr(loaded, "answer", None),
        answers=getattr(loaded, "answers", None),
        limits=limits,
        rights=Rights(limits),
    )
    # Not while it loads: a person may wait for that, and it happens once.
    os.nice(limits.niceness)
    # So that forks share what is loaded.
    gc.collect()
    gc.freeze()
    _Template(work).run()
    os.killpg(0, signal.SIGKILL)


class _Template:
    """The children by process id, each with the pipe that its end is reported on."""

    def __init__(self, work: _Work) -> None:
        self._work = work
        self._control = socket.socket(fileno=_CONTROL)
        self._children: dict[int, int] = {}
        self._woken, waking = os.pipe()
        os.set_blocking(waking, False)
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        while ready := self._poll(poll):
            self._reap()
            if _CONTROL in ready and not self._obey():
                return

    def _poll(self, poll: select.poll) -> set[int]:
        """Wait for commands and ended children; nothing if there were none for long."""
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(IDLE_SECONDS * 1000)}
            if ready or not self._children:
                return ready

    def _obey(self) -> bool:
        """Carry out a command; False if the parent is gone."""
        command, descriptors, _, _ = socket.recv_fds(self._control, COMMAND.size, 4)
        if len(command) < COMMAND.size:
            return False
        kind, number = COMMAND.unpack(command)
        if kind == FORK:
            self._fork(*descriptors)
        elif number in self._children:  # otherwise it has ended, and its number may be another's
            os.kill(number, signal.SIGKILL)
        return True

    def _fork(self, source: int, sink: int, status: int, file: int | None = None) -> None:
        try:
            child = os.fork()
        except OSError:  # no room for another process just now: its pipes end, and the others go on
            child = None
        if child == 0:
            _run(self._work, source, sink, file)
        for descriptor in (source, sink, *(() if file is None else (file,))):
            os.close(descriptor)
        if child is None:
            os.close(status)
            return
        self._children[child] = status
        with suppress(OSError):  # nobody waits any more
            os.write(status, PROCESS_ID.pack(child))

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._woken, _MAX_DESCRIPTORS)
        while self._children:
            child, ended = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            status = self._children.pop(child)
            with suppress(OSError):
                os.write(status, EXIT_CODE.pack(os.waitstatus_to_exitcode(ended)))
            os.close(status)


def _run(work: _Work, source: int, sink: int, file: int | None) -> NoReturn:
    """Answer, and end this process, whatever happens."""
    code = FAILED_CODE
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        opened = _keep(source, sink, file, work.rights.ruleset or _MAX_DESCRIPTORS)
        missing = work.rights.drop()
        _write(READY, ",".join(missing).encode())
        if opened is not None:
            _stream(work, opened)
        else:
            _serve(work)
        code = 0
    except MemoryError:
        code = COSTLY_CODE
    finally:
        os._exit(code)


def _keep(source: int, sink: int, file: int | None, ruleset: int) -> BinaryIO | None:
    """Close all descriptors but the pipes, the file, and Landlock's ruleset until it is used."""
    os.dup2(source, _SOURCE)
    os.dup2(sink, _SINK)
    if file is not None and file != _FILE:
        os.dup2(file, _FILE)
    os.close(_FILE - 1)
    os.closerange(_FILE if file is None else _FILE + 1, ruleset)
    os.closerange(ruleset + 1, _MAX_DESCRIPTORS)
    if file is None:
        return None
    # While that is possible: it asks the system about the file.
    return open(_FILE, "rb", buffering=_FILE_BUFFER_BYTES)


def _serve(work: _Work) -> None:
    """Answer requests until there are no more, or another process takes over."""
    assert work.answer is not None
    limits = work.limits
    for number in range(1, limits.requests + 1):
        lengths = _read(REQUEST.size)
        if not lengths:
            return
        head, body = (bytes(_read(length)) for length in REQUEST.unpack(lengths))
        answer = work.answer(head, body)
        is_last = number == limits.requests or time.process_time() + limits.seconds > limits.cpu_seconds
        _write(LAST if is_last else ANSWERED, answer)
        if is_last:
            return


def _stream(work: _Work, file: BinaryIO) -> None:
    assert work.answers is not None
    head_length, _ = REQUEST.unpack(_read(REQUEST.size))
    for answer in work.answers(bytes(_read(head_length)), file):
        _write(ANSWERED, answer)
    _write(END, b"")


def _read(size: int) -> bytearray:
    """Read exactly so many bytes, or none at the end, without a buffer that would hold the next request."""
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        read = os.readv(_SOURCE, [view[at : at + _READ_BYTES]])
        if not read:
            return bytearray()
        at += read
    return data


def _write(kind: bytes, answer: bytes) -> None:
    view = memoryview(ANSWER.pack(kind, len(answer)) + answer)
    while view:
        view = view[os.write(_SINK, view) :]
