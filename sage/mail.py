"""Sends mails after the response, so that response times don't reveal who has an account.

Threads of the process send them, not the job queue, whose rows would contain links that set a password. A
mail that can't be sent is logged without address and text; the person has to request it again.
"""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from threading import BoundedSemaphore

import structlog

from sessions_app.database import give_back_connections
from sessions_app.languages import in_active_language

logger = structlog.get_logger(__name__)

THREADS = 2
MAX_WAITING = 200
"""Mails in memory at once, in case the mail server hangs."""

PAUSE_SECONDS = 0.1
"""Delay before the work, which would otherwise slow down the response."""

_executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="mail")
_places = BoundedSemaphore(MAX_WAITING)
_unsent: set[Future[None]] = set()


def run_after_response(work: Callable[[], object]) -> None:
    """Run `work` in a mail thread, with the caller's context and language.

    Beyond `MAX_WAITING`, drop and log it.
    """
    if not _places.acquire(blocking=False):
        logger.error("mail_dropped", waiting=MAX_WAITING)
        return
    sending = _executor.submit(
        copy_context().run, in_active_language(partial(_with_connections_given_back, work))
    )
    _unsent.add(sending)
    sending.add_done_callback(_finish)


def send_last(seconds: float) -> None:
    """Wait up to `seconds` for queued mails at shutdown, then drop them: Python would wait for minutes."""
    deadline = time.monotonic() + seconds
    while (unsent := [*_unsent]) and (left := deadline - time.monotonic()) > 0:
        wait(unsent, timeout=left)  # a sign-up that finishes queues a mail
    _executor.shutdown(wait=False, cancel_futures=True)


def _with_connections_given_back(work: Callable[[], object]) -> None:
    time.sleep(PAUSE_SECONDS)
    try:
        work()
    finally:
        give_back_connections()


def _finish(done: Future[None]) -> None:
    _unsent.discard(done)
    if done.cancelled():
        logger.error("mail_dropped")
    elif error := done.exception():
        # A mail server's reply may contain the address: log only the type.
        logger.error("mail_failed", error=type(error).__name__)
    _places.release()
