"""Runs in a process of `ForkingProcesses`: loads a module, then answers each request in a fork of itself.

Run by path with the project's folder and the module's name. It reads length-prefixed requests on its standard
input, and ends with its parent. The fork that handles a request has no network, can't write files, and is
limited in memory and processor time.
"""

import ctypes
import gc
import importlib
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

Answer = Callable[[str, bytes], bytes]

LENGTH = struct.Struct("!I")
MEMORY_BYTES = 512 * 1024 * 1024
CPU_SECONDS = 10
ANSWERED, FAILED = b"A", b"F"
FAILED_CODE, COSTLY_CODE = 1, 2

_SOURCE, _SINK = 0, 1
_READ_BYTES = 1 << 20
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_DEATH_SIGNAL, _NO_NEW_PRIVILEGES = 1, 38
_FORBIDDEN = (
    "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "subprocess.Popen", "os.system",
    "os.exec", "os.posix_spawn",
)  # fmt: skip


def main(project: str, module: str) -> None:
    """Load the module and answer until the other side closes."""
    sys.path.insert(0, project)
    answer: Answer = importlib.import_module(module).answer
    _cut_network()
    # So that forks share what is loaded.
    gc.collect()
    gc.freeze()
    _write(b"")
    while head := _read(2 * LENGTH.size):
        (name_size,), (size,) = LENGTH.unpack(head[: LENGTH.size]), LENGTH.unpack(head[LENGTH.size :])
        child = os.fork()
        if not child:
            _answer_one(answer, name_size, size)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == FAILED_CODE:
            _write(FAILED)
        elif code:
            # Its request or its answer may be half in the pipes.
            sys.exit(COSTLY_CODE if code in (COSTLY_CODE, -signal.SIGXCPU) else FAILED_CODE)


def _answer_one(answer: Answer, name_size: int, size: int) -> NoReturn:
    """Read a request, answer it, and end this process, whatever happens."""
    code = FAILED_CODE
    try:
        _limit()
        name = _read(name_size).decode("utf-8", "replace")
        _write(ANSWERED + answer(name, bytes(_read(size))))
        code = 0
    except MemoryError:
        code = COSTLY_CODE
    finally:
        os._exit(code)


def _limit() -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(_DEATH_SIGNAL, signal.SIGKILL)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _cut_network() -> None:
    """Leave the machine's network where the system allows it, and forbid its use in Python anyway."""
    with suppress(OSError, AttributeError):  # only Linux has namespaces
        libc = ctypes.CDLL(None)
        if libc.unshare(_NEW_NETWORK):
            libc.unshare(_NEW_USER | _NEW_NETWORK)
    sys.addaudithook(_refuse_network)


def _refuse_network(event: str, _: tuple[Any, ...]) -> None:
    if event in _FORBIDDEN:
        raise PermissionError(event)


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


def _write(answer: bytes) -> None:
    view = memoryview(LENGTH.pack(len(answer)) + answer)
    while view:
        view = view[os.write(_SINK, view) :]


if __name__ == "__main__":
    main(*sys.argv[1:])
