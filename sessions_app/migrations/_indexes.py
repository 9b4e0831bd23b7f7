"""Indexes that are built while the site reads and writes their tables."""

from django.contrib.postgres.operations import AddIndexConcurrently, NotInTransactionMixin
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddConstraint
from django.db.migrations.state import ProjectState
from django.db.models import UniqueConstraint

from sessions_app.migrations._locks import in_short_attempts


class BuildIndex(AddIndexConcurrently):
    """`AddIndexConcurrently` that can be run again: what an attempt that broke off has left is dropped first."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Build the index; must run outside a transaction."""
        name = schema_editor.quote_name(self.index.name)
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        super().database_forwards(app_label, schema_editor, from_state, to_state)


class BuildUniqueConstraint(NotInTransactionMixin, AddConstraint):
    """`AddConstraint` of columns that are unique, whose index is built before. It can be run again, too.

    PostgreSQL refuses an index of which two rows are alike; remove those in the operation before.
    """

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Build the index, then make it the constraint's; must run outside a transaction."""
        self._ensure_not_in_transaction(schema_editor)
        model = to_state.apps.get_model(app_label, self.model_name)
        if not self.allow_migrate_model(schema_editor.connection.alias, model):
            return
        if not isinstance(self.constraint, UniqueConstraint) or not self.constraint.fields:
            raise TypeError(f"{self.constraint} isn't of columns")
        quoted = schema_editor.quote_name
        table, name = quoted(model._meta.db_table), quoted(self.constraint.name)
        columns = ", ".join(quoted(model._meta.get_field(each).column) for each in self.constraint.fields)
        nulls = " NULLS NOT DISTINCT" if self.constraint.nulls_distinct is False else ""
        if self._is_there(schema_editor, model._meta.db_table):
            _execute_in_attempts(schema_editor, f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}")
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        schema_editor.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON {table} ({columns}){nulls}")
        adding = f"ALTER TABLE {table} ADD CONSTRAINT {name} UNIQUE USING INDEX {name}"
        _execute_in_attempts(schema_editor, adding)

    def _is_there(self, schema_editor: BaseDatabaseSchemaEditor, table: str) -> bool:
        query = "SELECT FROM pg_constraint WHERE conrelid = to_regclass(%s) AND conname = %s"
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(query, [schema_editor.quote_name(table), self.constraint.name])
            return cursor.fetchone() is not None


def _execute_in_attempts(schema_editor: BaseDatabaseSchemaEditor, statement: str) -> None:
    """Run what nobody else may read the table for: pages wait behind it, so it waits shortly only."""
    in_short_attempts(schema_editor.connection, lambda _: schema_editor.execute(statement))
