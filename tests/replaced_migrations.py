"""Runs migrations that squashed ones replace, as older databases did.

  python -m tests.replaced_migrations APP NAME [APP NAME ...]

Migrates the database of DATABASE_URL to the named migrations; an empty one gets the squashed ones otherwise.
"""

import os
import sys
from collections.abc import Iterable

import django
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader


def run_replaced(targets: Iterable[tuple[str, str]]) -> None:
    """Migrate to the named migrations, through those that they depend on, with the tables of people."""
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    executor.migrate([*executor.loader.graph.leaf_nodes("auth"), *targets])


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
    django.setup()
    run_replaced(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
