"""What squashed migrations are made of. They run on new databases only: nothing waits, and no row is there."""

import re
from collections.abc import Iterable, Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class AtOnce(Operation):
    """Operations that add models, tables and SQL, and see the state before and after them all.

    One after another, each renders the models anew that refer to its own, which takes several times as long.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Add all models; they are rendered when they are first needed."""
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Run them in their order."""
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Undo them in the reverse order."""
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        """Say what it does, for `migrate --plan`."""
        return f"Run {len(self.operations)} operations at once"


def drop_functions(*statements: str) -> str:
    """Return SQL that drops the functions that the statements make, with the triggers that call them."""
    return f"DROP FUNCTION {', '.join(_made_by(statements))} CASCADE"


def _made_by(statements: Iterable[str]) -> list[str]:
    return [name for text in statements for name in re.findall(r"^CREATE FUNCTION (\w+)", text, re.MULTILINE)]
