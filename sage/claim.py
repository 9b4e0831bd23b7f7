"""A database lock that shows a web process whether it is the only one.

Each web process holds the lock in shared mode on its own connection, so the database releases it when the
process dies. If a new process gets it exclusively, every running turn was left by a dead one. It is only used
at startup: fencing numbers protect a turn afterwards.

The lock belongs to a database session, so it doesn't work through a pooler in transaction mode
(docs/operating/database.md).
"""

import asyncio
import threading

import psycopg
import structlog
from django.db import connection

from sessions_app.idle_connections import is_cut
from sessions_app.lock_spaces import DatabaseLock

CLAIM_LOCK = DatabaseLock.CLAIM.value
CHECK_SECONDS = 5.0
GIVE_BACK_SECONDS = 1.0
# A host that disappears closes nothing: both sides detect a dead connection within half a minute.
_KEEPALIVES = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
_OWN_KEEPALIVES = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}

logger = structlog.get_logger(__name__)


class DatabaseClaim:
    """This process's shared lock."""

    def __init__(self) -> None:
        self._session: psycopg.Connection | None = None
        self._checking = threading.Lock()

    def take(self) -> bool:
        """Take the shared lock; return whether no other process has it. Raises `psycopg.OperationalError`."""
        session = psycopg.connect(
            **{**_OWN_KEEPALIVES, **connection.get_connection_params()}, autocommit=True
        )
        try:
            session.execute(_KEEPALIVES)
            row = session.execute("SELECT pg_try_advisory_lock(%s)", [CLAIM_LOCK]).fetchone()
            is_alone = bool(row and row[0])
            # Another process holds it exclusively only for a moment.
            session.execute("SELECT pg_advisory_lock_shared(%s)", [CLAIM_LOCK])
            if is_alone:
                session.execute("SELECT pg_advisory_unlock(%s)", [CLAIM_LOCK])
        except BaseException:
            session.close()
            raise
        self._session = session
        return is_alone

    async def keep(self) -> None:
        """Take the lock again whenever the database has lost it, until cancelled."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if self._session is not None and not is_cut(self._session):
                continue  # the lock lasts as long as its session
            try:
                await asyncio.to_thread(self._check)
            except psycopg.Error as error:
                logger.warning("claim_without_database", error=type(error).__name__)

    def _check(self) -> None:
        with self._checking:
            self._check_alone()

    def _check_alone(self) -> None:
        if self._session is not None and not self._session.closed:
            try:
                self._session.execute("SELECT 1")
            except psycopg.OperationalError:
                self._session.close()
            else:
                return
        self.take()

    def give_back(self) -> None:
        """Close the session, unless a check of it hangs: its thread would never learn that it was closed."""
        if not self._checking.acquire(timeout=GIVE_BACK_SECONDS):
            return
        try:
            if self._session is not None:
                self._session.close()
                self._session = None
        finally:
            self._checking.release()
