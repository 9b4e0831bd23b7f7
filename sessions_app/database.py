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
_executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="database")


async def in_database(function: Callable[P, ResultT], /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
    """Run synchronous ORM code in the database's own threads and return its result.

    At most `THREADS` calls run at once; further ones wait their turn. Context variables are passed on. A call
    that was started runs to its end even when the task that awaits it is cancelled.
    """
    call = partial(
        contextvars.copy_context().run, _with_fresh_connections, partial(function, *args, **kwargs)
    )
    return await asyncio.get_running_loop().run_in_executor(_executor, call)


def _with_fresh_connections(call: Callable[[], ResultT]) -> ResultT:
    _give_back_connections()
    try:
        return call()
    finally:
        _give_back_connections()


def _give_back_connections() -> None:
    # `close()` hands a pooled connection back to the pool, which checks it before it lends it again.
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
