"""The one way to the database outside views.

Django's async ORM keeps a connection per thread-sensitive context: outside a request a connection that was
killed stays dead for ever, and all calls queue behind one thread. Here each call runs in a thread of our own
executor and gives its connection back at the end, dead or alive, so the next call starts with a good one.
It holds no rule about what is read or written.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

THREADS = 8
UNHURRIED_THREADS = 2
_executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="database")
_unhurried_executor = ThreadPoolExecutor(
    max_workers=UNHURRIED_THREADS, thread_name_prefix="database unhurried"
)
_beat_executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database beat")


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


async def in_database_beside(function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
    """Run what may never wait behind other calls, in a thread of its own: a process's heartbeat."""
    return await _run_in(_beat_executor, partial(function, *args, **kwargs))


async def _run_in(executor: ThreadPoolExecutor, call: Callable[[], ResultT]) -> ResultT:
    in_context = partial(contextvars.copy_context().run, _with_fresh_connections, call)
    return await asyncio.get_running_loop().run_in_executor(executor, in_context)


def _with_fresh_connections(call: Callable[[], ResultT]) -> ResultT:
    give_back_connections()
    try:
        return call()
    finally:
        give_back_connections()


def give_back_connections() -> None:
    """Give this thread's connections back, where no transaction is open; the next query takes a fresh one."""
    # `close()` hands a pooled connection back to the pool, which looks at it before it lends it again.
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
