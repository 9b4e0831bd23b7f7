"""Reads that are written out, as values: so that several go to the database in one way there and back.

A user waits for them before the first word of an answer. Each is bound to one user by whoever builds it; here
nothing is known of what is read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection

T = TypeVar("T")

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Generic[T]):
    """One statement with its values, and what its rows mean."""

    sql: str
    values: Mapping[str, Any]
    parse: Callable[[Rows], T]


def run(read: Read[T]) -> T:
    """Make one read. Raises what the database raises, and what is wrong with the rows."""
    with connection.cursor() as cursor:
        cursor.execute(read.sql, read.values)
        return read.parse(cursor.fetchall())


def run_together(reads: Sequence[Read[Any]]) -> Sequence[Rows]:
    """Return the rows of several reads, asked for at once. Where one of them fails, all do."""
    with connection.cursor() as cursor:
        cursor.execute(";".join(cursor.mogrify(read.sql, read.values) for read in reads))
        rows = [cursor.fetchall()]
        while cursor.nextset():
            rows.append(cursor.fetchall())
    return rows
