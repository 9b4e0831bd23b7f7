"""Checks the database and its tables. `manage.py` imports it before Django is set up."""

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from sage.env import StartError


def check_connection() -> None:
    """Check that a configured database answers. Raises `StartError`."""
    if settings.IS_EMBEDDED_DATABASE:
        return
    try:
        psycopg.connect(**connection.get_connection_params()).close()
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise StartError(
            f"the database can't be reached ({reason}): start it, correct DATABASE_URL, "
            "or unset DATABASE_URL to use the embedded database."
        ) from None


def check_migrations() -> None:
    """Check that all migrations are applied. Raises `StartError`."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise StartError("the database isn't of this version: run `manage.py migrate` (or `up`) first.")
