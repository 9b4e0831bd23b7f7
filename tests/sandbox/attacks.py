"""What native code in a hijacked reader would try: raw system calls, each with the error of the kernel.

Numbers of calls are those of x86-64 and aarch64; None where a processor has no such call.
"""

import ctypes
import json
import os
import platform
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

BEGIN = b"ATTACK "
"""How a request begins that is carried out instead of read."""

_COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine(), 0)
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "add_key": (248, 217), "bpf": (321, 280), "capset": (126, 91), "chdir": (80, 49),
    "chmod": (90, None), "chroot": (161, 51), "clock_settime": (227, 112), "clone": (56, 220),
    "clone3": (435, 435), "dup": (32, 23), "epoll_create1": (291, 20), "eventfd2": (290, 19),
    "execve": (59, 221), "execveat": (322, 281), "fanotify_init": (300, 262), "fchmodat": (268, 53),
    "fcntl": (72, 25), "fork": (57, None), "fsopen": (430, 430), "ftruncate": (77, 46),
    "getdents64": (217, 61), "init_module": (175, 105), "inotify_init1": (294, 26),
    "io_uring_setup": (425, 425), "ioctl": (16, 29), "ioperm": (173, None), "kcmp": (312, 272),
    "kexec_load": (246, 104), "keyctl": (250, 219), "kill": (62, 129), "linkat": (265, 37),
    "memfd_create": (319, 279), "mkdirat": (258, 34), "mknodat": (259, 33), "mmap": (9, 222),
    "modify_ldt": (154, None), "mount": (165, 40), "mprotect": (10, 226), "mq_open": (240, 180),
    "msgget": (68, 186), "name_to_handle_at": (303, 264), "newfstatat": (262, 79), "open": (2, None),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "openat": (257, 56), "openat2": (437, 437),
    "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pipe2": (293, 59),
    "pivot_root": (155, 41), "prctl": (157, 167), "prlimit64": (302, 261),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "readlinkat": (267, 78), "reboot": (169, 142), "renameat2": (316, 276),
    "rt_sigqueueinfo": (129, 138), "sched_setaffinity": (203, 122), "seccomp": (317, 277),
    "sendfile": (40, 71), "setgroups": (116, 159), "sethostname": (170, 161), "setns": (308, 268),
    "setpriority": (141, 140), "setresuid": (117, 147), "setsid": (112, 157), "shmget": (29, 194),
    "socket": (41, 198), "socketpair": (53, 199), "splice": (275, 76), "statx": (332, 291),
    "swapon": (167, 224), "symlinkat": (266, 36), "tgkill": (234, 131), "timer_create": (222, 107),
    "tkill": (200, 130), "truncate": (76, 45), "umount2": (166, 39), "unlink": (87, None),
    "unlinkat": (263, 35), "unshare": (272, 97), "userfaultfd": (323, 282), "utimensat": (280, 88),
    "vfork": (58, None), "vmsplice": (278, 75),
}  # fmt: skip
_X32 = 0x40000000
_HERE = -100
_NAMESPACES = {
    "mount": 0x20000, "user": 0x10000000, "network": 0x40000000, "process": 0x20000000, "cgroup": 0x02000000,
    "uts": 0x04000000, "ipc": 0x08000000, "time": 0x80,
}  # fmt: skip
_CONNECT = {"x86_64": 42, "aarch64": 203}

_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> int:
    """Return the error of a raw call, 0 if it succeeded; -1 where the processor doesn't have it."""
    number = _NUMBERS[name][_COLUMN]
    return -1 if number is None else _raw(number, *arguments)


def _raw(number: int, *arguments: object) -> int:
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    ctypes.set_errno(0)
    found = _libc.syscall(ctypes.c_long(number), *given)
    return ctypes.get_errno() if found == -1 else 0


def attempts(target: dict[str, Any]) -> Iterator[tuple[str, Callable[[], int]]]:
    """Yield what is tried: the target names files of a data folder, sockets, and another process."""
    yield from _files(target)
    yield from _processes(int(target["pid"]))
    yield from _connections(target)
    yield from _system(target)


def _files(target: dict[str, Any]) -> Iterator[tuple[str, Callable[[], int]]]:
    buffer = ctypes.create_string_buffer(512)
    how = struct.pack("=3Q", 0, 0, 0)
    for name in ("secret_key", "database_password"):
        path = os.fsencode(target[name])
        yield f"open {name}", partial(call, "open", path, 0)
        yield f"openat {name}", partial(call, "openat", _HERE, path, 0)
        yield f"openat2 {name}", partial(call, "openat2", _HERE, path, how, 24)
        yield f"stat {name}", partial(call, "newfstatat", _HERE, path, buffer, 0)
        yield f"statx {name}", partial(call, "statx", _HERE, path, 0, 0x7FF, buffer)
        yield f"truncate {name}", partial(call, "truncate", path, 1)
        yield f"unlink {name}", partial(call, "unlink", path)
        yield f"unlinkat {name}", partial(call, "unlinkat", _HERE, path, 0)
        yield f"rename {name}", partial(call, "renameat2", _HERE, path, _HERE, path + b"2", 0)
        yield f"link {name}", partial(call, "linkat", _HERE, path, _HERE, path + b"3", 0)
        yield f"chmod {name}", partial(call, "chmod", path, 0o777)
        yield f"fchmodat {name}", partial(call, "fchmodat", _HERE, path, 0o777)
        yield f"utimens {name}", partial(call, "utimensat", _HERE, path, None, 0)
    folder = os.fsencode(target["folder"])
    yield "create", partial(call, "openat", _HERE, folder + b"/new", os.O_CREAT | os.O_WRONLY, 0o600)
    yield "temporary file", partial(call, "openat", _HERE, folder, 0o20200000 | os.O_WRONLY, 0o600)
    yield "mkdir", partial(call, "mkdirat", _HERE, folder + b"/new folder", 0o700)
    yield "symlink", partial(call, "symlinkat", b"/etc", _HERE, folder + b"/link")
    yield "mknod", partial(call, "mknodat", _HERE, folder + b"/pipe", 0o10600, 0)
    yield "chdir", partial(call, "chdir", folder)
    yield "readlink", partial(call, "readlinkat", _HERE, b"/proc/self/exe", buffer, 512)
    yield "list", partial(call, "openat", _HERE, b"/", os.O_DIRECTORY)
    yield "handle", partial(call, "name_to_handle_at", _HERE, folder, buffer, buffer, 0)
    yield "open by handle", partial(call, "open_by_handle_at", 0, buffer, 0)
    yield "own memory file", partial(call, "openat", _HERE, b"/proc/self/mem", os.O_RDWR)
    yield "reopen own pipe", partial(call, "openat", _HERE, b"/proc/self/fd/1", os.O_WRONLY)
    yield "terminal", partial(call, "openat", _HERE, b"/dev/tty", os.O_RDWR)


def _processes(pid: int) -> Iterator[tuple[str, Callable[[], int]]]:
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("=2Q", ctypes.addressof(buffer), 8)
    for file in ("mem", "environ", "maps", "cwd", "root", "fd/0", "ns/net"):
        path = f"/proc/{pid}/{file}".encode()
        yield f"/proc {file}", partial(call, "openat", _HERE, path, 0)
    yield "process_vm_readv", partial(call, "process_vm_readv", pid, local, 1, local, 1, 0)
    yield "process_vm_writev", partial(call, "process_vm_writev", pid, local, 1, local, 1, 0)
    yield "ptrace attach", partial(call, "ptrace", 16, pid, 0, 0)
    yield "ptrace seize", partial(call, "ptrace", 0x4206, pid, 0, 0)
    yield "ptrace traceme", partial(call, "ptrace", 0, 0, 0, 0)
    yield "kcmp", partial(call, "kcmp", pid, pid, 0, 0, 0)
    yield "pidfd_open", partial(call, "pidfd_open", pid, 0)
    yield "pidfd_getfd", partial(call, "pidfd_getfd", 0, 0, 0)
    yield "pidfd_send_signal", partial(call, "pidfd_send_signal", 0, 0, None, 0)
    for number in (0, 10, 9):
        # The last is never sent to a process that would obey: see the target.
        yield f"kill {number}", partial(call, "kill", pid, number)
        yield f"tkill {number}", partial(call, "tkill", pid, number)
        yield f"tgkill {number}", partial(call, "tgkill", pid, pid, number)
    yield "kill all", partial(call, "kill", -1, 0)
    yield "kill parent", partial(call, "kill", os.getppid(), 0)
    yield "sigqueue", partial(call, "rt_sigqueueinfo", pid, 10, bytes(128))
    yield "its limits", partial(call, "prlimit64", pid, 7, None, ctypes.create_string_buffer(16))
    yield "own limits", partial(call, "prlimit64", 0, 9, struct.pack("=2Q", 2**40, 2**40), None)
    yield "its priority", partial(call, "setpriority", 0, pid, 19)
    yield "its processors", partial(call, "sched_setaffinity", pid, 8, struct.pack("=Q", 1))
    yield "its clock", partial(_clock, pid)


def _clock(pid: int) -> int:
    return _raw((228, 113)[_COLUMN], (~pid << 3 | 2) & 0xFFFFFFFF, ctypes.create_string_buffer(16))


def _connections(target: dict[str, Any]) -> Iterator[tuple[str, Callable[[], int]]]:
    internet, local = (struct.pack("=H", family) for family in (socket.AF_INET, socket.AF_UNIX))
    addresses = {
        "TCP": (socket.AF_INET, internet + struct.pack("!H4s8x", target["port"], b"\x7f\0\0\1")),
        "abstract": (socket.AF_UNIX, local + b"\0" + target["abstract"].encode()),
        **{f"Unix {path}": (socket.AF_UNIX, local + os.fsencode(path) + b"\0") for path in target["sockets"]},
    }
    for name, (family, address) in addresses.items():
        yield name, partial(_connect, family, address)
    for number in (1, 2, 10, 16, 17, 38, 40, 44):
        for kind in (1, 2, 3):
            yield f"socket {number} {kind}", partial(call, "socket", number, kind, 0)
    yield "socketpair", partial(call, "socketpair", socket.AF_UNIX, socket.SOCK_STREAM, 0, bytes(8))
    yield "io_uring", partial(call, "io_uring_setup", 4, ctypes.create_string_buffer(120))


def _connect(family: int, address: bytes) -> int:
    """Connect a new socket, or whatever descriptor may be one, to an address."""
    number = _NUMBERS["socket"][_COLUMN]
    descriptor = _libc.syscall(ctypes.c_long(number or 0), int(family), int(socket.SOCK_STREAM), 0)
    if descriptor < 0:
        return ctypes.get_errno()
    return _raw(_CONNECT[platform.machine()], descriptor, address, len(address))


def _system(target: dict[str, Any]) -> Iterator[tuple[str, Callable[[], int]]]:
    shell = (ctypes.c_char_p * 4)(b"/bin/sh", b"-c", b"exit 0", None)
    buffer = ctypes.create_string_buffer(256)
    yield "fork", partial(call, "fork")
    yield "vfork", partial(call, "vfork")
    yield "clone", partial(call, "clone", 17, 0, 0, 0, 0)
    yield "thread", partial(call, "clone", 0x50F00, 0, 0, 0, 0)
    yield "clone3", partial(call, "clone3", struct.pack("=8Q", 0, 0, 0, 0, 17, 0, 0, 0), 64)
    yield "execve", partial(call, "execve", b"/bin/sh", shell, None)
    yield "execveat", partial(call, "execveat", _HERE, b"/bin/sh", shell, None, 0)
    for name, flag in _NAMESPACES.items():
        yield f"unshare {name}", partial(call, "unshare", flag)
        yield f"clone {name}", partial(call, "clone", flag | 17, 0, 0, 0, 0)
    yield "setns", partial(call, "setns", 0, 0)
    yield "chroot", partial(call, "chroot", b"/")
    yield "pivot_root", partial(call, "pivot_root", b"/", b"/")
    yield "mount", partial(call, "mount", b"none", os.fsencode(target["folder"]), b"tmpfs", 0, None)
    yield "umount", partial(call, "umount2", b"/proc", 0)
    yield "fsopen", partial(call, "fsopen", b"tmpfs", 0)
    yield "open_tree", partial(call, "open_tree", _HERE, b"/", 1)
    yield "bpf", partial(call, "bpf", 0, buffer, 128)
    yield "add_key", partial(call, "add_key", b"user", b"x", b"y", 1, -3)
    yield "keyctl", partial(call, "keyctl", 0, -3, 1)
    yield "perf", partial(call, "perf_event_open", buffer, 0, -1, -1, 0)
    yield "userfaultfd", partial(call, "userfaultfd", 0)
    yield "memfd", partial(call, "memfd_create", b"x", 0)
    yield "root again", partial(call, "setresuid", 0, 0, 0)
    yield "groups", partial(call, "setgroups", 0, None)
    yield "capabilities", partial(call, "capset", struct.pack("=Ii", 0x20080522, 0), b"\xff" * 24)
    yield "dumpable", partial(call, "prctl", 4, 1, 0, 0, 0)
    yield "another filter", partial(call, "seccomp", 0, 0, None)
    yield "personality", partial(call, "personality", 0x0400000)
    yield "new code", partial(call, "mmap", 0, 4096, 7, 0x22, -1, 0)
    yield "changed code", partial(call, "mprotect", (ctypes.addressof(buffer) >> 12) << 12, 4096, 7)
    yield "ioctl", partial(call, "ioctl", 1, 0x5421, buffer)
    yield "pipe size", partial(call, "fcntl", 1, 1031, 1 << 20)
    yield "pipe flags", partial(call, "fcntl", 1, 4, os.O_NONBLOCK)
    yield "dup", partial(call, "dup", 1)
    yield "pipe", partial(call, "pipe2", buffer, 0)
    yield "ftruncate", partial(call, "ftruncate", 0, 0)
    yield "sendfile", partial(call, "sendfile", 1, 0, None, 1)
    yield "splice", partial(call, "splice", 0, None, 1, None, 1, 0)
    yield "vmsplice", partial(call, "vmsplice", 1, None, 0, 0)
    yield "shared memory", partial(call, "shmget", 0, 4096, 0o1600)
    yield "message queue", partial(call, "msgget", 0, 0o1600)
    yield "posix queue", partial(call, "mq_open", b"sage", 0o102, 0o600, None)
    yield "epoll", partial(call, "epoll_create1", 0)
    yield "eventfd", partial(call, "eventfd2", 0, 0)
    yield "inotify", partial(call, "inotify_init1", 0)
    yield "fanotify", partial(call, "fanotify_init", 0, 0)
    yield "timer", partial(call, "timer_create", 1, None, buffer)
    yield "session", partial(call, "setsid")
    yield "module", partial(call, "init_module", None, 0, b"")
    yield "kexec", partial(call, "kexec_load", 0, 0, None, 0)
    yield "reboot", partial(call, "reboot", 0, 0, 0, None)
    yield "swap", partial(call, "swapon", b"/nowhere", 0)
    yield "host name", partial(call, "sethostname", b"x", 1)
    yield "clock", partial(call, "clock_settime", 99, bytes(16))
    yield "ports", partial(call, "ioperm", 0, 1, 1)
    yield "segments", partial(call, "modify_ldt", 1, buffer, 16)
    if platform.machine() == "x86_64":
        yield "x32 open", partial(_raw, _X32 | 257, _HERE, os.fsencode(target["secret_key"]), 0)
        yield "x32 socket", partial(_raw, _X32 | 41, 1, 1, 0)


def carried_out(request: bytes) -> bytes:
    """Try everything; return the errors by name, what the process is, and what it still holds."""
    target = json.loads(request.removeprefix(BEGIN))
    starts = tuple(target.get("names", ("",)))
    errors = {name: attempt() for name, attempt in attempts(target) if name.startswith(starts)}
    held = [number for number in range(256) if call("fcntl", number, 1) == 0]
    facts = {
        "user": os.getuid(), "group": os.getgid(), "groups": _groups(), "descriptors": held,
        "environment": dict(os.environ), "modules": "django" in sys.modules, "parent": os.getppid(),
    }  # fmt: skip
    return json.dumps({"errors": errors, "facts": facts}).encode()


def _groups() -> list[int] | str:
    try:
        return os.getgroups()
    except PermissionError:
        return "hidden"


def attacked(answer: Callable[[bytes, bytes], bytes]) -> Callable[[bytes, bytes], bytes]:
    """Return a reader that can be taken over by a request."""

    def taken_over(head: bytes, body: bytes) -> bytes:
        return carried_out(body) if body.startswith(BEGIN) else answer(head, body)

    return taken_over
