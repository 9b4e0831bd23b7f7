"""What `SIGTERM` does to a command: it ends as by an exception, so nothing unfinished stays."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGTERM_CODE = 128 + signal.SIGTERM


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Raise `SystemExit` in the block at `SIGTERM`. Only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def _end(_number: int, _frame: FrameType | None) -> None:
    sys.exit(SIGTERM_CODE)
