"""A worker's own connections to the database, which cost next to nothing while there is no work."""

import time
from typing import Any

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.contrib.django import connector_params
from psycopg.abc import RV, PQGen
from psycopg_pool import AsyncConnectionPool

from sessions_app.idle_connections import TRUSTED_SECONDS, is_cut

LISTEN_INTERVAL_SECONDS = 60.0
CONNECT_SECONDS = 5.0


class WorkersConnection(psycopg.AsyncConnection[Any]):
    """Waits for the server without psycopg's ten wake-ups a second, which each idle listener pays for.

    They let Ctrl-C interrupt a waiting thread. A task needs none: it can be cancelled while it waits.
    """

    given_at = float("-inf")
    """When the pool last gave it to somebody, by the monotonic clock."""

    async def wait(
        self,
        gen: PQGen[RV],
        interval: float = LISTEN_INTERVAL_SECONDS,
        timeout: float | None = None,  # noqa: ASYNC109 - psycopg's
    ) -> RV:
        return await super().wait(gen, interval, timeout)


def open_connector(*, slots: int) -> PsycopgConnector:
    """Describe the connections of a worker with so many slots, one of which LISTENs for jobs."""
    return PsycopgConnector(
        connection_class=WorkersConnection,
        kwargs=connector_params(),
        min_size=1,
        max_size=slots,
        timeout=CONNECT_SECONDS,
        configure=_commit_each_statement,
        pool_factory=_pool,
    )


async def _commit_each_statement(connection: WorkersConnection) -> None:
    """Save two round trips: whatever a worker does is one statement."""
    await connection.set_autocommit(True)


def _pool(**options: Any) -> AsyncConnectionPool[Any]:
    return AsyncConnectionPool(**{**options, "check": _check})


async def _check(connection: WorkersConnection) -> None:
    """Check a connection before its use, by a statement only after a long time. Raises `psycopg.Error`."""
    if is_cut(connection):
        await connection.close()
        raise psycopg.OperationalError("the server has closed the connection")
    before, connection.given_at = connection.given_at, time.monotonic()
    if connection.given_at - before > TRUSTED_SECONDS:
        await AsyncConnectionPool.check_connection(connection)
