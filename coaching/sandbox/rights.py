"""Takes the rights of a process away before it reads untrusted bytes.

A template prepares what its children share; each child then drops everything for itself: files and network
(Landlock), nearly all system calls (seccomp), capabilities, root, memory, processor time. What the system
refuses or doesn't have is returned by name, for the operator.
"""

import ctypes
import errno
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from coaching.sandbox import landlock, seccomp
from coaching.sandbox.limits import Limits
from coaching.sandbox.syscalls import processor

LAYERS: Final = (
    "landlock",
    "seccomp",
    "no_new_privileges",
    "capabilities",
    "other_user",
    "not_dumpable",
    "limits",
)

FIRST_USER = 1_900_000_000
"""Each process has a user of its own, this number and its process id: a range that systemd leaves unused."""
NOBODY = 65_534
"""For containers, in which higher numbers may not exist."""

_DEATH_SIGNAL, _DUMPABLE, _DROP_BOUNDING, _NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_ALL = 1, 4, 24, 38, 47, 4
_READ_BOUNDING = 23
_CAPABILITY_VERSION = 0x20080522
_KILL, _SET_GROUP, _SET_USER = 5, 6, 7
_MAX_CAPABILITIES = 64
_NETWORK_AND_PROGRAMS = (
    "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "subprocess.Popen", "os.system",
    "os.exec", "os.posix_spawn",
)  # fmt: skip


class Rights:
    """What the children of a template lose. Made in the template, which reads nothing untrusted."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._is_linux = sys.platform == "linux"
        self._is_root = os.geteuid() == 0
        self._processor = processor() if self._is_linux else None
        self._filter = seccomp.compiled(self._processor) if self._processor else b""
        self.ruleset = landlock.deny_everything(self._libc) if self._is_linux else None
        self._template = os.getpid()
        self._is_bounded = self._is_linux and self._drop_bounding()
        if self._is_linux:
            self._libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
            self._libc.prctl(_DUMPABLE, 0, 0, 0, 0)

    def drop(self) -> Sequence[str]:
        """Drop this process's rights for good; return the names of the layers that the system refused."""
        os.environ.clear()
        steps: dict[str, Callable[[], bool]] = {
            # Root's rights are needed to become another user, and that undoes what the next ones set.
            "other_user": self._become_nobody,
            "capabilities": self._drop_capabilities,
            "not_dumpable": self._hide,
            "no_new_privileges": lambda: self._set(_NO_NEW_PRIVILEGES, 1),
            "landlock": self._restrict,
            "limits": self._limit,
            # Last, because it refuses all of these calls.
            "seccomp": lambda: bool(self._filter) and seccomp.install(self._libc, self._filter),
        }
        missing = [name for name, step in steps.items() if not step()]
        if "seccomp" in missing:
            sys.addaudithook(_refuse_network_and_programs)
        return missing

    def _become_nobody(self) -> bool:
        """As root, become a user that owns nothing. Without the right to kill that user's processes, stay."""
        if not self._is_root:
            return True
        if not all(self._has(capability) for capability in (_KILL, _SET_GROUP, _SET_USER)):
            return not self._is_linux and self._become(NOBODY)
        return self._become(FIRST_USER + os.getpid()) or self._become(NOBODY)

    def _become(self, number: int) -> bool:
        try:
            if os.getgroups():
                os.setgroups([])
            os.setgid(number)
            os.setuid(number)
        except OSError:
            return False
        return True

    def _has(self, capability: int) -> bool:
        held = self._capabilities()
        return bool(held and held[0] >> capability & 1)

    def _capabilities(self) -> tuple[int, int, int] | None:
        """Return the effective, permitted and inheritable capabilities as bits."""
        if self._processor is None:
            return None
        data = ctypes.create_string_buffer(24)
        if self._libc.syscall(self._processor.capget, struct.pack("=Ii", _CAPABILITY_VERSION, 0), data):
            return None
        low, high = struct.unpack("=3I", bytes(data)[:12]), struct.unpack("=3I", bytes(data)[12:])
        effective, permitted, inheritable = (one | more << 32 for one, more in zip(low, high, strict=True))
        return effective, permitted, inheritable

    def _drop_bounding(self) -> bool:
        """Drop what a program could gain; without the right to, there is nothing to gain it from."""
        for capability in range(_MAX_CAPABILITIES):
            if self._libc.prctl(_READ_BOUNDING, capability, 0, 0, 0) < 0:
                return True
            if self._libc.prctl(_DROP_BOUNDING, capability, 0, 0, 0) < 0:
                return ctypes.get_errno() == errno.EPERM and not self._is_root
        return True

    def _drop_capabilities(self) -> bool:
        if self._processor is None:
            return False
        self._libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
        header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
        self._libc.syscall(self._processor.capset, header, bytes(24))
        return self._is_bounded and self._capabilities() == (0, 0, 0)

    def _hide(self) -> bool:
        """Keep others out of this process, and end it with its template, also after a change of user."""
        is_hidden = self._set(_DUMPABLE, 0) and self._set(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != self._template:  # it has just ended
            os.kill(os.getpid(), signal.SIGKILL)
        return is_hidden

    def _restrict(self) -> bool:
        if self.ruleset is None:
            return False
        is_restricted = landlock.restrict(self._libc, self.ruleset)
        os.close(self.ruleset)
        return is_restricted

    def _set(self, option: int, value: int) -> bool:
        return self._is_linux and self._libc.prctl(option, value, 0, 0, 0) == 0

    def _limit(self) -> bool:
        limits = self._limits
        # The soft limit's signal tells the two apart from a killed process.
        seconds = (limits.cpu_seconds, limits.cpu_seconds + 1)
        bounds: dict[str, tuple[int, int]] = {
            "RLIMIT_AS": (limits.memory_bytes, limits.memory_bytes),
            "RLIMIT_CPU": seconds,
            **dict.fromkeys(
                (
                    "RLIMIT_CORE",
                    "RLIMIT_FSIZE",
                    "RLIMIT_MEMLOCK",
                    "RLIMIT_MSGQUEUE",
                    "RLIMIT_NOFILE",
                    "RLIMIT_NPROC",
                ),
                (0, 0),
            ),
        }
        is_limited = True
        for name, bound in bounds.items():
            try:
                if (number := getattr(resource, name, None)) is not None:
                    resource.setrlimit(number, bound)
            except (OSError, ValueError):
                is_limited = False
        return is_limited


def _refuse_network_and_programs(event: str, _: tuple[Any, ...]) -> None:
    if event in _NETWORK_AND_PROGRAMS:
        raise PermissionError(event)
