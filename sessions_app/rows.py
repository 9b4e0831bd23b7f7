"""Reads and writes that are written out, for what a user waits for: the ORM takes longer to put a statement
together than the database to answer it.

Several are one journey to the database. It holds no rule about what is read or written.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, Error, connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model
from psycopg import Cursor

ModelT = TypeVar("ModelT", bound=Model)

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Question:
    """A statement that is answered with rows, and the values of its parameters."""

    sql: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Condition:
    """A question that something depends on: `check` takes the answer, and raises where it isn't so."""

    question: Question
    check: Callable[[Rows], None]


def ask(question: Question) -> Rows:
    """Ask one question."""
    with _cursor() as cursor:
        cursor.execute(question.sql, question.values)
        rows: Rows = cursor.fetchall()
        return rows


def ask_together(questions: Iterable[Question]) -> list[Rows]:
    """Ask questions one after another without waiting for answers in between; where one fails, all do.

    Each sees what was committed by the time when the one before it was answered, as if it were asked alone.
    """
    connection.ensure_connection()
    try:
        with connection.wrap_database_errors, connection.connection.pipeline() as pipeline:
            cursors = []
            for question in questions:
                cursors.append(_cursor())
                cursors[-1].execute(question.sql, question.values)
            # Who freezes from here on is idle in a transaction, and not at work: that has a limit.
            pipeline.sync()
            return [cursor.fetchall() for cursor in cursors]
    except Error:
        _give_up_connection()
        raise


def _give_up_connection() -> None:
    """Close a connection on which one of several questions failed; nobody is lent it again.

    The driver takes for prepared what stood behind that question, though the database never came to it, and
    would ask for it in vain ever after. Only the end of a transaction makes it forget.
    """
    if not connection.in_atomic_block:
        connection.connection.close()
        connection.close()


def _cursor() -> CursorWrapper:
    """Open a cursor whose values travel beside the statement, so that the database need not plan it again.

    Django's own puts them into it. After how many times a statement is kept is said in the settings.
    """
    connection.ensure_connection()
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    return wrap(Cursor(connection.connection))  # type: ignore[arg-type]  # the stubs know one kind of cursor


def write_together(*, changed: Mapping[Model, Sequence[str]], added: Sequence[Model]) -> None:
    """Store some fields of rows that are there and locked, and new rows, in one statement.

    The database gives the last of the new rows its key; the others have theirs. References between the rows
    are checked when the transaction ends.
    """
    statements = [_change(row, fields) for row, fields in changed.items()] + [
        _insertion(row) for row in added
    ]
    parts = [f"part{number} AS ({sql})" for number, (sql, _) in enumerate(statements[:-1])]
    values = [value for _, own in statements for value in own]
    with _cursor() as cursor:
        cursor.execute(f"WITH {', '.join(parts)} {statements[-1][0]} RETURNING id", values)
        ((added[-1].pk,),) = cursor.fetchall()
    for row in added:
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS  # noqa: SLF001 - as the ORM leaves it


def _insertion(row: Model) -> tuple[str, list[Any]]:
    fields = [field for field in row._meta.concrete_fields if not (field.primary_key and row.pk is None)]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    values = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in fields]
    # Names of tables and columns alone; every value is a parameter.
    return f'INSERT INTO "{row._meta.db_table}" ({columns}) VALUES ({places})', values  # noqa: S608


def _change(row: Model, names: Sequence[str]) -> tuple[str, list[Any]]:
    fields = [field for field in row._meta.concrete_fields if field.name in names]
    columns = ", ".join(f'"{field.column}" = %s' for field in fields)
    values = [field.get_db_prep_save(field.pre_save(row, add=False), connection) for field in fields]
    return f'UPDATE "{row._meta.db_table}" SET {columns} WHERE id = %s', [*values, row.pk]  # noqa: S608


class Columns(Generic[ModelT]):
    """All columns of a model under the name of its table in a statement, and objects made of them."""

    def __init__(self, model: type[ModelT], table: str) -> None:
        self._model = model
        fields = model._meta.concrete_fields
        self.sql = ", ".join(f'{table}."{field.column}"' for field in fields)
        self._names = [field.attname for field in fields]
        self._converters = [
            (place, field.from_db_value)
            for place, field in enumerate(fields)
            if hasattr(field, "from_db_value")
        ]

    def __len__(self) -> int:
        return len(self._names)

    def object_of(self, row: Sequence[Any]) -> ModelT:
        """Make an object as the ORM would, of a row's values in the columns' order."""
        values = list(row)
        for place, convert in self._converters:
            values[place] = convert(values[place], None, connection)
        return self._model.from_db(DEFAULT_DB_ALIAS, self._names, values)
