"""Django's PostgreSQL backend with a last-in, first-out connection pool.

The most recently returned connection is used first: warm connections have cached plans. Connections aren't
checked on every use: a server that closes one writes to its socket, so an idle socket is trusted for a while.
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
"""A network can drop a connection silently, so it is checked again after this time."""


class WarmPool(ConnectionPool[Connection[Any]]):
    """Hands out the most recently returned connection."""

    def __init__(self, **options: Any) -> None:
        super().__init__(check=self.check_if_doubtful, **options)
        self._pool = _Stack()
        self._answered_at: dict[int, float] = {}

    def check_if_doubtful(self, connection: Connection[Any]) -> None:
        """Check the connection unless it worked recently and its socket is idle. Raises if it is dead."""
        now, pid = time.monotonic(), connection.info.backend_pid
        if now - self._answered_at.get(pid, 0.0) < TRUSTED_SECONDS and not _has_news(connection.fileno()):
            return
        self.check_connection(connection)
        # Drop processes that have ended.
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
