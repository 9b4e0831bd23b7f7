"""Copies the objects that a snapshot's rows name into a backup, and says which are lost, damaged or gone.

An object's row is written after it and removed before it, so an object of the snapshot is missing only if its
row was removed meanwhile, or if it was lost before.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psycopg
import structlog
from django.contrib.auth.models import User
from psycopg import sql

from coaching.files.errors import StorageFailed
from coaching.files.keys import keyed_models
from coaching.files.lost import bytes_of_row, store_again
from coaching.files.objects import STORAGE_ERRORS, read_pieces
from sage.backups.archive import OBJECTS, ArchiveWriter
from sage.backups.errors import BackupError, Stopped
from sage.backups.objects import check_given, check_reached, hash_of_row, is_not_found, owner_of, spooled

logger = structlog.get_logger(__name__)

MAX_UNANSWERED = 20
"""After so many objects in a row that the storage gives no answer about, it is what is wrong."""
MAX_STORED_AGAIN = 20
"""More missing texts than these aren't stored again: maybe the storage's disk isn't mounted."""


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

    @property
    def lacks_much(self) -> bool:
        """Whether so many texts weren't found that they aren't stored again."""
        return len(self.from_rows) > MAX_STORED_AGAIN


def list_objects(session: psycopg.Connection[Any], keys: IO[str]) -> bool:
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


def add_objects(
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


def settle_missing(session: psycopg.Connection[Any], taken: Taken) -> None:
    """Store again what wasn't there and stands in its row, and sort the rest: lost, or deleted meanwhile.

    Whoever removes a person removes their objects first and their rows last.
    """
    taken.missing += [key for key in taken.from_rows if taken.lacks_much or not _is_stored_again(key)]
    for key in taken.missing:
        is_lost = bool(hash_of_row(session, key)) and _is_active(session, owner_of(key))
        (taken.damaged if is_lost else taken.gone).append(key)


def _is_active(session: psycopg.Connection[Any], user_id: int) -> bool:
    query = sql.SQL("SELECT FROM {} WHERE id = %s AND is_active").format(sql.Identifier(User._meta.db_table))
    return session.execute(query, [user_id]).fetchone() is not None
