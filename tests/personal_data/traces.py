"""Finds traces of a person in all columns of all tables, in browser sessions, and in the storage."""

from collections.abc import Collection

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as LoginSession
from django.core.files.storage import storages
from django.db import connection
from django.db.models import Model

from coaching.files.objects import ObjectStorage


def words_of_rows(user: User, rows: Collection[Model]) -> set[str]:
    """Return what identifies the person: name, address, and their rows' non-numeric ids."""
    ids = {str(row.pk) for row in rows if not isinstance(row.pk, int)}
    return {user.username, user.email, *ids}


def traces_of(user_id: int, words: Collection[str]) -> list[str]:
    """Return every place with one of the words or the person's id."""
    return [*_rows_with(words), *_rows_of(user_id), *_browser_sessions(user_id), *_objects(user_id)]


def _rows_with(words: Collection[str]) -> list[str]:
    patterns = [f"%{word}%" for word in words]
    with connection.cursor() as cursor:
        return [
            f"{table}: {row[:200]}"
            for table in connection.introspection.table_names(cursor)
            for (row,) in _fetched(
                cursor, f'SELECT t::text FROM "{table}" AS t WHERE t::text ILIKE ANY(%s)', [patterns]
            )
        ]


def _rows_of(user_id: int) -> list[str]:
    with connection.cursor() as cursor:
        columns = _fetched(
            cursor,
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND column_name ~ '(^|_)(user|owner|person|author)(_id)?$'"
            " AND data_type IN ('integer', 'bigint', 'smallint')",
            [],
        )
        assert ("coaching_profile", "user_id") in columns
        found = [
            f"{table}.{column}: {count}"
            for table, column in columns
            for (count,) in _fetched(
                cursor, f'SELECT count(*) FROM "{table}" WHERE "{column}" = %s HAVING count(*) > 0', [user_id]
            )
        ]
        found += [
            f"job: {row}"
            for (row,) in _fetched(
                cursor,
                "SELECT t::text FROM procrastinate_jobs AS t"
                " WHERE args->>'user_id' = %s OR lock = %s OR queueing_lock = %s",
                [str(user_id), f"removal:{user_id}", f"removal:{user_id}"],
            )
        ]
    return found


def _browser_sessions(user_id: int) -> list[str]:
    return [
        f"browser session {stored.session_key}"
        for stored in LoginSession.objects.all()
        if stored.get_decoded().get(SESSION_KEY) == str(user_id)
    ]


def _objects(user_id: int) -> list[str]:
    storage = storages["default"]
    assert isinstance(storage, ObjectStorage)
    return [f"object {entry.key}" for entry in storage.list_objects("") if f"/{user_id}/" in entry.key]


def _fetched(cursor: object, query: str, values: list[object]) -> list[tuple[str, ...]]:
    cursor.execute(query, values)  # type: ignore[attr-defined]
    return list(cursor.fetchall())  # type: ignore[attr-defined]
