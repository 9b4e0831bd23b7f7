"""Mails leave after the response, so that their time says nothing about who has an account.

They are sent by threads of the process and not by the job queue, where a row would hold links that set a
password. A mail that can't be sent is logged, without its address and its text; the person asks for it again.
"""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from threading import BoundedSemaphore

import structlog

from sessions_app.database import give_back_connections

logger = structlog.get_logger(__name__)

THREADS = 2
MAX_WAITING = 200
"""Mails in memory at once; a mail server that hangs must not fill it."""

PAUSE_SECONDS = 0.1
"""Before the work begins: else it would slow down the response that it must not depend on."""

_executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="mail")
_places = BoundedSemaphore(MAX_WAITING)
_unsent: set[Future[None]] = set()


def run_after_response(work: Callable[[], object]) -> None:
    """Run `work` in a thread that sends mails, with the caller's context variables.

    Over `MAX_WAITING` it is dropped, and a line in the log says so.
    """
    if not _places.acquire(blocking=False):
        logger.error("mail_dropped", waiting=MAX_WAITING)
        return
    sending = _executor.submit(copy_context().run, _with_connections_given_back, work)
    _unsent.add(sending)
    sending.add_done_callback(_finish)


def send_last(seconds: float) -> None:
    """Give the mails that wait `seconds`, then drop those that haven't begun: the process ends.

    Python waits for all work of its threads before it exits; a mail server that hangs would hold that up for
    minutes.
    """
    deadline = time.monotonic() + seconds
    while (unsent := [*_unsent]) and (left := deadline - time.monotonic()) > 0:
        wait(unsent, timeout=left)  # a sign-up that is done asks for a mail
    _executor.shutdown(wait=False, cancel_futures=True)


def _with_connections_given_back(work: Callable[[], object]) -> None:
    time.sleep(PAUSE_SECONDS)
    try:
        work()
    finally:
        give_back_connections()


def _finish(done: Future[None]) -> None:
    _unsent.discard(done)
    _places.release()
    if done.cancelled():
        logger.error("mail_dropped")
    elif error := done.exception():
        # A mail server's answer may hold the address: only its kind is logged.
        logger.error("mail_failed", error=type(error).__name__)
