"""Whether the database has this version's tables. Importable before Django is set up: `manage.py` does so."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from sage.env import StartError


def check_migrations() -> None:
    """Check that the database is of this version. Raises `StartError`."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise StartError("the database isn't of this version: run `manage.py migrate` (or `up`) first.")
