"""The system calls that remain to a process that reads untrusted bytes, by processor.

They compute, wait, manage the process's own memory and signals, and use descriptors that it holds. What isn't
listed fails with EPERM, which libraries take for a missing feature: `openat` and with it imports, `socket`,
`execve`, `clone`, `kill`, `ptrace`, `prctl`, `ioctl`, every call with a path, and what future kernels add.
"""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

_NAMES: Mapping[str, tuple[int | None, int | None]] = {
    "brk": (12, 214),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "close": (3, 57),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "fcntl": (72, 25),
    "fstat": (5, 80),
    "futex": (202, 98),
    "getcpu": (309, 168),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getitimer": (36, 102),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "getuid": (102, 174),
    "lseek": (8, 62),
    "madvise": (28, 233),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "pread64": (17, 67),
    "prlimit64": (302, 261),
    "read": (0, 63),
    "readv": (19, 65),
    "restart_syscall": (219, 128),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_getaffinity": (204, 123),
    "sched_yield": (24, 124),
    "setitimer": (38, 103),
    "sigaltstack": (131, 132),
    "sysinfo": (99, 179),
    "time": (201, None),
    "times": (100, 153),
    "uname": (63, 160),
    "write": (1, 64),
    "writev": (20, 66),
}
"""The numbers on x86-64 and on aarch64."""

_PROT_EXEC = 4
_F_GETFD, _F_GETFL = 1, 3
_ANOTHERS_CLOCK = 0x80000000


@dataclass(frozen=True, slots=True)
class Condition:
    """An argument must be one of `values`, or have none of the bits in them."""

    argument: int
    must: Literal["equal", "lack"]
    values: Sequence[int]


CONDITIONS: Mapping[str, Sequence[Condition]] = {
    "clock_gettime": (Condition(0, "lack", (_ANOTHERS_CLOCK,)),),
    "fcntl": (Condition(1, "equal", (_F_GETFD, _F_GETFL)),),
    # No new code: what a library needs is loaded before.
    "mmap": (Condition(2, "lack", (_PROT_EXEC,)),),
    "mprotect": (Condition(2, "lack", (_PROT_EXEC,)),),
    # Only its own limits, and only reading them.
    "prlimit64": (Condition(0, "equal", (0,)), Condition(2, "equal", (0,))),
    "sched_getaffinity": (Condition(0, "equal", (0,)),),
}


@dataclass(frozen=True, slots=True)
class Processor:
    """How the kernel names a processor's calls, and the number of `capset`."""

    audit: int
    column: int
    capset: int
    capget: int

    def numbers(self) -> Mapping[str, int]:
        """Return the numbers of the calls that this processor has."""
        return {name: number for name, row in _NAMES.items() if (number := row[self.column]) is not None}


_PROCESSORS = {
    "x86_64": Processor(audit=0xC000003E, column=0, capset=126, capget=125),
    "aarch64": Processor(audit=0xC00000B7, column=1, capset=91, capget=90),
}


def processor() -> Processor | None:
    """Return this machine's processor; None if its calls aren't known."""
    return _PROCESSORS.get(platform.machine())
