"""How a web process knows at once whether it is alone on its database: by a lock that the database keeps.

Each web process shares the lock for as long as it lives, on a connection of its own, so the database gives
it back by itself when the process dies. One that could have it alone knows that whatever runs was left by
the dead. This is for the start and nothing more: a turn's one runner is kept by its fencing number.

The lock belongs to a session of the database: through a pooler in transaction mode
it says nothing (docs/operating.md).
"""

import asyncio

import psycopg
import structlog
from django.db import connection

CLAIM_LOCK = 0x5A6F
LOOK_SECONDS = 5.0
# A host that is gone says no good-bye: its connection must not look alive for hours.
_KEEPALIVES = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"

logger = structlog.get_logger(__name__)


class DatabaseClaim:
    """This process's share of the lock."""

    def __init__(self) -> None:
        self._session: psycopg.Connection | None = None

    def take(self) -> bool:
        """Take a share; return whether nobody else has one. Raises `psycopg.OperationalError`."""
        session = psycopg.connect(**connection.get_connection_params(), autocommit=True)
        try:
            session.execute(_KEEPALIVES)
            row = session.execute("SELECT pg_try_advisory_lock(%s)", [CLAIM_LOCK]).fetchone()
            is_alone = bool(row and row[0])
            # Where another process holds it alone, it does so for this very moment only.
            session.execute("SELECT pg_advisory_lock_shared(%s)", [CLAIM_LOCK])
            if is_alone:
                session.execute("SELECT pg_advisory_unlock(%s)", [CLAIM_LOCK])
        except BaseException:
            session.close()
            raise
        self._session = session
        return is_alone

    async def keep(self) -> None:
        """Take the share again whenever the database has lost it, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await asyncio.to_thread(self._look)
            except psycopg.Error as error:
                logger.warning("claim_without_database", error=type(error).__name__)

    def _look(self) -> None:
        if self._session is not None and not self._session.closed:
            try:
                self._session.execute("SELECT 1")
            except psycopg.OperationalError:
                self._session.close()
            else:
                return
        self.take()

    def give_back(self) -> None:
        """Give the share back."""
        if self._session is not None:
            self._session.close()
            self._session = None
