"""A filter that refuses all system calls but those in `syscalls`: a program for the kernel (seccomp(2))."""

import ctypes
import errno
import struct
from collections.abc import Iterator

from coaching.sandbox.syscalls import CONDITIONS, Condition, Processor

_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL_PROCESS, _ALLOW = 0x80000000, 0x7FFF0000
_REFUSE = 0x00050000 | errno.EPERM
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Where `struct seccomp_data` holds them. Both processors store the lower half of an argument first."""
_X32 = 0x40000000
"""Calls of x86-64 with 32-bit pointers have this bit and are other calls."""

_SET_SECCOMP, _MODE_FILTER = 22, 2

_Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def compiled(processor: Processor) -> bytes:
    """Return the filter's instructions."""
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in _instructions(processor))


def install(libc: ctypes.CDLL, program: bytes) -> bool:
    """Bind this process to a filter for good; False if the kernel refuses it."""
    given = _Program(len(program) // 8, program)
    return bool(libc.prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.byref(given), 0, 0) == 0)


def _instructions(processor: Processor) -> Iterator[_Instruction]:
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, processor.audit
    # Another architecture's numbers mean other calls, and no library of ours makes any.
    yield _RETURN, 0, 0, _KILL_PROCESS
    yield _LOAD, 0, 0, _NUMBER
    yield _AT_LEAST, 0, 1, _X32
    yield _RETURN, 0, 0, _REFUSE
    for name, number in processor.numbers().items():
        checks = [step for condition in CONDITIONS.get(name, ()) for step in _checks(condition)]
        yield _EQUAL, 0, len(checks) + 1, number
        yield from checks
        yield _RETURN, 0, 0, _ALLOW
    yield _RETURN, 0, 0, _REFUSE


def _checks(condition: Condition) -> Iterator[_Instruction]:
    """Yield instructions that refuse the call unless the condition holds, and otherwise go on after them."""
    at = _ARGUMENTS + 8 * condition.argument
    yield _LOAD, 0, 0, at
    if condition.must == "lack":
        for bits in condition.values:
            yield _HAS_BITS, 0, 1, bits
            yield _RETURN, 0, 0, _REFUSE
        return
    for place, value in enumerate(condition.values):
        yield _EQUAL, len(condition.values) - place, 0, value
    yield _RETURN, 0, 0, _REFUSE
    yield _LOAD, 0, 0, at + 4
    yield _EQUAL, 1, 0, 0
    yield _RETURN, 0, 0, _REFUSE
