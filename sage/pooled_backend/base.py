"""Django's PostgreSQL backend with a last-in, first-out connection pool.

The most recently returned connection is used first: warm connections have cached plans. It isn't checked
either: a server that closes a connection writes to its socket, so an idle socket is trusted for a while.

While the server is away, the pool tries to connect at an even pace. The base class doubles its delays, so
after an outage of a minute there would be no connection for up to another minute.
"""

import time
from threading import Lock
from typing import Any

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import Connection, Error
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool
from psycopg_pool.pool import AddConnection, MaintenanceTask

from sessions_app.idle_connections import TRUSTED_SECONDS, has_news
from sessions_app.process_name import process_name

MAX_RECONNECT_SECONDS = 1.0
"""Between two attempts to connect. Well below the time that a request waits for a connection."""


class WarmPool(ConnectionPool[Connection[Any]]):
    """Keeps returned connections on a stack, while they are warm.

    The others are in the queue of the base class, which checks them and closes those that nobody needs. A
    connection that never gets cold isn't replaced after the base class's `max_lifetime`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(check=self._check_one, **options)
        self._guard = Lock()
        self._stack: list[tuple[Connection[Any], float]] = []
        self._takers = 0

    def getconn(self, timeout: float | None = None) -> Connection[Any]:
        """Return the warmest connection, else one of the queue. Raises `PoolTimeout`."""
        with self._guard:
            if self._stack and _is_warm(*self._stack[-1]):
                return self._stack.pop()[0]
            # The others are colder, or just as dead.
            doubtful, self._stack = self._stack, []
            self._takers += 1
        try:
            for connection, _ in doubtful:
                if has_news(connection):
                    connection.close()  # replaced by the base class
                super().putconn(connection)
            return super().getconn(timeout)
        finally:
            with self._guard:
                self._takers -= 1

    def putconn(self, connection: Connection[Any]) -> None:
        """Take a connection back. Whoever waits for the queue gets it from there."""
        with self._guard:
            now = time.monotonic()
            cold = [idle for idle, since in self._stack if now - since > TRUSTED_SECONDS]
            self._stack = [(idle, since) for idle, since in self._stack if idle not in cold]
            is_idle = connection.info.transaction_status == TransactionStatus.IDLE
            if is_idle and not self._takers and not self.closed:
                self._stack.append((connection, now))
            else:
                cold.append(connection)
        for idle in cold:
            super().putconn(idle)

    def _check_one(self, connection: Connection[Any]) -> None:
        """Check a connection of the queue. If it is dead, replace all: the others are likely to be so, too.

        Otherwise the base class would wait after each of them, for longer than the request does.
        """
        try:
            self.check_connection(connection)
        except Error:
            self.drain()
            raise

    def schedule_task(self, task: MaintenanceTask, delay: float) -> None:
        """Run a task later; another attempt to connect, soon."""
        is_attempt = isinstance(task, AddConnection)
        super().schedule_task(task, min(delay, MAX_RECONNECT_SECONDS) if is_attempt else delay)

    def close(self, timeout: float = 5.0) -> None:
        super().close(timeout)
        with self._guard:
            idle, self._stack = self._stack, []
        for connection, _ in idle:
            super().putconn(connection)


_pools: dict[str, WarmPool] = {}


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL as Django knows it, with that pool."""

    def get_connection_params(self) -> dict[str, Any]:
        """Add this process's name, by which others find the transactions that it left open."""
        return {**super().get_connection_params(), "application_name": process_name()}

    @property
    def pool(self) -> WarmPool | None:
        """Return this process's pool, created on first use but not opened."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if not options or self.alias == NO_DB_ALIAS:
            return None
        if self.alias not in _pools:
            created = WarmPool(
                kwargs={**self.get_connection_params(), "autocommit": True},
                open=False,
                configure=self._set_time_zone,
                **options,
            )
            _pools.setdefault(self.alias, created)  # of several threads the first one wins
        return _pools[self.alias]

    def close_pool(self) -> None:
        if pool := _pools.pop(self.alias, None):
            pool.close()

    def _set_time_zone(self, connection: Connection[Any]) -> None:
        connection.execute(self.ops.set_time_zone_sql(), [self.timezone_name])


def _is_warm(connection: Connection[Any], since: float) -> bool:
    """Return whether it was returned recently and nothing arrived since."""
    return time.monotonic() - since < TRUSTED_SECONDS and not has_news(connection)
