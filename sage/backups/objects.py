"""Objects on their way between the file storage and an archive."""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from django.core.files.base import File
from django.core.files.storage import storages

from coaching.files.errors import StorageFailed
from coaching.files.objects import OBJECTS_PREFIX, PIECE_BYTES, STORAGE_ERRORS, read_pieces
from sage.backups.errors import ArchiveDamaged, BackupError

IN_MEMORY_BYTES = 8 << 20
"""Larger objects lie in a temporary file until their size is known."""


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


def put_object(key: str, pieces: Iterable[bytes], *, size: int) -> bool:
    """Store an object under its own key; False if it is there. Raises `BackupError`."""
    storage = storages["default"]
    try:
        with spooled(pieces) as given:
            if given.size != size:
                raise ArchiveDamaged("The archive changed while it was read.")
            if storage.exists(key):
                if _sha256_of(key) == given.sha256:
                    return False
                storage.delete(key)  # objects never change, so what is there was damaged
            if storage.save(key, File(given.file)) != key:
                raise BackupError(f"The file storage doesn't take the object {key}.")
    except (*STORAGE_ERRORS, StorageFailed) as error:
        raise BackupError(f"The file storage can't be written ({type(error).__name__}).") from error
    return True


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
