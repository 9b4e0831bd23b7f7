"""Django's `migrate` under a lock, so that several processes may start at once."""

from typing import Any

from django.core.management.commands import migrate
from django.db import connection

from sage.schema import refuse_newer_database
from sage.startup import migration_lock


class Command(migrate.Command):
    """Django's command, one at a time per database. Refuses a database of a newer version."""

    def handle(self, *args: Any, **options: Any) -> None:
        # This process's first connection joins the embedded server.
        connection.ensure_connection()
        with migration_lock():
            refuse_newer_database()
            super().handle(*args, **options)
