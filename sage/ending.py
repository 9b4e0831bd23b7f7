"""Lets a process end though some of its threads still work.

Python waits for threads at its exit, however long: for one that stores a very long conversation, say. Their
transactions are rolled back when they are cut off, and what they did is repeated at the next start.
"""

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import ExitStack

import structlog

THREAD_SECONDS = 2.0

logger = structlog.get_logger(__name__)

_at_end = ExitStack()
_closing = threading.Lock()


def at_end(call: Callable[[], object]) -> None:
    """Call a function once when this process ends, also if threads are cut off; the last one first."""
    _at_end.callback(call)


def _close() -> None:
    """Call what is registered; whoever comes second waits, so that nothing is cut off half-way."""
    with _closing:
        _at_end.close()


# Once: the stack is empty afterwards.
atexit.register(_close)


def end_soon(code: int) -> None:
    """End this process with a code, though threads still work after `THREAD_SECONDS`. Call it last."""
    waited = threading.Event()
    # Called once the threads have been waited for, and before all that was registered earlier.
    atexit.register(waited.set)
    threading.Thread(target=_end_anyway, args=(waited, code), name="end anyway", daemon=True).start()


def _end_anyway(waited: threading.Event, code: int) -> None:
    if waited.wait(THREAD_SECONDS):
        return
    names = [thread.name for thread in threading.enumerate() if not thread.daemon]
    logger.warning("threads_cut_off", threads=names)
    try:
        _close()
    finally:
        os._exit(code)
