"""Objects on their way between the file storage and an archive."""

import hashlib
import os
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psycopg
from botocore.exceptions import ClientError
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, storages
from psycopg import sql

from coaching.files.errors import StorageFailed
from coaching.files.keys import keyed_models
from coaching.files.lost import give_up, store_again
from coaching.files.objects import OBJECTS_PREFIX, PIECE_BYTES, STORAGE_ERRORS, read_pieces
from sage.backups.errors import ArchiveDamaged, BackupError

IN_MEMORY_BYTES = 8 << 20
"""Larger objects lie in a temporary file until their size is known."""
DENIED = frozenset({"AccessDenied", "403"})
"""An answer to HEAD has only the status."""


@dataclass(kw_only=True)
class Spooled:
    """An object's bytes, with what they really are."""

    file: IO[bytes]
    size: int
    sha256: str

    def pieces(self) -> Iterator[bytes]:
        while piece := self.file.read(PIECE_BYTES):
            yield piece


@contextmanager
def spooled(pieces: Iterable[bytes]) -> Iterator[Spooled]:
    """Hold an object's bytes while the block runs. Raises what reading them raises."""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as file:
        digest, size = hashlib.sha256(), 0
        for piece in pieces:
            digest.update(piece)
            size += file.write(piece)
        file.seek(0)
        yield Spooled(file=file, size=size, sha256=digest.hexdigest())


def check_reached(*, is_named: bool) -> None:
    """Check that the storage answers, and has any objects if rows name some (`is_named`).

    An archive without them would look like a backup of files that are lost. Raises `BackupError`.
    """
    storage = storages["default"]
    if isinstance(storage, FileSystemStorage):
        reason = _missing_folder(Path(storage.path(OBJECTS_PREFIX))) if is_named else ""
    else:
        reason = _unanswered(storage, is_named=is_named)
    if reason:
        raise BackupError(f"The file storage can't be reached ({reason}). No backup was made.")


def check_given(error: BaseException | None, *, has_read: bool, is_last: bool) -> None:
    """Check that a bucket is one whose objects can be read, after it gave no answer about some of them.

    `error` is what it said of the last of these, `has_read` whether others were read, and `is_last` whether
    none was asked for since. Where Sage may not list a bucket, it refuses what isn't there, too. Raises
    `BackupError`.
    """
    if isinstance(storages["default"], FileSystemStorage):
        return
    code = str(error.response.get("Error", {}).get("Code")) if isinstance(error, ClientError) else ""
    if not has_read or (is_last and code in DENIED):
        reason = "AccessDenied" if code in DENIED else code or type(error).__name__
        raise BackupError(f"The file storage can't be reached ({reason}). No backup was made.")


def _missing_folder(folder: Path) -> str:
    try:
        with os.scandir(folder):
            return ""
    except OSError as error:
        return f"{folder}: {error.strerror}"


def _unanswered(storage: Any, *, is_named: bool) -> str:
    """Return why a bucket isn't the one; nothing, too, where Sage may not list its objects."""
    try:
        first = next(iter(storage.list_objects(OBJECTS_PREFIX)), None)
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code"))
        return "" if code in DENIED else code
    except STORAGE_ERRORS as error:
        return type(error).__name__
    return "the bucket has none of the files" if is_named and first is None else ""


def put_object(key: str, pieces: Iterable[bytes], *, size: int, sha256: str) -> bool:
    """Store an object under its own key; False if nothing was stored. Raises `BackupError`.

    One that is there is replaced only if it is damaged and the archive's bytes are those of the row, whose
    hash is `sha256` (empty if the row has none).
    """
    storage = storages["default"]
    try:
        with spooled(pieces) as given:
            if given.size != size:
                raise ArchiveDamaged("The archive changed while it was read.")
            if not storage.exists(key):
                _save(key, given.file)
            elif given.sha256 != sha256 or _sha256_of(key) == sha256:
                return False
            else:
                _replace(key, given.file)
    except (*STORAGE_ERRORS, StorageFailed) as error:
        raise BackupError(f"The file storage can't be written ({type(error).__name__}).") from error
    return True


def _save(key: str, file: IO[bytes]) -> None:
    if storages["default"].save(key, File(file)) != key:
        raise BackupError(f"The file storage doesn't take the object {key}.")


def _replace(key: str, file: IO[bytes]) -> None:
    """Put an object in place of another, in one step: a bucket does so, on disk a file is renamed."""
    storage = storages["default"]
    if not isinstance(storage, FileSystemStorage):
        _save(key, file)
        return
    beside = f"{key}.{uuid.uuid4().hex}"  # if it stays, it is collected as garbage
    _save(beside, file)
    Path(storage.path(beside)).replace(storage.path(key))


def hash_of_row(session: psycopg.Connection[Any], key: str) -> str | None:
    """Return the hash that an object's row has, empty if it has none; None without a row."""
    for model in keyed_models():
        table = sql.Identifier(model._meta.db_table)
        query = sql.SQL("SELECT sha256 FROM {} WHERE storage_key = %s").format(table)
        if row := session.execute(query, [key]).fetchone():
            return str(row[0] or "")
    return None


def missing_keys(session: psycopg.Connection[Any]) -> list[str]:
    """Return the keys of all rows that aren't in the temporary table `stored`."""
    parts = [
        sql.SQL("SELECT storage_key FROM {}").format(sql.Identifier(model._meta.db_table))
        for model in keyed_models()
    ]
    query = sql.SQL(
        "SELECT storage_key FROM ({}) AS named WHERE storage_key <> '' EXCEPT SELECT key FROM stored"
    )
    found = session.execute(query.format(sql.SQL(" UNION ALL ").join(parts))).fetchall()
    return [key for (key,) in found]


def is_lost(key: str) -> bool:
    """Return whether an object that no archive has is lost for good, and note it. Raises `BackupError`."""
    try:
        if storages["default"].exists(key) or store_again(key):
            return False
    except STORAGE_ERRORS as error:
        raise BackupError(f"The file storage can't be written ({type(error).__name__}).") from error
    give_up(key)
    return True


def is_not_found(error: BaseException | None) -> bool:
    """Return whether a storage answered that an object isn't there."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code")) in ("404", "NoSuchKey")
    return isinstance(error, FileNotFoundError)


def owner_of(key: str) -> int:
    """Return the user that an object belongs to. Raises `ArchiveDamaged` if its key is no object's."""
    parts = key.split("/")
    if len(parts) != 3 or f"{parts[0]}/" != OBJECTS_PREFIX or not parts[1].isdecimal():
        raise ArchiveDamaged("The archive is damaged: it holds an object that is nobody's.")
    return int(parts[1])


def _sha256_of(key: str) -> str:
    digest = hashlib.sha256()
    try:
        for piece in read_pieces(key):
            digest.update(piece)
    except StorageFailed:
        return ""
    return digest.hexdigest()
