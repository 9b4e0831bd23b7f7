"""Database access outside views.

Django's async ORM keeps a connection per thread-sensitive context: outside a request a killed connection
stays dead for ever, and all calls queue behind one thread. Here each call runs in a thread of our own
executor and returns its connection to the pool at the end, so the next call starts with a working one.
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
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import load_backend

from sessions_app.idle_connections import is_cut
from sessions_app.languages import in_active_language
from sessions_app.lock_spaces import LockSpace

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

THREADS = 8
UNHURRIED_THREADS = 2
PAGE_THREADS = 16
_executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="database")
_unhurried_executor = ThreadPoolExecutor(
    max_workers=UNHURRIED_THREADS, thread_name_prefix="database unhurried"
)
_beside_executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database beside")
_page_executor = ThreadPoolExecutor(max_workers=PAGE_THREADS, thread_name_prefix="database page")
_heartbeat_executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database heartbeat")


OUTAGES = (DatabaseError, InterfaceError)
"""What Django raises while the database can't be reached, or refuses a statement."""
_AWAY = ("08", "53", "57P")
"""How the SQLSTATE of a lost connection, a lack of resources, and a server that stops or starts begins."""
_TIME_LIMITS = ("idle_in_transaction_session_timeout", "statement_timeout", "lock_timeout")
NO_TIME_LIMITS = "; ".join(f"SET {name} = 0" for name in _TIME_LIMITS)
_USUAL_TIME_LIMITS = "; ".join(f"RESET {name}" for name in _TIME_LIMITS)


def is_outage(error: BaseException) -> bool:
    """Say whether the database is away, so that other statements fail as well.

    A deadlock, a lock that others hold or a statement that takes too long concern only what it was about.
    """
    if not isinstance(error, OperationalError):
        return isinstance(error, InterfaceError)
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(_AWAY)


async def in_database(function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
    """Run synchronous ORM code in the database's own threads and return its result.

    At most `THREADS` calls run at once; others queue. Context variables and the language are passed on. A
    call that has started runs to its end even when the task that awaits it is cancelled.
    """
    return await _run_in(_executor, partial(function, *args, **kwargs))


async def in_database_unhurried(
    function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs
) -> ResultT:
    """Run slow work such as an export, in threads that no conversation needs."""
    return await _run_in(_unhurried_executor, partial(function, *args, **kwargs))


async def in_database_beside(function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
    """Run work that mostly waits for a server of others, in a thread that nothing else needs."""
    return await _run_in(_beside_executor, partial(function, *args, **kwargs))


async def in_database_page(function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
    """Run an async view's reads and its rendering, which may take seconds."""
    return await _run_in(_page_executor, partial(function, *args, **kwargs))


async def in_database_heartbeat(
    function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs
) -> ResultT:
    """Run a process's heartbeat, which may never queue behind other calls.

    Its thread keeps a connection of its own, outside the pool.
    """
    call = partial(_with_own_connection, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_heartbeat_executor, call)


async def close_heartbeat_connection() -> None:
    """Close the connection of `in_database_heartbeat`."""
    await asyncio.get_running_loop().run_in_executor(_heartbeat_executor, give_back_connections)


async def _run_in(executor: ThreadPoolExecutor, call: Callable[[], ResultT]) -> ResultT:
    call = in_active_language(partial(_with_fresh_connections, call))
    in_context = partial(contextvars.copy_context().run, call)
    return await asyncio.get_running_loop().run_in_executor(executor, in_context)


def _with_fresh_connections(call: Callable[[], ResultT]) -> ResultT:
    give_back_idle_connections()
    try:
        return call()
    finally:
        give_back_idle_connections()


def _with_own_connection(call: Callable[[], ResultT]) -> ResultT:
    """Run a call on this thread's own connection, replaced if it is dead."""
    own = connections[DEFAULT_DB_ALIAS]
    if own.settings_dict["OPTIONS"].get("pool"):
        connections[DEFAULT_DB_ALIAS] = own = _connection_outside_the_pool()
    if own.connection is not None and is_cut(own.connection):
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
    """Return this thread's connections to the pool before it waits for something else.

    Raises `RuntimeError` inside a transaction; the one that a test case wraps around a test doesn't count.
    """
    for held in connections.all(initialized_only=True):
        if held.in_atomic_block:
            with transaction.atomic(using=held.alias, savepoint=False, durable=True):
                pass
    give_back_idle_connections()


def give_back_idle_connections() -> None:
    """Return this thread's connections to the pool, except those with an open transaction."""
    for held in connections.all(initialized_only=True):
        if not held.in_atomic_block:
            held.close()


async def give_back_connections_of_request() -> None:
    """Return the connections of the thread that serves this task's request."""
    await sync_to_async(give_back_idle_connections)()


def lock_until_commit(space: LockSpace, key: int) -> None:
    """Take an advisory lock, which ends with the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [space.value, key])


@contextmanager
def one_snapshot() -> Iterator[None]:
    """Run the block's queries on one snapshot of the database. They may not write."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


@contextmanager
def no_time_limits() -> Iterator[None]:
    """Lift the time limits of this thread's connection, for work on many rows such as a migration."""
    with connection.cursor() as cursor:
        cursor.execute(NO_TIME_LIMITS)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(_USUAL_TIME_LIMITS)
