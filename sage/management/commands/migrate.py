"""Django's `migrate` under a lock, so that several processes may start at once."""

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connection
from django.db.migrations.exceptions import AmbiguityError
from django.db.migrations.executor import MigrationExecutor

from sage.schema import OWN_APPS, refuse_newer_database
from sage.startup import migration_lock


class Command(migrate.Command):
    """Django's command, one at a time per database. Refuses a database of a newer version."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--yes",
            action="store_true",
            help="allow to undo a first migration, which deletes everybody's data",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # This process's first connection joins the embedded server.
        connection.ensure_connection()
        with migration_lock():
            refuse_newer_database()
            is_change = not (options["plan"] or options["check_unapplied"])
            if is_change and not options["yes"] and (emptied := _emptied_apps(**options)):
                raise CommandError(
                    f"This would delete all tables of {', '.join(emptied)} with everybody's data, and "
                    "nothing was changed. Add --yes if that is meant, once all processes of Sage have ended."
                )
            super().handle(*args, **options)


def _emptied_apps(*, app_label: str | None, migration_name: str | None, **_: Any) -> Sequence[str]:
    """Return Sage's apps of which an initial or squashed migration, or a part of one, would be undone.

    Their migrations depend on those of other apps, with which they are undone.
    """
    if not (app_label and migration_name):
        return []
    executor = MigrationExecutor(connection)
    target: tuple[str, str | None] = (app_label, None)
    if migration_name != "zero":
        try:
            found = executor.loader.get_migration_by_prefix(app_label, migration_name)
        except (AmbiguityError, KeyError):
            return []  # Django's command says so
        target = (app_label, found.name)
        if target not in executor.loader.graph.nodes and found.replaces:
            target = found.replaces[-1]
    plan = executor.migration_plan([target])
    undone = [each for each, is_backwards in plan if is_backwards and each.app_label in OWN_APPS]
    squashed = {old for each in executor.loader.disk_migrations.values() for old in each.replaces}
    return sorted(
        {
            each.app_label
            for each in undone
            if each.initial or each.replaces or (each.app_label, each.name) in squashed
        }
    )
