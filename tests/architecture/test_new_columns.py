"""New columns have a default in the database: processes of the version before store rows without them."""

from collections.abc import Iterable

from django.db.migrations import AddField, CreateModel, Migration
from django.db.migrations.loader import MigrationLoader
from django.db.models import GeneratedField, ManyToManyField

OURS = {"coaching", "sessions_app"}


def test_new_columns_have_a_default_in_the_database() -> None:
    loader = MigrationLoader(None)
    squashed = {replaced for migration in loader.disk_migrations.values() for replaced in migration.replaces}
    added_since = [each for key, each in loader.disk_migrations.items() if key not in squashed]
    assert columns_without_default(added_since) == []


def test_a_column_without_a_default_is_found() -> None:
    migration = MigrationLoader(None).disk_migrations["coaching", "0040_dropped_facts"]
    assert columns_without_default([migration]) == ["coaching.0040_dropped_facts document.dropped_facts"]


def columns_without_default(migrations: Iterable[Migration]) -> list[str]:
    return [
        f"{each.app_label}.{each.name} {operation.model_name}.{operation.name}"
        for each in migrations
        if each.app_label in OURS
        for operation in each.operations
        if isinstance(operation, AddField)
        and operation.model_name_lower not in tables_of(each)
        and not isinstance(operation.field, GeneratedField | ManyToManyField)
        and not (operation.field.null or operation.field.has_db_default())
    ]


def tables_of(migration: Migration) -> set[str]:
    """Return the models whose tables a migration creates: the version before doesn't know them."""
    return {each.name_lower for each in migration.operations if isinstance(each, CreateModel)}
