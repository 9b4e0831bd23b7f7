"""Two transactions at once, of which the second waits for a lock of the first."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from django.db import connection, connections, transaction

T = TypeVar("T")


def after_waiting(first: Callable[[], object], second: Callable[[], T]) -> T:
    """Run the second in a thread of its own, and commit the first once the second waits or has ended."""
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            first()
            waiting = threads.submit(_closing, second)
            _wait_for_a_waiter(waiting)
        return waiting.result()


def _closing(write: Callable[[], T]) -> T:
    try:
        return write()
    finally:
        connections["default"].close()


def _wait_for_a_waiter(waiting: Future[T]) -> None:
    while not waiting.done():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
            )
            if cursor.fetchone():
                return
