"""Django's `migrate` under a lock, so that several processes may start at once."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connection

from sage.schema import OWN_APPS, refuse_newer_database
from sage.startup import migration_lock


class Command(migrate.Command):
    """Django's command, one at a time per database. Refuses a database of a newer version."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--yes",
            action="store_true",
            help="allow `zero`, which deletes everybody's data",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["migration_name"] == "zero" and options["app_label"] in OWN_APPS and not options["yes"]:
            raise CommandError(
                f"This would delete all tables of {options['app_label']} with everybody's data, and nothing "
                "was changed. Add --yes if that is meant, once all processes of Sage have ended."
            )
        # This process's first connection joins the embedded server.
        connection.ensure_connection()
        with migration_lock():
            refuse_newer_database()
            super().handle(*args, **options)
