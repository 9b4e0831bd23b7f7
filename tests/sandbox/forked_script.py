"""What `test_forking` lets processes do."""

import os
import socket
import sys
from pathlib import Path

seen: list[str] = []


def spin(_: str) -> bytes:
    while True:
        pass


def fill(_: str) -> bytes:
    return bytes(10**9)


def fail(given: str) -> bytes:
    raise KeyError(given)


def crash(_: str) -> bytes:
    os.abort()


def connect(port: str) -> bytes:
    socket.create_connection(("127.0.0.1", int(port)), timeout=5)
    return b""


def write(path: str) -> bytes:
    Path(path).write_text("x")
    return b""


def environment(_: str) -> bytes:
    return repr(dict(os.environ)).encode()


def modules(_: str) -> bytes:
    return " ".join(sys.modules).encode()


def pid(_: str) -> bytes:
    return b"%d" % os.getpid()


def list_seen(_: str) -> bytes:
    return " ".join(seen).encode()


ACTIONS = {
    "spin": spin, "fill": fill, "fail": fail, "crash": crash, "connect": connect, "write": write,
    "environment": environment, "modules": modules, "pid": pid, "seen": list_seen,
}  # fmt: skip


def answer(name: str, data: bytes) -> bytes:
    """Do what the name says, otherwise return the data."""
    seen.append(name)
    word, _, given = name.partition(" ")
    return ACTIONS[word](given) if word in ACTIONS else data
