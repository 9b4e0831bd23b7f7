"""Landlock: no path, no TCP, and no process outside, by every right that the running kernel can take away."""

import ctypes
import fcntl
import os

_CREATE, _RESTRICT = 444, 446
"""System calls, with the same numbers on all processors."""
_BITS = range(64)
_HIGH_DESCRIPTOR = 200


class _Rights(ctypes.Structure):
    """`struct landlock_ruleset_attr`: what a ruleset denies on files, TCP ports, and beyond its processes."""

    _fields_ = (("files", ctypes.c_uint64), ("ports", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


def deny_everything(libc: ctypes.CDLL) -> int | None:
    """Return the descriptor, a high one, of a ruleset that denies everything; None without Landlock.

    A kernel refuses a ruleset with a right that it doesn't know, so each is tried alone: newer kernels' are
    included.
    """
    all_rights = _Rights()
    for field, _ in _Rights._fields_:
        known = 0
        for bit in _BITS:
            one = _Rights(**{field: 1 << bit})
            if (descriptor := _create(libc, one)) is not None:
                os.close(descriptor)
                known |= 1 << bit
        setattr(all_rights, field, known)
    ruleset = _create(libc, all_rights) if all_rights.files else None
    if ruleset is None:
        return None
    high = fcntl.fcntl(ruleset, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    os.close(ruleset)
    return high


def restrict(libc: ctypes.CDLL, ruleset: int) -> bool:
    """Bind this process to a ruleset for good; False if the kernel refuses it."""
    return bool(libc.syscall(_RESTRICT, ruleset, 0) == 0)


def _create(libc: ctypes.CDLL, rights: _Rights) -> int | None:
    descriptor = int(libc.syscall(_CREATE, ctypes.byref(rights), ctypes.sizeof(rights), 0))
    return descriptor if descriptor >= 0 else None
