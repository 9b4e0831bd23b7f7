"""Querysets that are compiled once, and several queries in one round trip, for what a user waits for.

The ORM takes longer to build a statement than the database to run it. Other modules declare querysets as
`prepared`, so tables, columns and owners come from the models. They write SQL of their own, as a `Query`,
only where a queryset would need more than one statement or can't say it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, Error, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models import Expression, F, Func, IntegerField, Model, QuerySet
from django.db.models.base import ModelState
from psycopg import Cursor
from psycopg.sql import Literal

ModelT = TypeVar("ModelT", bound=Model)

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Query:
    """A statement that returns rows, and its parameters."""

    sql: str
    values: Mapping[str, Any]


class prepared:  # noqa: N801 - a decorator
    """Compiles a function's queryset once; calling it with the values of its parameters gives a `Query`.

    The queryset ends in `values_list`. Constants become literals, so that the planner sees them.
    """

    def __init__(self, build: Callable[[], QuerySet[Any, Any]]) -> None:
        self._build = build

    def __call__(self, **values: Any) -> Query:
        return Query(self._sql, values)

    @cached_property
    def _sql(self) -> str:
        sql, parameters = self._build().query.sql_with_params()
        return sql.replace("%%", "%%%%") % tuple(map(_written, parameters))


class _Parameter(Expression):
    """A value that is given with each run of a prepared query."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        return "%s", [self]


def parameter(name: str) -> Any:
    """Return a stand-in for a value in a prepared queryset."""
    return _Parameter(name)


def _written(value: object) -> str:
    if isinstance(value, _Parameter):
        return f"%({value.name})s"
    return Literal(value).as_string().replace("%", "%%")


def over_all(function: str, column: str) -> Func:
    """Return a number about all rows. An aggregate of Django's would group them by the other columns."""
    return Func(F(column), function=function, output_field=IntegerField())


@dataclass(frozen=True, slots=True)
class Condition:
    """A query whose result decides whether anything else may be used: `check` raises where it may not."""

    query: Query
    check: Callable[[Rows], None]


def run_query(query: Query) -> Rows:
    with _cursor(connections[DEFAULT_DB_ALIAS]) as cursor:
        cursor.execute(query.sql, query.values)
        rows: Rows = cursor.fetchall()
        return rows


def run_queries(queries: Iterable[Query]) -> list[Rows]:
    """Return the rows of several queries, in one round trip; where one fails, all do.

    Each is a statement with a snapshot of its own: it sees what was committed while the one before it ran.
    """
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    try:
        with database.wrap_database_errors:
            rows = _run_pipeline(database, queries)
            if database.in_atomic_block:
                # The driver leaves a pipeline with a flush after the last sync: see `_run_pipeline`.
                database.connection.execute("", prepare=False)
            return rows
    except Error:
        _drop_connection()
        raise


def _run_pipeline(database: BaseDatabaseWrapper, queries: Iterable[Query]) -> list[Rows]:
    """Return the rows of several queries.

    A process that is frozen here must hit the server's timeout for idle transactions and give up its locks.
    The server starts that timeout after each sync and stops it at any other message, flushes included. The
    driver sends a flush to fetch results that haven't arrived, so everything is awaited with syncs first.
    Before the first sync nothing starts it: `leases.end_transactions` does the rest.
    """
    with database.connection.pipeline() as pipeline:
        cursors = []
        for query in queries:
            cursors.append(_cursor(database))
            cursors[-1].execute(query.sql, query.values)
        pipeline.sync()
        while pipeline.result_queue:
            pipeline.sync()
        return [cursor.fetchall() for cursor in cursors]


def _drop_connection() -> None:
    """Close a connection whose pipeline failed, so that the pool doesn't hand it out again.

    The driver counts the queries after the failed one as prepared, though the database skipped them. It
    forgets them only when a transaction is rolled back.
    """
    if not connection.in_atomic_block:
        connection.connection.close()
        connection.close()


def _cursor(database: BaseDatabaseWrapper) -> CursorWrapper:
    """Open a cursor that binds parameters in the server, so that statements can be prepared.

    Django's own cursor binds them in the client. The thread's `connection` would be looked up for each use.
    """
    database.ensure_connection()
    wrap = database.make_debug_cursor if database.queries_logged else database.make_cursor
    return wrap(Cursor(database.connection))  # type: ignore[arg-type]  # the stubs know one kind of cursor


def write_together(*, changed: Mapping[Model, Sequence[str]], added: Sequence[Model]) -> None:
    """Update some fields of locked rows and insert new rows, in one statement.

    The last of the new rows gets its key from the database; those before it have theirs, or aren't used with
    one. Foreign keys between the rows are checked when the transaction ends.
    """
    database = connections[DEFAULT_DB_ALIAS]
    statements = [_change(row, fields, database) for row, fields in changed.items()]
    statements += [_insertion(row, database) for row in added]
    *parts, last = [sql for sql, _ in statements]
    heads = ", ".join(f"part{number} AS ({sql})" for number, sql in enumerate(parts))
    values = [value for _, own in statements for value in own]
    with _cursor(database) as cursor:
        cursor.execute(f"{f'WITH {heads} ' if parts else ''}{last} RETURNING id", values)
        ((key,),) = cursor.fetchall()
    if added:
        added[-1].pk = key
    for row in added:
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def _insertion(row: Model, database: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
    fields = [field for field in row._meta.concrete_fields if not (field.primary_key and row.pk is None)]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    values = [field.get_db_prep_save(field.pre_save(row, add=True), database) for field in fields]
    # Names of tables and columns alone; every value is a parameter.
    return f'INSERT INTO "{row._meta.db_table}" ({columns}) VALUES ({places})', values  # noqa: S608


def _change(row: Model, names: Sequence[str], database: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
    fields = [field for field in row._meta.concrete_fields if field.name in names]
    columns = ", ".join(f'"{field.column}" = %s' for field in fields)
    values = [field.get_db_prep_save(field.pre_save(row, add=False), database) for field in fields]
    return f'UPDATE "{row._meta.db_table}" SET {columns} WHERE id = %s', [*values, row.pk]  # noqa: S608


class Columns(Generic[ModelT]):
    """A model's columns for `values_list`, below the lookup `path`, and objects made of their values.

    Fields in `without` are left out; an object reads them when it is asked for them.
    """

    def __init__(self, model: type[ModelT], path: str = "", *, without: Collection[str] = ()) -> None:
        self._model = model
        fields = [field for field in model._meta.concrete_fields if field.name not in without]
        self._names = [field.attname for field in fields]
        self.lookups = [f"{path}{name}" for name in self._names]
        self._converters = [
            (place, field.from_db_value)
            for place, field in enumerate(fields)
            if hasattr(field, "from_db_value")
        ]

    def __len__(self) -> int:
        return len(self._names)

    def object_of(self, row: Sequence[Any]) -> ModelT:
        """Make an object of a row's values in the order of the columns, as the ORM would.

        The constructor isn't called: it takes five times as long, and sends signals that nobody hears.
        """
        values = list(row)
        for place, convert in self._converters:
            values[place] = convert(values[place], None, connection)
        made = self._model.__new__(self._model)
        made.__dict__.update(zip(self._names, values, strict=True))
        made._state = ModelState()
        made._state.adding, made._state.db = False, DEFAULT_DB_ALIAS
        return made
