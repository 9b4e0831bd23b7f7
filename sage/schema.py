"""Checks the database and its tables. `manage.py` imports it before Django is set up."""

from collections.abc import Iterable

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from sage.env import StartError

OWN_APPS = {"coaching", "sage", "sessions_app"}


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


def refuse_newer_database() -> None:
    """Check that no newer version of Sage has migrated the database. Raises `StartError`."""
    if newer := _newer_migrations():
        raise StartError(
            f"a newer version of Sage has migrated the database ({newer}), and nothing was changed: start "
            "that version, or restore a backup that was made before the upgrade."
        )


def newer_database_warning() -> str | None:
    """Return a warning if a newer version has migrated the database, as it does in a rolling upgrade."""
    if newer := _newer_migrations():
        return (
            f"A newer version of Sage has migrated the database ({newer}). This version may run beside the "
            "next one during an upgrade, but not longer (docs/upgrading.md)."
        )
    return None


def _newer_migrations() -> str:
    """Return the applied migrations that this version lacks, see `unknown_migrations`."""
    return unknown_migrations(MigrationRecorder(connection).applied_migrations())


def unknown_migrations(applied: Iterable[tuple[str, str]]) -> str:
    """Return which of these this version lacks: the last name, and how many others there are.

    Only those of Sage's own apps count: a package may squash its migrations, and an older version may have
    had other packages. One that an earlier version squashed is known by the last one that it replaces.
    """
    loader = MigrationLoader(None, ignore_no_migrations=True)
    known = {
        *loader.disk_migrations,
        *(old for each in loader.disk_migrations.values() for old in each.replaces),
    }
    lacking = sorted(
        f"{app}.{name}"
        for app, name in applied
        if app in OWN_APPS & loader.migrated_apps and not {(app, name), (app, _last_of(name))} & known
    )
    return f"{lacking[-1]} and {len(lacking) - 1} more" if len(lacking) > 1 else "".join(lacking)


def _last_of(name: str) -> str:
    """Return the last migration that a squashed one replaces, by its name."""
    return name.partition("_squashed_")[2]
