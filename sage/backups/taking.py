"""Takes a backup while Sage runs: a snapshot of the database first, then the objects that its rows name.

Nobody waits: the dump's locks stop no reader or writer. How the objects are copied is in `copying`.
"""

import errno
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import psycopg
import structlog
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from coaching.files.former_databases import BACKUP_LOCK
from coaching.models import Backup
from coaching.personal_data.departures import departure_key
from sage.backups.archive import DATABASE, HEAD, REPORT, ArchiveWriter
from sage.backups.contents import FORMAT, KEY_MEMBER, examine
from sage.backups.copying import Taken, add_objects, list_objects, settle_missing
from sage.backups.databases import connect, dump, join_server, server_major, try_lock
from sage.backups.errors import BackupError, Busy, Stopped
from sage.backups.objects import check_reached
from sage.second_factor import second_factor_keys
from sage.startup import MIGRATION_LOCK
from sessions_app.database import give_back_connections

logger = structlog.get_logger(__name__)

REPORTED = 100
KEPT_ROWS = 30


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
    return f"{reason} Is the disk of the file storage mounted?" if taken.lacks_much else reason


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
            check_reached(is_named=list_objects(session, keys))
        row = session.execute("SELECT pg_export_snapshot()").fetchone()
        for number, piece in enumerate(dump(row[0] if row else "", is_stopping=is_stopping)):
            archive.add(f"{DATABASE}{number:09}", len(piece), [piece])
        session.execute("COMMIT")
        # Nothing of the database is read for long from here on, so migrations needn't wait.
        session.execute("SELECT pg_advisory_unlock_shared(%s)", [MIGRATION_LOCK])
        secrets = "\n".join(second_factor_keys()).encode()
        archive.add(KEY_MEMBER, len(secrets), [secrets])
        keys.seek(0)
        add_objects(archive, (line.rstrip("\n").split("\t") for line in keys), taken, is_stopping)
    settle_missing(session, taken)
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
