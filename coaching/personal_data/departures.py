"""The list of people who were removed, kept apart from the database: a restored backup removes them again.

An entry is an empty object (and, with SAGE_BACKUP_DIR, an empty file there) whose name is a keyed hash of the
person's number and of the moment their account was made. The number alone wouldn't do: after a restore,
numbers are given out again. The key is a row of the database, so the list says nothing to who has no backup.
Before the first backup there is no key, and nothing to list.
"""

import hmac
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, storages

from coaching.files.errors import ObjectsNotErased
from coaching.files.objects import STORAGE_ERRORS, ObjectStorage
from coaching.models import DepartureKey
from sessions_app.database import give_back_connections

logger = structlog.get_logger(__name__)

FOLDER = "departures"
KEPT = timedelta(days=90)
"""Longer than any backup should be kept."""


def departure_key() -> str:
    """Return the installation's key, made on first use."""
    return DepartureKey.objects.get_or_create(pk=1)[0].key


def record_departure(user_id: int) -> None:
    """List a person who is about to be removed. Raises `ObjectsNotErased` if that fails.

    Each attempt at a removal lists them anew: backups taken since the first one have their rows, too.
    """
    key, user = DepartureKey.objects.first(), User.objects.filter(pk=user_id).first()
    if key is None or user is None:
        return
    name = _hash_of(user, key.key)
    give_back_connections()
    try:
        _store(f"{FOLDER}/{name}")
    except STORAGE_ERRORS as error:
        logger.warning("departure_not_recorded", user_id=user_id, error=type(error).__name__)
        raise ObjectsNotErased from error
    if settings.SAGE_BACKUP_DIR:
        _touch(settings.SAGE_BACKUP_DIR / FOLDER / name)


def departed_users(folders: Iterable[Path]) -> list[int]:
    """Return who of the database was removed, by the lists in the storage and below these folders."""
    names, key = {*_listed(), *(path.name for folder in folders for path in _files(folder))}, departure_key()
    return [user.pk for user in User.objects.iterator(chunk_size=1000) if _hash_of(user, key) in names]


def has_departed_between(after: datetime, until: datetime, folder: Path) -> bool:
    """Return whether somebody was listed in this time. Raises `STORAGE_ERRORS` unless the folder says so."""
    here = (datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in _files(folder))
    if any(after < moment <= until for moment in here):
        return True
    storage = storages["default"]
    if not isinstance(storage, ObjectStorage):
        return False
    return any(after < entry.modified_at <= until for entry in storage.list_objects(f"{FOLDER}/"))


def forget_departures(*, now: datetime) -> int:
    """Remove entries that are older than any backup should be; return how many."""
    storage, forgotten = storages["default"], 0
    if isinstance(storage, ObjectStorage):
        for entry in list(storage.list_objects(f"{FOLDER}/")):
            if now - entry.modified_at > KEPT:
                storage.delete(entry.key)
                forgotten += 1
    if settings.SAGE_BACKUP_DIR:
        for path in _files(settings.SAGE_BACKUP_DIR):
            if now.timestamp() - path.stat().st_mtime > KEPT.total_seconds():
                path.unlink(missing_ok=True)
    return forgotten


def _hash_of(user: User, key: str) -> str:
    text = f"{user.pk} {user.date_joined.timestamp()!r}"
    return hmac.new(bytes.fromhex(key), text.encode(), "sha256").hexdigest()


def _listed() -> Iterator[str]:
    storage = storages["default"]
    if isinstance(storage, ObjectStorage):
        for entry in storage.list_objects(f"{FOLDER}/"):
            yield entry.key.removeprefix(f"{FOLDER}/")


def _files(folder: Path) -> list[Path]:
    try:
        return list((folder / FOLDER).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _store(key: str) -> None:
    """Store an entry; one that is there gets the present time. Raises `STORAGE_ERRORS`."""
    storage = storages["default"]
    if isinstance(storage, FileSystemStorage) and storage.exists(key):
        Path(storage.path(key)).touch()
    else:  # a bucket replaces it
        storage.save(key, ContentFile(b""))


def _touch(path: Path) -> None:
    """Also write the file in the folder of backups. Without it, the object in the storage is enough."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError as error:
        logger.warning("departure_not_beside_backups", error=type(error).__name__)
