"""What an archive holds, once it has been read to its end without damage."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings

from sage.backups.archive import DATABASE, HEAD, KEYS, OBJECTS, REPORT, Member, read_archive
from sage.backups.errors import ArchiveDamaged, BackupError
from sage.backups.objects import owner_of

FORMAT = 1
KEY_MEMBER = f"{KEYS}second_factor"
_MAX_KEYS_BYTES = 10_000


@dataclass(kw_only=True)
class Contents:
    """What there is in an archive."""

    sage: str
    taken_at: datetime
    postgres: int
    has_vectors: bool
    migrations: list[tuple[str, str]]
    database_bytes: int = 0
    objects: int = 0
    object_bytes: int = 0
    second_factor_keys: list[str] = field(default_factory=list)
    damaged: int = 0
    gone: int = 0
    has_objects: bool = True
    is_plain: bool = False


@contextmanager
def opened(path: Path, *, is_plain: bool = False) -> Iterator[Iterator[Member]]:
    """Give the members of an archive, which is encrypted if there is a key, unless it may be plain.

    Raises `BackupError`, from reading them, too.
    """
    try:
        with path.open("rb") as file:
            yield read_archive(file, key=None if is_plain else settings.SAGE_BACKUP_KEY)
    except OSError as error:
        raise BackupError(f"{path} can't be read ({error.strerror}).") from error


def examine(path: Path, *, is_plain: bool = False) -> Contents:
    """Read an archive to its end, and return what it holds. Raises `BackupError`; changes nothing."""
    with opened(path, is_plain=is_plain) as members:
        first = next(members, None)
        if first is None or first.name != HEAD:
            raise _foreign()
        contents = _read_head(first.json())
        contents.is_plain = is_plain
        for member in members:
            _count(contents, member)
    if not (contents.database_bytes and contents.second_factor_keys):
        raise _foreign()
    return contents


def _read_head(values: Mapping[str, Any]) -> Contents:
    if values.get("format") != FORMAT:
        raise BackupError("The archive has a format of another version of Sage.")
    try:
        return Contents(
            sage=str(values["sage"]),
            taken_at=_moment(values["taken_at"]),
            postgres=int(values["postgres"]),
            has_vectors=bool(values["has_vectors"]),
            migrations=[(str(app), str(name)) for app, name in values["migrations"]],
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        raise _foreign() from None


def _count(contents: Contents, member: Member) -> None:
    if member.name.startswith(DATABASE):
        contents.database_bytes += member.size
    elif member.name == KEY_MEMBER and member.size <= _MAX_KEYS_BYTES:
        contents.second_factor_keys = _fernet_keys(b"".join(member.pieces()).decode("ascii", "replace"))
    elif member.name.startswith(OBJECTS):
        owner_of(member.name.removeprefix(OBJECTS))
        contents.objects += 1
        contents.object_bytes += member.size
    elif member.name == REPORT:
        values = member.json()
        contents.has_objects = values.get("has_objects") is not False
        contents.damaged, contents.gone = _number(values.get("damaged")), _number(values.get("gone"))
    else:
        raise _foreign()


def _moment(text: str) -> datetime:
    """Return a moment in UTC. Raises `TypeError` and `ValueError`."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return moment.astimezone(UTC)


def _fernet_keys(text: str) -> list[str]:
    keys = text.split()
    try:
        for key in keys:
            Fernet(key)
    except ValueError:
        raise _foreign() from None
    return keys


def _number(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise _foreign()
    return value


def _foreign() -> ArchiveDamaged:
    return ArchiveDamaged("The archive is damaged, or Sage didn't make it.")
