"""The one way to the database outside views.

Django's async ORM keeps a connection per thread-sensitive context: outside a request a connection that was
killed stays dead for ever, and all calls queue behind one thread. Here each call runs in a thread of our own
executor and gives its connection back at the end, dead or alive, so the next call starts with a good one.
It holds no rule about what is read or written.
"""

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import load_backend

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

THREADS = 8
UNHURRIED_THREADS = 2
PAGE_THREADS = 16
_executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="database")
_unhurried_executor = ThreadPoolExecutor(
    max_workers=UNHURRIED_THREADS, thread_name_prefix="database unhurried"
)
_page_executor = ThreadPoolExecutor(max_workers=PAGE_THREADS, thread_name_prefix="database page")
_beat_executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database beat")


_TIME_LIMITS = ("idle_in_transaction_session_timeout", "statement_timeout", "lock_timeout")
NO_TIME_LIMITS = "; ".join(f"SET {name} = 0" for name in _TIME_LIMITS)
_USUAL_TIME_LIMITS = "; ".join(f"RESET {name}" for name in _TIME_LIMITS)


class TransactionOpenError(RuntimeError):
    """Something that takes its time was begun inside a transaction, which would hold its connection."""


async def in_database(function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
    """Run synchronous ORM code in the database's own threads and return its result.

    At most `THREADS` calls run at once; further ones wait their turn. Context variables are passed on. A call
    that was started runs to its end even when the task that awaits it is cancelled.
    """
    return await _run_in(_executor, partial(function, *args, **kwargs))


async def in_database_unhurried(
    function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs
) -> ResultT:
    """Run what takes its time and may wait, in threads that no conversation needs: an export."""
    return await _run_in(_unhurried_executor, partial(function, *args, **kwargs))


async def in_database_page(function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
    """Run what an async view shows: it reads, then renders texts, which may take seconds."""
    return await _run_in(_page_executor, partial(function, *args, **kwargs))


async def in_database_beside(function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
    """Run what may never wait behind other calls: a process's heartbeat.

    It has a thread and a connection of its own, outside the pool, which stays open from call to call.
    """
    call = partial(_with_own_connection, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_beat_executor, call)


async def close_connection_beside() -> None:
    """Close the connection of `in_database_beside`."""
    await asyncio.get_running_loop().run_in_executor(_beat_executor, give_back_connections)


async def _run_in(executor: ThreadPoolExecutor, call: Callable[[], ResultT]) -> ResultT:
    in_context = partial(contextvars.copy_context().run, _with_fresh_connections, call)
    return await asyncio.get_running_loop().run_in_executor(executor, in_context)


def _with_fresh_connections(call: Callable[[], ResultT]) -> ResultT:
    give_back_idle_connections()
    try:
        return call()
    finally:
        give_back_idle_connections()


def _with_own_connection(call: Callable[[], ResultT]) -> ResultT:
    """Run a call on this thread's own connection; one that is dead is replaced."""
    own = connections[DEFAULT_DB_ALIAS]
    if own.settings_dict["OPTIONS"].get("pool"):
        connections[DEFAULT_DB_ALIAS] = own = _connection_outside_the_pool()
    if own.connection is not None and not own.is_usable():
        own.close()
    try:
        return call()
    except DatabaseError:
        own.close()
        raise


def _connection_outside_the_pool() -> BaseDatabaseWrapper:
    described = deepcopy(connections.settings[DEFAULT_DB_ALIAS])
    del described["OPTIONS"]["pool"]
    made: BaseDatabaseWrapper = load_backend(described["ENGINE"]).DatabaseWrapper(described, DEFAULT_DB_ALIAS)
    return made


def give_back_connections() -> None:
    """Give this thread's connections back; the next query takes a fresh one.

    For whatever is about to wait. Raises `TransactionOpenError` inside a transaction, which can't give its
    connection back; the one that a test case wraps around each test doesn't count.
    """
    for held in connections.all(initialized_only=True):
        if any(not block._from_testcase for block in held.atomic_blocks):  # type: ignore[attr-defined]  # noqa: SLF001  # Django's own mark, as for `durable`
            raise TransactionOpenError
    give_back_idle_connections()


def give_back_idle_connections() -> None:
    """Give this thread's connections back, where no transaction is open."""
    # `close()` hands a pooled connection back to the pool, which looks at it before it lends it again.
    for held in connections.all(initialized_only=True):
        if not held.in_atomic_block:
            held.close()


async def give_back_connections_of_request() -> None:
    """Give back what the request that this task answers has used in its thread."""
    await sync_to_async(give_back_idle_connections)()


@contextmanager
def no_time_limits() -> Iterator[None]:
    """Lift the time limits on this thread's connection, for work on all rows: a migration, a removal."""
    with connection.cursor() as cursor:
        cursor.execute(NO_TIME_LIMITS)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(_USUAL_TIME_LIMITS)
