"""Takes a backup while Sage runs: a snapshot of the database first, then the objects that its rows name.

An object's row is written after it and removed before it, so an object of the snapshot is missing only if its
row was removed meanwhile, or if it was lost before. Nobody waits: the dump's locks stop no reader or writer.
"""

import errno
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import psycopg
import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.utils import timezone
from psycopg import sql

from coaching.files.errors import StorageFailed
from coaching.files.former_databases import BACKUP_LOCK
from coaching.files.keys import keyed_models
from coaching.files.lost import bytes_of_row, store_again
from coaching.files.objects import STORAGE_ERRORS, read_pieces
from coaching.models import Backup
from coaching.personal_data.departures import departure_key
from sage.backups.archive import DATABASE, HEAD, OBJECTS, REPORT, ArchiveWriter
from sage.backups.contents import FORMAT, KEY_MEMBER, examine
from sage.backups.databases import connect, dump, join_server, server_major, try_lock
from sage.backups.errors import BackupError, Busy, Stopped
from sage.backups.objects import check_given, check_reached, hash_of_row, is_not_found, owner_of, spooled
from sage.second_factor import second_factor_keys
from sage.startup import MIGRATION_LOCK
from sessions_app.database import give_back_connections

logger = structlog.get_logger(__name__)

MAX_UNANSWERED = 20
"""After so many objects in a row that the storage gives no answer about, it is what is wrong."""
MAX_STORED_AGAIN = 20
"""More missing texts than these aren't stored again: maybe the storage's disk isn't mounted."""
REPORTED = 100
KEPT_ROWS = 30


@dataclass(kw_only=True)
class Taken:
    """A finished backup: `damaged` objects don't match their row or are lost.

    `gone` ones were deleted meanwhile, or are lost for good since a restore.
    """

    path: Path
    size: int = 0
    seconds: float = 0.0
    objects: int = 0
    damaged: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    from_rows: list[str] = field(default_factory=list)
    """Those that weren't found, and whose bytes their rows have."""
    missing: list[str] = field(default_factory=list)
    """Those that weren't found, and aren't stored again; in the end each is damaged or gone."""


def take_backup(path: Path, *, is_stopping: Callable[[], bool] = lambda: False) -> Taken:
    """Write a backup to a new file, and a row about it. Raises `BackupError`, and then there is no file."""
    began, taken = time.monotonic(), Taken(path=path)
    try:
        join_server()
        departure_key()
        give_back_connections()
        with _locked() as session, _new_file(path) as file:
            _write(session, file, taken, is_stopping)
        taken.size, taken.seconds = path.stat().st_size, time.monotonic() - began
    except (Busy, Stopped):
        raise
    except (BackupError, psycopg.Error, DatabaseError, OSError) as error:
        reason = _sentence_of(error, path)
        _note(Backup(is_whole=False, reason=reason[:300]), time.monotonic() - began)
        raise BackupError(reason) from error
    reason = _reason_of(taken)
    row = Backup(file=path.name, size=taken.size, is_whole=not taken.damaged, reason=reason)
    _note(row, taken.seconds)
    return taken


def _reason_of(taken: Taken) -> str:
    """Return why a finished backup isn't whole; nothing if it is."""
    if not taken.damaged:
        return ""
    reason = f"{len(taken.damaged):,} files are lost or damaged."
    is_much = len(taken.from_rows) > MAX_STORED_AGAIN
    return f"{reason} Is the disk of the file storage mounted?" if is_much else reason


def back_up_rows(path: Path) -> Taken:
    """Write an archive without objects, in place of an older one. Raises `BackupError`.

    The database may be one that an older version of Sage has left. Only those who still have the objects can
    restore it.
    """
    began, taken = time.monotonic(), Taken(path=path)
    try:
        with suppress(DatabaseError):  # an older version's tables
            departure_key()
        give_back_connections()
        with _locked() as session, _new_file(path, replaces=True) as file:
            _write(session, file, taken, lambda: False, has_objects=False)
        taken.size, taken.seconds = path.stat().st_size, time.monotonic() - began
    except (psycopg.Error, DatabaseError, OSError) as error:
        raise BackupError(_sentence_of(error, path)) from error
    return taken


def file_name(now: datetime) -> str:
    """Return the usual name of a backup that is taken now."""
    return f"sage-{now:%Y%m%dT%H%M%SZ}.tar{'.enc' if settings.SAGE_BACKUP_KEY else ''}"


@contextmanager
def _locked() -> Iterator[psycopg.Connection[Any]]:
    with connect() as session:
        if not try_lock(session, BACKUP_LOCK):
            raise Busy("Another backup, or a restore, is running.")
        if not try_lock(session, MIGRATION_LOCK, is_shared=True):
            raise Busy("The database is being migrated: take the backup afterwards.")
        yield session


@contextmanager
def _new_file(path: Path, *, replaces: bool = False) -> Iterator[IO[bytes]]:
    """Give a private file that gets its name once the block has ended well."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and not replaces:
        raise BackupError(f"{path} exists already: choose another name.")
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        examine(part)  # what can't be read isn't a backup
        part.rename(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write(
    session: psycopg.Connection[Any],
    file: IO[bytes],
    taken: Taken,
    is_stopping: Callable[[], bool],
    *,
    has_objects: bool = True,
) -> None:
    archive = ArchiveWriter(file, key=settings.SAGE_BACKUP_KEY)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as keys:
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        archive.add_json(HEAD, _describe(session))
        if has_objects:
            check_reached(is_named=_list_objects(session, keys))
        row = session.execute("SELECT pg_export_snapshot()").fetchone()
        for number, piece in enumerate(dump(row[0] if row else "", is_stopping=is_stopping)):
            archive.add(f"{DATABASE}{number:09}", len(piece), [piece])
        session.execute("COMMIT")
        # Nothing of the database is read for long from here on, so migrations needn't wait.
        session.execute("SELECT pg_advisory_unlock_shared(%s)", [MIGRATION_LOCK])
        secrets = "\n".join(second_factor_keys()).encode()
        archive.add(KEY_MEMBER, len(secrets), [secrets])
        keys.seek(0)
        _add_objects(archive, (line.rstrip("\n").split("\t") for line in keys), taken, is_stopping)
    is_little = len(taken.from_rows) <= MAX_STORED_AGAIN
    taken.missing += [key for key in taken.from_rows if not (is_little and _is_stored_again(key))]
    _tell_gone_from_lost(session, taken)
    archive.add_json(REPORT, {"has_objects": has_objects, **_report(taken)})
    archive.finish()


def _report(taken: Taken) -> dict[str, Any]:
    return {
        "objects": taken.objects,
        "damaged": len(taken.damaged),
        "gone": len(taken.gone),
        "first_damaged": taken.damaged[:REPORTED],
        "first_gone": taken.gone[:REPORTED],
    }


def _describe(session: psycopg.Connection[Any]) -> dict[str, Any]:
    row = session.execute(
        "SELECT now(), to_regclass('coaching_recallvector') IS NOT NULL, "
        "to_regclass('django_migrations') IS NOT NULL"
    ).fetchone()
    assert row is not None
    # An upgrade may back up a database that was never migrated.
    query = "SELECT app, name FROM django_migrations ORDER BY id"
    migrations = session.execute(query).fetchall() if row[2] else []
    return {
        "format": FORMAT,
        "sage": settings.SAGE_VERSION,
        "taken_at": row[0].isoformat(),
        "postgres": server_major(session),
        "has_vectors": row[1],
        "migrations": migrations,
    }


def _list_objects(session: psycopg.Connection[Any], keys: IO[str]) -> bool:
    """Write a line for each key: with the hash that its row has, if it has one. In the archive's order.

    Return whether there is one with a hash: others may be lost for good.
    """
    parts = [
        sql.SQL("SELECT storage_key, sha256 FROM {}").format(sql.Identifier(model._meta.db_table))
        for model in keyed_models()
    ]
    query = sql.SQL(
        "SELECT storage_key, max(sha256) FROM ({}) AS named WHERE storage_key <> '' "
        'GROUP BY storage_key ORDER BY storage_key COLLATE "C"'
    ).format(sql.SQL(" UNION ALL ").join(parts))
    has_hash = False
    with session.cursor("keys") as cursor:
        for key, sha256 in cursor.execute(query):
            keys.write(f"{key}\t{sha256 or ''}\n")
            has_hash = has_hash or bool(sha256)
    return has_hash


def _add_objects(
    archive: ArchiveWriter, lines: Iterable[list[str]], taken: Taken, is_stopping: Callable[[], bool]
) -> None:
    """Copy the objects. One whose bytes aren't those of its row is copied, too, and is told."""
    unanswered, last = 0, None
    for key, sha256 in lines:
        try:
            with spooled(_unless(is_stopping, _pieces_of(key, taken))) as found:
                archive.add(f"{OBJECTS}{key}", found.size, found.pieces())
                if sha256 not in ("", found.sha256):
                    taken.damaged.append(key)
            taken.objects += 1
            unanswered = 0
        except StorageFailed as error:
            taken.missing.append(key)
            unanswered = 0 if is_not_found(error.__cause__) else unanswered + 1
            last = error if unanswered else last
            if unanswered >= MAX_UNANSWERED:
                raise BackupError("The file storage doesn't answer.") from error
    if last:
        check_reached(is_named=True)
        check_given(last.__cause__, has_read=taken.objects > 0, is_last=unanswered > 0)


def _pieces_of(key: str, taken: Taken) -> Iterator[bytes]:
    """Yield an object's bytes, or those in its row if it is lost. Raises `StorageFailed`."""
    try:
        yield from read_pieces(key)
    except StorageFailed as error:
        data = bytes_of_row(key) if is_not_found(error.__cause__) else None
        if data is None:
            raise
        taken.from_rows.append(key)
        yield data


def _is_stored_again(key: str) -> bool:
    try:
        return store_again(key)
    except STORAGE_ERRORS as error:
        logger.warning("object_not_stored_again", key=key, error=type(error).__name__)
        return False


def _unless(is_stopping: Callable[[], bool], pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces. Raises `Stopped`."""
    if is_stopping():
        raise Stopped("The backup was stopped.")
    for piece in pieces:
        yield piece
        if is_stopping():
            raise Stopped("The backup was stopped.")


def _tell_gone_from_lost(session: psycopg.Connection[Any], taken: Taken) -> None:
    """Sort what wasn't there: whoever removes a person removes their objects first and their rows last."""
    for key in taken.missing:
        is_lost = bool(hash_of_row(session, key)) and _is_active(session, owner_of(key))
        (taken.damaged if is_lost else taken.gone).append(key)


def _is_active(session: psycopg.Connection[Any], user_id: int) -> bool:
    query = sql.SQL("SELECT FROM {} WHERE id = %s AND is_active").format(sql.Identifier(User._meta.db_table))
    return session.execute(query, [user_id]).fetchone() is not None


def _sentence_of(error: Exception, path: Path) -> str:
    if isinstance(error, BackupError):
        return str(error)
    if isinstance(error, psycopg.Error | DatabaseError):
        return f"The database broke off the backup ({type(error).__name__})."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"There is no room left, in {path.parent} or in {tempfile.gettempdir()}."
    return f"{path} can't be written ({getattr(error, 'strerror', None) or type(error).__name__})."


def _note(backup: Backup, seconds: float) -> None:
    """Store what the admin's start page shows. It isn't worth a finished backup if that fails."""
    backup.ended_at, backup.seconds = timezone.now(), int(seconds)
    try:
        backup.save()
        kept = set(Backup.objects.values_list("pk", flat=True)[:KEPT_ROWS])
        kept.update(Backup.objects.filter(is_whole=True).values_list("pk", flat=True)[:KEPT_ROWS])
        Backup.objects.exclude(pk__in=kept).delete()
    except DatabaseError as error:
        logger.warning("backup_not_noted", error=type(error).__name__)
