"""Locks that a migration takes while the site runs: where the site holds one, the migration is the one that waits.

PostgreSQL looks for deadlocks after a second (`deadlock_timeout`) and may then end either transaction. A
migration that gives up a wait sooner, and with it all that it has locked, is never part of one for so long.
"""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db import Error, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg.errors import DeadlockDetected, ForeignKeyViolation, LockNotAvailable

T = TypeVar("T")

WAIT_MS = 500
PAUSE_SECONDS = 0.5
ATTEMPTS = 300


def lock_tables(connection: BaseDatabaseWrapper, tables: Sequence[str], *, mode: str) -> None:
    """Lock tables until the end of the migration's transaction; between attempts none is held."""
    names = ", ".join(map(connection.ops.quote_name, tables))
    in_short_attempts(connection, lambda cursor: cursor.execute(f"LOCK TABLE {names} IN {mode} MODE"))


def in_short_attempts(connection: BaseDatabaseWrapper, step: Callable[[CursorWrapper], T]) -> T:
    """Run a step in a transaction or savepoint of its own, anew where a lock isn't free or a person was removed."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = {WAIT_MS}")
                return step(cursor)
        except Error as error:
            is_passing = isinstance(error.__cause__, (LockNotAvailable, DeadlockDetected, ForeignKeyViolation))
            if not is_passing or attempt == ATTEMPTS:
                raise
        time.sleep(PAUSE_SECONDS)
    raise AssertionError("unreachable")
