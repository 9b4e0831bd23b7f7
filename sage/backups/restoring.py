"""Restores an archive into a new database, then swaps their names in one transaction.

Until then nothing that is there changes: objects have random keys and never change, so those of the archive
only join the others. Whenever it is killed, the database is the old one or the new one, whole, and
it can begin again. Afterwards the old one stays for a week under another name (`former_databases`).
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.utils import timezone
from psycopg import errors, sql

from coaching.files.former_databases import (
    BACKUP_LOCK,
    RESTORING_SUFFIX,
    drop_database,
    former_name,
    former_secret_name,
)
from coaching.files.objects import STORAGE_ERRORS
from coaching.migrations._recall_tables import VECTORS
from coaching.personal_data.departures import departed_users
from coaching.personal_data.removal import remove_rows
from sage.backups.archive import DATABASE, OBJECTS, Member
from sage.backups.contents import Contents, opened
from sage.backups.databases import (
    close_connections,
    connect,
    join_server,
    loading,
    on_database,
    server_major,
    try_lock,
)
from sage.backups.endings import end_what_ran
from sage.backups.errors import BackupError
from sage.backups.objects import hash_of_row, is_lost, missing_keys, owner_of, put_object
from sage.claim import CLAIM_LOCK
from sage.data_folder import keep_secret, make_next_secret, use_next_secret
from sage.restored_secret import finish_restore, mark_database
from sage.schema import unknown_migrations
from sage.second_factor import encrypt_anew, second_factor_key
from sessions_app.database import no_time_limits

ALONE_SECONDS = 5.0
"""A connection that has been closed is listed for a moment longer."""
STILL_RUNS = "Sage is running, or another program uses its database: stop it first. Nothing was changed."


@dataclass(kw_only=True)
class Restored:
    """What was restored. `former` is the database that was there before; empty if it held nothing."""

    contents: Contents
    former: str
    objects: int = 0
    lost: list[str] = field(default_factory=list)
    """Objects that neither the archive nor the storage has, and no row's text could replace."""
    departed: int = 0
    interrupted: int = 0
    unreadable_second_factors: int = 0


def check_suitable(contents: Contents, *, keeps_links: bool = False) -> None:
    """Check whether an archive can be restored here. Raises `BackupError`."""
    if newer := unknown_migrations(contents.migrations):
        raise BackupError(
            f"A newer version of Sage, {contents.sage}, made this archive ({newer}): restore it with that."
        )
    with connect() as session:
        major = server_major(session)
    if contents.postgres > major:
        raise BackupError(
            f"The archive is of PostgreSQL {contents.postgres}, the server is {major}: use a newer server."
        )
    if not settings.ENVIRONMENT.database:
        free = shutil.disk_usage(settings.SAGE_DATA_DIR).free
        if free < contents.database_bytes:  # it takes more than its compressed rows, at least that is sure
            raise BackupError(
                f"There are {free:,} bytes left in {settings.SAGE_DATA_DIR}, which is too little."
            )
    same_secret = second_factor_key(settings.SECRET_KEY) in contents.second_factor_keys
    if settings.ENVIRONMENT.secret_key and same_secret and not keeps_links:
        raise BackupError(
            "SECRET_KEY is still the one of this backup, so links that Sage sent before would stay valid: "
            "set a new one and restore then, or add --keep-links."
        )


def restore(path: Path, contents: Contents) -> Restored:
    """Restore an examined archive. Raises `BackupError`, and then the present database is unchanged."""
    done, now = Restored(contents=contents, former=""), timezone.now()
    name = str(connection.settings_dict["NAME"])
    target, former = f"{name}{RESTORING_SUFFIX}", former_name(name, now)
    try:
        finish_restore()  # of one that was killed: the database's own key is kept below
        with _alone() as session, _dropped_on_failure(target):
            _check_rights(session)
            _make_database(session, target)
            _fill(path, target, done)
            row = session.execute("SELECT to_regclass('django_migrations') IS NULL").fetchone()
            is_empty = bool(row and row[0])
        if not settings.ENVIRONMENT.secret_key:
            keep_secret(settings.SAGE_DATA_DIR, former_secret_name(now))
        with _dropped_on_failure(target):
            _switch(name, target, former)
    except (psycopg.Error, DatabaseError) as error:
        raise BackupError(f"The database refused it ({_first_line(error)}). Nothing was changed.") from error
    if not settings.ENVIRONMENT.secret_key:
        use_next_secret(settings.SAGE_DATA_DIR)
    done.former = former
    if is_empty:
        with suppress(psycopg.Error), connect() as session:  # otherwise it stays for a week, like others
            drop_database(session, former)
            done.former = ""
    return done


@contextmanager
def _dropped_on_failure(target: str) -> Iterator[None]:
    """Drop the new database if the block fails: it has everybody's rows."""
    try:
        yield
    except BaseException:
        with suppress(psycopg.Error), _beside() as session:
            drop_database(session, target)
        raise


def _check_rights(session: psycopg.Connection[Any]) -> None:
    """Check now what only the switch needs, after hours. Raises `BackupError` and `psycopg.Error`."""
    row = session.execute(
        "SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()"
    ).fetchone()
    if not (row and row[0]):
        raise BackupError(
            f"The database belongs to another role than {session.info.user}, which so can't rename it: "
            f"ALTER DATABASE {session.info.dbname} OWNER TO {session.info.user}, as a superuser."
        )
    _beside().close()


@contextmanager
def _alone() -> Iterator[psycopg.Connection[Any]]:
    """Hold the locks of web processes and backups, with nobody else at the database."""
    join_server()
    close_connections()
    with connect() as session:
        deadline = time.monotonic() + ALONE_SECONDS
        while not (try_lock(session, CLAIM_LOCK) and try_lock(session, BACKUP_LOCK) and _is_alone(session)):
            if time.monotonic() > deadline:
                raise BackupError(STILL_RUNS)
            time.sleep(0.1)
        yield session


def _is_alone(session: psycopg.Connection[Any]) -> bool:
    row = session.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usesysid IS NOT NULL "
        "AND pid <> pg_backend_pid()"
    ).fetchone()
    return row is not None and row[0] == 0


def _make_database(session: psycopg.Connection[Any], target: str) -> None:
    """Make an empty database like the present one, in place of what a killed restore has left."""
    row = session.execute(
        "SELECT pg_encoding_to_char(encoding), datcollate, datctype, to_jsonb(d) ->> 'datlocprovider', "
        "coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale') "
        "FROM pg_database AS d WHERE datname = current_database()"
    ).fetchone()
    assert row is not None
    encoding, collate, ctype, provider, locale = row
    options = [("ENCODING", encoding), ("LC_COLLATE", collate), ("LC_CTYPE", ctype)]
    if provider in ("i", "b"):
        names = ("icu", "ICU_LOCALE") if provider == "i" else ("builtin", "BUILTIN_LOCALE")
        options += [("LOCALE_PROVIDER", names[0]), (names[1], locale)]
    described = sql.SQL(" ").join(
        sql.SQL(f"{name} {{}}").format(sql.Literal(value)) for name, value in options
    )
    drop_database(session, target)
    create = sql.SQL("CREATE DATABASE {} TEMPLATE template0 {}")
    try:
        session.execute(create.format(sql.Identifier(target), described))
    except errors.InsufficientPrivilege:
        raise BackupError(
            f"The database's role may not create databases: ALTER ROLE {session.info.user} CREATEDB, as a "
            "superuser, and begin again."
        ) from None


def _fill(path: Path, target: str, done: Restored) -> None:
    """Load the rows, bring them up to date, and store the objects of who is still there."""
    with opened(path, is_plain=done.contents.is_plain) as members:
        waiting = _load_rows(members, target)
        departed = _prepare(path, target, done)
        with connect(target) as session:
            session.execute("CREATE TEMPORARY TABLE stored (key text)")
            for member in chain(waiting, members):
                key = member.name.removeprefix(OBJECTS)
                if member.name.startswith(OBJECTS) and owner_of(key) not in departed:
                    sha256 = hash_of_row(session, key) or ""
                    done.objects += put_object(key, member.pieces(), size=member.size, sha256=sha256)
                    session.execute("INSERT INTO stored VALUES (%s)", [key])
            missing = missing_keys(session)
        with on_database(target):
            done.lost = [key for key in missing if is_lost(key)]


def _load_rows(members: Iterator[Member], target: str) -> Sequence[Member]:
    """Load the database's part; return the member after it, which has been read from the stream."""
    with connect(target) as session:
        major = server_major(session)
    with loading(target, major) as program:
        for member in members:
            if member.name.startswith(DATABASE):
                for piece in member.pieces():
                    program.write(piece)
            elif member.name > DATABASE:
                return [member]
    return []


def _prepare(path: Path, target: str, done: Restored) -> set[int]:
    """Make the new database one of this version and this place; return who isn't in it any more."""
    if done.contents.has_vectors:
        with connect(target) as session:
            session.execute(VECTORS)
    with on_database(target):
        call_command("migrate", interactive=False, verbosity=0)
        folders = {path.absolute().parent, *([settings.SAGE_BACKUP_DIR] if settings.SAGE_BACKUP_DIR else [])}
        try:
            departed = departed_users(folders)
        except STORAGE_ERRORS as error:
            raise BackupError(
                f"The list of people who were deleted can't be read ({type(error).__name__})."
            ) from error
        with no_time_limits():
            for user_id in departed:
                remove_rows(user_id)
            done.interrupted = end_what_ran()
            is_own = not settings.ENVIRONMENT.secret_key
            secret = make_next_secret(settings.SAGE_DATA_DIR) if is_own else settings.SECRET_KEY
            key = second_factor_key(secret)
            done.unreadable_second_factors = encrypt_anew(done.contents.second_factor_keys, key)
    if is_own:
        with connect(target) as session:
            mark_database(session, secret)
    done.departed = len(departed)
    return set(departed)


def _switch(name: str, target: str, former: str) -> None:
    """Give the new database the name of the present one, in one transaction."""
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    try:
        with _beside() as session, session.transaction():
            session.execute(rename.format(sql.Identifier(name), sql.Identifier(former)))
            session.execute(rename.format(sql.Identifier(target), sql.Identifier(name)))
    except errors.ObjectInUse:
        raise BackupError(STILL_RUNS) from None
    except psycopg.OperationalError as error:
        raise BackupError(
            "The connection was lost while the databases changed their names, so either may be there now: "
            "begin again."
        ) from error


def _beside() -> psycopg.Connection[Any]:
    """Connect to a database of the server that isn't renamed."""
    try:
        return connect("postgres")
    except psycopg.OperationalError:
        return connect("template1")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
