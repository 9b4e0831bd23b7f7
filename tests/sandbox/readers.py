"""What `test_host` lets processes do: the first word of a request's head, or of a file, says what."""

import os
import sys
import time
from collections.abc import Iterator
from typing import BinaryIO

from coaching.sandbox.frames import ANSWER, ANSWERED

seen: list[bytes] = []
_SINK = 1


def spin(_: bytes) -> bytes:
    while True:
        pass


def fill(_: bytes) -> bytes:
    return bytes(10**9)


def fail(given: bytes) -> bytes:
    raise KeyError(given)


def crash(_: bytes) -> bytes:
    os.abort()


def environment(_: bytes) -> bytes:
    return repr(dict(os.environ)).encode()


def modules(_: bytes) -> bytes:
    return " ".join(sys.modules).encode()


def pid(_: bytes) -> bytes:
    return b"%d" % os.getpid()


def list_seen(_: bytes) -> bytes:
    return b" ".join(seen)


def sleep(seconds: bytes) -> bytes:
    time.sleep(float(seconds))
    return b"slept"


def compute(seconds: bytes) -> bytes:
    end = time.process_time() + float(seconds)
    while time.process_time() < end:
        pass
    return b"computed"


def die(_: bytes) -> bytes:
    os._exit(1)


def send(size: bytes) -> bytes:
    return b"x" * int(size)


def claim(size: bytes) -> bytes:
    """Claim a long answer and never send it."""
    os.write(_SINK, ANSWER.pack(ANSWERED, int(size)))
    return spin(b"")


def trickle(size: bytes) -> bytes:
    """Answer byte by byte."""
    os.write(_SINK, ANSWER.pack(ANSWERED, int(size)))
    while True:
        os.write(_SINK, b"x")


def babble(_: bytes) -> bytes:
    """Send what isn't an answer."""
    os.write(_SINK, b"\xff" * 100_000)
    return b""


ACTIONS = {
    b"babble": babble, b"claim": claim, b"compute": compute, b"crash": crash, b"die": die,
    b"environment": environment, b"fail": fail, b"fill": fill, b"modules": modules, b"pid": pid,
    b"seen": list_seen, b"send": send, b"sleep": sleep, b"spin": spin, b"trickle": trickle,
}  # fmt: skip


def answer(head: bytes, body: bytes) -> bytes:
    """Do what the head or the body says, otherwise return the body."""
    seen.append(head)
    word, _, given = (head or body).partition(b" ")
    return ACTIONS[word](given) if word in ACTIONS else body


def answers(head: bytes, file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file from a position on; do what they say."""
    file.seek(int(head))
    for line in file:
        word, _, given = line.rstrip(b"\n").partition(b" ")
        yield ACTIONS[word](given) if word in ACTIONS else line
