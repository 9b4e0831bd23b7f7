"""Databases that a restore has replaced: each stays for a week, and so do the objects that it names."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django.db import connection
from psycopg import sql

from sessions_app.database import NO_TIME_LIMITS, no_time_limits
from sessions_app.lock_spaces import DatabaseLock

logger = structlog.get_logger(__name__)

KEPT = timedelta(days=7) - timedelta(hours=6)
"""A week, less the hours until the job runs again: people who have left meanwhile are in it."""
BACKUP_LOCK = DatabaseLock.BACKUP.value
"""Held while a backup is taken or restored."""
RESTORING_SUFFIX = "_restoring"
"""Ends the name of the database that a restore fills."""
_SECRET_START = "secret_key.before_"  # noqa: S105 - the start of a file's name
_FORMAT = "%Y%m%dT%H%M%S"


def former_name(name: str, now: datetime) -> str:
    """Return the name that a database gets when it is replaced."""
    return f"{_start(name)}{now.astimezone(UTC):{_FORMAT}}"


def former_secret_name(now: datetime) -> str:
    """Return the name in the data folder of the secret key that a database replaced now belongs to."""
    return f"{_SECRET_START}{now.astimezone(UTC):{_FORMAT}}"


def drop_former_databases(*, now: datetime) -> int:
    """Drop those that were replaced a week ago; return how many are left. Outside a transaction.

    One that can't be dropped is logged and not counted: garbage mustn't stay because of it.
    """
    name, secrets_left = str(connection.settings_dict["NAME"]), set[str]()
    start = _start(name)
    with no_time_limits(), connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [start])
        for (former,) in cursor.fetchall():
            try:
                replaced_at = datetime.strptime(former.removeprefix(start), _FORMAT).replace(tzinfo=UTC)
            except ValueError:  # somebody else's
                continue
            if now - replaced_at > KEPT:
                _drop(cursor.connection, former)
            else:
                secrets_left.add(former_secret_name(replaced_at))
        unfinished = f"{name}{RESTORING_SUFFIX}"
        cursor.execute("SELECT FROM pg_database WHERE datname = %s", [unfinished])
        if cursor.fetchone() is not None:
            _drop_unfinished(unfinished)
    for path in settings.SAGE_DATA_DIR.glob(f"{_SECRET_START}*"):
        if path.name not in secrets_left:
            path.unlink(missing_ok=True)
    return len(secrets_left)


def _drop_unfinished(name: str) -> None:
    """Drop the database that a killed restore has left, unless one is running.

    The lock belongs to a connection of its own, with which it ends, whatever happens.
    """
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as session:
        session.execute(NO_TIME_LIMITS)
        if session.execute("SELECT pg_try_advisory_lock(%s)", [BACKUP_LOCK]).fetchone() == (True,):
            _drop(session, name)


def drop_database(session: psycopg.Connection[Any], name: str) -> None:
    """Drop a database, if it is there, and end its role's connections to it. Raises `psycopg.Error`.

    Not WITH (FORCE): with it, only a superuser may end a worker of autovacuum. Without it, PostgreSQL ends
    these itself, and waits five seconds for other connections.
    """
    session.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = %s AND pg_has_role(usesysid, 'USAGE')",
        [name],
    )
    session.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))


def _drop(session: psycopg.Connection[Any], name: str) -> None:
    try:
        drop_database(session, name)
    except psycopg.Error as error:
        logger.warning("database_not_dropped", database=name, error=type(error).__name__)


def _start(name: str) -> str:
    return f"{name}_before_"
