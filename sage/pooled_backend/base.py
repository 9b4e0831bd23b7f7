"""Django's PostgreSQL backend with a pool that a user needn't wait for.

The connection that came back last is lent first: the server's process behind it has at hand what it read and
planned, while one that has slept for minutes begins anew. And none is asked each time whether it still works:
a server that ends a connection says so on its socket, so a silent socket is taken at its word for a while.
"""

import select
import time
from collections import deque
from typing import Any

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import Connection
from psycopg_pool import ConnectionPool

TRUSTED_SECONDS = 10.0
"""On the way to another host a connection can be lost without a word: after that time it is asked."""


class WarmPool(ConnectionPool[Connection[Any]]):
    """A pool that lends the connection that came back last."""

    def __init__(self, **options: Any) -> None:
        super().__init__(check=self.check_if_doubtful, **options)
        self._pool = _Stack()
        self._answered_at: dict[int, float] = {}

    def check_if_doubtful(self, connection: Connection[Any]) -> None:
        """Ask the server, unless it answered lately and has been silent since. Raises for a dead one."""
        now, pid = time.monotonic(), connection.info.backend_pid
        if now - self._answered_at.get(pid, 0.0) < TRUSTED_SECONDS and not _has_news(connection.fileno()):
            return
        self.check_connection(connection)
        # Processes that are gone are forgotten, and the rest is few.
        lately = {key: at for key, at in self._answered_at.items() if now - at < TRUSTED_SECONDS}
        self._answered_at = lately | {pid: now}  # a new one: other threads may be reading the old one

    def _shrink_pool(self) -> None:
        """Close, of those that nobody needed, the one that came back first."""
        with self._lock:
            if self._nconns_min > 0:
                self._pool.rotate(1)  # it is taken from where the warmest is lent
        super()._shrink_pool()


class _Stack(deque[Connection[Any]]):
    """Where the pool appends, it takes away."""

    append = deque.appendleft


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL as Django knows it, with that pool."""

    @property
    def pool(self) -> ConnectionPool[Connection[Any]] | None:
        """Return the pool of this process, made on first need but not opened."""
        options = self.settings_dict["OPTIONS"].get("pool")
        pools = self._connection_pools  # type: ignore[attr-defined]  # the stubs lack what Django calls its own
        if options and self.alias != NO_DB_ALIAS and self.alias not in pools:
            made = WarmPool(
                kwargs={**self.get_connection_params(), "autocommit": True},
                open=False,
                configure=self._configure_connection,  # type: ignore[attr-defined]
                **options,
            )
            # As Django does it: of several threads the first one wins.
            pools.setdefault(self.alias, made)
        return super().pool  # type: ignore[no-any-return]


def _has_news(socket: int) -> bool:
    """Say whether something arrived that nobody had asked for: most often that the connection ends."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
