"""Empties the database after a test that commits, in a tenth of Django's time.

Django truncates every table, which creates a new file for each table and index, and then recreates all
content types and permissions. Few tables have rows, so deleting them is faster.
"""

import time
from functools import cache

from django.db import OperationalError, connection
from django.test import TransactionTestCase
from psycopg import errors, sql

MADE_BY_MIGRATIONS = frozenset({"django_migrations", "django_content_type", "auth_permission"})
PATIENCE_SECONDS = 90.0  # longer than an idle transaction may last


def empty_database(_case: TransactionTestCase) -> None:
    """Delete every row except those of the migrations; the order of foreign keys doesn't matter here."""
    statements = _statements(str(connection.settings_dict["NAME"]))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not _is_done(statements):
        assert time.monotonic() < deadline, "somebody writes on and on"
        time.sleep(0.01)


@cache
def _statements(_database: str) -> str:
    """Return what empties a database; each test has the same tables, and listing them takes long."""
    tables = set(connection.introspection.django_table_names(only_existing=True, include_views=False))
    names = [sql.Identifier(table) for table in sorted(tables - MADE_BY_MIGRATIONS)]
    # All in one transaction, after which the replica role, which checks no foreign keys, is reset.
    statements = sql.SQL(" ").join(
        [
            sql.SQL("SET LOCAL session_replication_role = replica;"),
            # All locks or none: a web process that is still writing finishes first, and there is no deadlock.
            sql.SQL("LOCK TABLE {} IN EXCLUSIVE MODE NOWAIT;").format(sql.SQL(", ").join(names)),
            *(sql.SQL("DELETE FROM {};").format(name) for name in names),
        ]
    )
    return statements.as_string()


def _is_done(statements: str) -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute(statements)
    except OperationalError as error:
        if not isinstance(error.__cause__, errors.LockNotAvailable):
            raise
        return False
    return True
