"""Querysets that are compiled once, and several queries in one round trip, for what a user waits for.

The ORM takes longer to build a statement than the database to run it. Other modules declare querysets as
`prepared`, so tables, columns and owners come from the models. They write SQL of their own, as a `Query`,
only where a queryset would need more than one statement or can't say it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, Error, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Expression, F, Func, IntegerField, Model, QuerySet
from django.db.models.base import ModelState
from psycopg import RawCursor
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
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    with database.wrap_database_errors:
        rows: Rows = _sent(query, database).fetchall()
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
        cursors = [_sent(query, database) for query in queries]
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


class _Places(dict[str, str]):
    """Numbers the values of a statement by their names, as they come."""

    def __missing__(self, name: str) -> str:
        self[name] = place = f"${len(self) + 1}"
        return place


@lru_cache(maxsize=1_000)
def _numbered(sql: str) -> tuple[str, Sequence[str]]:
    """Return a statement as the server takes it, and the names of its values in their order.

    The driver would convert a long one again each time.
    """
    places = _Places()
    return sql % places, tuple(places)


def _sent(query: Query, database: BaseDatabaseWrapper) -> RawCursor[Any]:
    """Return a cursor that has run a query, or sent it if the connection is in a pipeline."""
    sql, names = _numbered(query.sql)
    return _run(sql, [query.values[name] for name in names], database)


def _run(sql: str, values: Sequence[Any], database: BaseDatabaseWrapper) -> RawCursor[Any]:
    """Run a statement whose values are bound in the server, so that it can be prepared; return its cursor.

    Django's own cursor binds them in the client. Its wrapper takes longer than sending the statement: it is
    only used where somebody hears of statements. The caller wraps errors.
    """
    raw = RawCursor(database.connection)
    cursor: Any = raw
    if database.queries_logged:
        cursor = database.make_debug_cursor(cursor)
    elif database.execute_wrappers:
        cursor = database.make_cursor(cursor)
    else:
        database.validate_no_broken_transaction()
    cursor.execute(sql, values)
    return raw


def write_together(*, changed: Mapping[Model, Sequence[str]], added: Sequence[Model]) -> None:
    """Update some fields of locked rows and insert new rows, in one statement.

    The last of the new rows gets its key from the database; those before it have theirs, or aren't used with
    one. Foreign keys between the rows are checked when the transaction ends.
    """
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    shape = (
        tuple((type(row), tuple(fields)) for row, fields in changed.items()),
        tuple((type(row), row.pk is not None) for row in added),
    )
    sql, changes, insertions = _write_of(*shape)
    values: list[Any] = []
    for row, fields in zip(changed, changes, strict=True):
        values += [field.get_db_prep_save(field.pre_save(row, add=False), database) for field in fields]
        values.append(row.pk)
    for row, fields in zip(added, insertions, strict=True):
        values += [field.get_db_prep_save(field.pre_save(row, add=True), database) for field in fields]
    with database.wrap_database_errors:
        ((key,),) = _run(sql, values, database).fetchall()
    if added:
        added[-1].pk = key
    for row in added:
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


_Fields = Sequence[Any]


@lru_cache(maxsize=500)
def _write_of(
    changed: Sequence[tuple[type[Model], Sequence[str]]], added: Sequence[tuple[type[Model], bool]]
) -> tuple[str, Sequence[_Fields], Sequence[_Fields]]:
    """Return the statement that updates and inserts rows of such models, and the fields of its values.

    After the fields of an updated row comes its key. The flag says whether a new row has its key.
    """
    changes = [_named(model, names) for model, names in changed]
    insertions = [_inserted(model, has_key) for model, has_key in added]
    places = map("${}".format, count(1))
    parts = [_change(model, fields, places) for (model, _), fields in zip(changed, changes, strict=True)]
    parts += [_insertion(model, fields, places) for (model, _), fields in zip(added, insertions, strict=True)]
    *heads, last = parts
    head = ", ".join(f"part{number} AS ({sql})" for number, sql in enumerate(heads))
    return f"{f'WITH {head} ' if heads else ''}{last} RETURNING id", changes, insertions


def _named(model: type[Model], names: Sequence[str]) -> _Fields:
    return [field for field in model._meta.concrete_fields if field.name in names]


def _inserted(model: type[Model], has_key: bool) -> _Fields:
    return [field for field in model._meta.concrete_fields if has_key or not field.primary_key]


# Names of tables and columns alone; every value is a parameter.
def _insertion(model: type[Model], fields: _Fields, places: Iterator[str]) -> str:
    columns = ", ".join(f'"{field.column}"' for field in fields)
    values = ", ".join(next(places) for _ in fields)
    return f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({values})'  # noqa: S608


def _change(model: type[Model], fields: _Fields, places: Iterator[str]) -> str:
    columns = ", ".join(f'"{field.column}" = {next(places)}' for field in fields)
    return f'UPDATE "{model._meta.db_table}" SET {columns} WHERE id = {next(places)}'  # noqa: S608


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
