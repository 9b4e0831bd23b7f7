"""Django's `migrate` under a lock, so that any number of processes may start at once."""

from typing import Any

from django.core.management.commands import migrate
from django.db import connection

from sage.startup import migration_lock


class Command(migrate.Command):
    """Django's command, one at a time for each database."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate while nobody else does."""
        # The embedded server is joined by the first connection of this process.
        connection.ensure_connection()
        with migration_lock():
            super().handle(*args, **options)
