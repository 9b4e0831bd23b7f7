"""No migration reads a table of older versions while it keeps everybody else from it.

A constraint is added as not valid and validated outside the transaction that added it; an index is built
concurrently. Migrations up to release 0.1.0 weren't all so. What `RunPython` does isn't seen here.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    ValidateConstraint,
)
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState

from sessions_app.migrations._indexes import BuildIndex, BuildUniqueConstraint
from tests.architecture.test_new_columns import OURS, tables_of

Key = tuple[str, str]

LAST_OLD = {"coaching": "0066_voice", "sessions_app": "0035_turn_withdrawn"}
KEEPS_NOBODY = (AddConstraintNotValid, BuildUniqueConstraint, AddIndexConcurrently)
ADDS_CONSTRAINT = re.compile(r"ALTER TABLE (\w+)\s+ADD CONSTRAINT (\w+)([^;]*)")
MAKES_INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)(\w+) ON (\w+)")


def test_migrations_keep_nobody_waiting_while_they_read_a_table() -> None:
    loader = MigrationLoader(None)
    found = {
        f"{app}.{name}": waits_in(migration, loader.project_state((app, name), at_end=False))
        for (app, name), migration in loader.disk_migrations.items()
        if app in OURS and not migration.replaces and name > LAST_OLD[app]
    }
    assert found
    assert {name: waits for name, waits in found.items() if waits} == {}


@pytest.mark.parametrize(
    ("key", "waits"),
    [
        (("coaching", "0059_unread_documents"), ["constraint document_state_known"]),
        (
            ("coaching", "0064_program_suggestions"),
            [
                "constraint entry_made_by_known",
                "constraint effect_made_by_known",
                "constraint program_grant_user",
                "constraint program_client_owner",
            ],
        ),
        (("coaching", "0066_voice"), []),
        (("sessions_app", "0033_voice_usage"), []),
        (("sessions_app", "0034_voice_usage_checked"), []),
        (("sessions_app", "0035_turn_withdrawn"), []),
    ],
)
def test_older_migrations_are_told_apart(key: Key, waits: Sequence[str]) -> None:
    loader = MigrationLoader(None, replace_migrations=False)
    assert waits_in(loader.disk_migrations[key], loader.project_state(key, at_end=False)) == waits


IS_KNOWN = models.CheckConstraint(condition=models.Q(word="yes"), name="word_known")
ONCE = models.UniqueConstraint(fields=["word"], name="word_once")
INDEX = models.Index(fields=["word"], name="by_word")
THING = {"model_name": "thing"}


@pytest.mark.parametrize(
    ("operation", "waits"),
    [
        (migrations.AddConstraint(constraint=IS_KNOWN, **THING), ["constraint word_known"]),
        (AddConstraintNotValid(constraint=IS_KNOWN, **THING), []),
        (migrations.AddConstraint(constraint=ONCE, **THING), ["constraint word_once"]),
        (BuildUniqueConstraint(constraint=ONCE, **THING), []),
        (ValidateConstraint(name="word_known", **THING), ["validation of word_known"]),
        (migrations.AddIndex(index=INDEX, **THING), ["index by_word"]),
        (BuildIndex(index=INDEX, **THING), []),
        (migrations.AddField("thing", "new", models.CharField(db_index=True)), ["field new"]),
        (migrations.AddField("thing", "new", models.CharField(null=True)), []),
        (
            migrations.AddField("thing", "of", models.ForeignKey("Thing", models.CASCADE, db_index=False)),
            ["field of"],
        ),
        (migrations.AlterField("thing", "word", models.CharField(unique=True)), ["field word"]),
        (migrations.AlterField("thing", "word", models.CharField()), ["field word"]),
        (migrations.AlterField("thing", "word", models.TextField(null=True)), []),
        (migrations.AlterUniqueTogether("thing", {("word",)}), ["AlterUniqueTogether"]),
        (migrations.RunSQL("CREATE UNIQUE INDEX one ON coaching_thing (word)"), ["index one"]),
        (migrations.RunSQL("CREATE INDEX CONCURRENTLY one ON coaching_thing (word)"), []),
        (
            migrations.RunSQL("ALTER TABLE coaching_thing ADD CONSTRAINT one CHECK (word = '') NOT VALID"),
            [],
        ),
    ],
)
def test_what_keeps_others_waiting_is_found(operation: Operation, waits: Sequence[str]) -> None:
    before = ProjectState()
    word = ("word", models.CharField(max_length=9, null=True))
    before.add_model(ModelState("coaching", "Thing", [word]))
    assert waits_in(migration_of(operation), before) == waits


@pytest.mark.django_db(transaction=True)
def test_a_constraint_of_columns_keeps_the_table_in_short_attempts_only() -> None:
    before = ProjectState()
    word = ("word", models.CharField(max_length=9, null=True))
    before.add_model(ModelState("coaching", "Thing", [("id", models.AutoField(primary_key=True)), word]))
    after, building = before.clone(), BuildUniqueConstraint(constraint=ONCE, **THING)
    building.state_forwards("coaching", after)
    thing = before.apps.get_model("coaching", "Thing")
    with connection.schema_editor() as editor:
        editor.create_model(thing)
    try:
        short = "SET LOCAL lock_timeout"
        assert statements_of(building, before, after) == [short, "ADD CONSTRAINT"]
        # It may be run again after it broke off.
        assert statements_of(building, before, after) == [short, "DROP CONSTRAINT", short, "ADD CONSTRAINT"]
    finally:
        with connection.schema_editor() as editor:
            editor.delete_model(thing)


def statements_of(operation: Operation, before: ProjectState, after: ProjectState) -> list[str]:
    """Run an operation; return its changes of constraints and short waits, in their order."""
    found: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *given: Any) -> Any:
        found.extend(re.findall(r"SET LOCAL lock_timeout|(?:ADD|DROP) CONSTRAINT", sql))
        return execute(sql, *given)

    with connection.execute_wrapper(note), connection.schema_editor(atomic=False) as editor:
        operation.database_forwards("coaching", editor, before, after)
    return found


def test_a_new_table_keeps_nobody_waiting() -> None:
    migration = migration_of(
        migrations.CreateModel("Thing", [("word", models.CharField(max_length=9))]),
        migrations.AddIndex(index=INDEX, **THING),
        migrations.AddConstraint(constraint=IS_KNOWN, **THING),
        migrations.RunSQL("CREATE INDEX one ON coaching_thing (word)"),
    )
    assert waits_in(migration, ProjectState()) == []


def migration_of(*operations: Operation) -> migrations.Migration:
    kind = type("Migration", (migrations.Migration,), {"operations": list(operations)})
    made: migrations.Migration = kind("9999_of_things", "coaching")
    return made


def waits_in(migration: migrations.Migration, before: ProjectState) -> list[str]:
    """Return what in a migration reads a whole table that others wait for, given the state before it."""
    return [wait for each in migration.operations for wait in _waits(each, migration, before)]


def _waits(each: Operation, migration: migrations.Migration, before: ProjectState) -> Iterator[str]:
    app, new = migration.app_label, tables_of(migration)
    if isinstance(each, KEEPS_NOBODY) or getattr(each, "model_name_lower", "") in new:
        return
    match each:
        case migrations.AddConstraint():
            yield f"constraint {each.constraint.name}"
        case ValidateConstraint() if migration.atomic:
            yield f"validation of {each.name}"
        case migrations.AddIndex():
            yield f"index {each.index.name}"
        case migrations.AlterUniqueTogether():
            yield type(each).__name__
        case migrations.AddField() if _has_index(each.field) or _has_key(each.field):
            yield f"field {each.name}"
        case migrations.AlterField():
            if _is_stricter(each.field, before.models[app, each.model_name_lower].fields[each.name]):
                yield f"field {each.name}"
        case migrations.RunSQL():
            yield from _waits_in_sql(str(each.sql), {f"{app}_{name}" for name in new})


def _is_stricter(new: models.Field, former: models.Field) -> bool:  # type: ignore[type-arg]
    return (_has_index(new) and not _has_index(former)) or (former.null and not new.null)


def _has_index(field: models.Field) -> bool:  # type: ignore[type-arg]
    return bool(getattr(field, "db_index", False) or field.unique)


def _has_key(field: models.Field) -> bool:  # type: ignore[type-arg]
    return isinstance(field, models.ForeignKey) and getattr(field, "db_constraint", True)


def _waits_in_sql(sql: str, new: set[str]) -> Iterator[str]:
    for table, name, rest in ADDS_CONSTRAINT.findall(sql):
        if table not in new and "NOT VALID" not in rest and "USING INDEX" not in rest:
            yield f"constraint {name}"
    for name, table in MAKES_INDEX.findall(sql):
        if table not in new:
            yield f"index {name}"
