"""The versioned store: the only writer of files.

An object is stored first, outside any transaction and off the event loop; then one transaction locks the
file's row, appends the version and applies its side effects. After a failure the previous version is intact,
and an object without a row is collected later. A write based on a known version names it, and is refused if
that isn't the newest any more. The caller checks permissions.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone as clock
from django.utils.translation import gettext_noop

from coaching.files.after_effects import Write, apply_after_effects
from coaching.files.drafts import FileDraft
from coaching.files.edits import build_restore
from coaching.files.errors import FileMoved, FileRefused
from coaching.files.objects import StoredObject, store_object, store_object_now
from coaching.files.quota import check_room, lock_usage, refuse_when_full
from coaching.files.saves import prepare_save
from coaching.files.selectors import FileText, read_file
from coaching.files.types import AttributeName
from coaching.models import FileSource, UserFile
from sessions_app.database import in_database

T = TypeVar("T")

MAX_SUFFIX = 1000
MAX_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A stored file, its size in bytes. Equal bytes make no new version. `unwritten` as in `FileDraft`."""

    file_id: int
    path: str
    size: int
    version: int
    is_new_version: bool
    unwritten: tuple[AttributeName, ...] = ()


async def save_file(
    *,
    user_id: int,
    draft: FileDraft,
    source: FileSource,
    session_id: UUID | None,
    tool_use_id: str,
    commit: Callable[[Callable[[], StoredFile]], Awaitable[T]],
) -> T:
    """Store a draft over the newest version, in `commit`. Raises `StorageFailed` and `FileRefused`."""
    for _ in range(MAX_TRIES):
        merged = await in_database(prepare_save, user_id=user_id, draft=draft)
        stored = await store_object(user_id=user_id, data=merged.data)
        write = partial(
            store_version,
            user_id=user_id,
            draft=merged,
            stored=stored,
            source=source,
            session_id=session_id,
            tool_use_id=tool_use_id,
        )
        try:
            return await commit(write)
        except FileMoved:
            continue  # Somebody was faster: merge with their text.
    raise FileRefused(
        gettext_noop("This file is being changed by others right now, so nothing was saved. Try again.")
    )


def store_edit(
    *, user_id: int, draft: FileDraft, expected_version: int, tool_use_id: str = "", program: str = ""
) -> StoredFile:
    """Store the user's text outside a transaction, or that of a program of theirs, by its name.

    Blocks. Raises `FileMoved` and `StorageFailed`.
    """
    stored = _stored_object(user_id, draft)
    return store_version(
        user_id=user_id,
        draft=replace(draft, expected_version=expected_version),
        stored=stored,
        source=FileSource.USER,
        tool_use_id=tool_use_id,
        program=program,
    )


def store_below_newest(*, user_id: int, draft: FileDraft, newest: FileText) -> StoredFile:
    """Store the user's text below the newest version, without side effects; see `store_edit`."""
    again = build_restore(newest, newest, now=draft.now, timezone=draft.timezone)
    both = [(kept, _stored_object(user_id, kept)) for kept in (draft, again)]
    with transaction.atomic():
        usage = lock_usage(user_id)
        file = _lock_file(user_id, draft)
        check_room(usage, size=sum(stored.size for _, stored in both), is_new_file=False)
        if file.version_number != newest.version.number:
            raise FileMoved
        for kept, stored in both:
            if stored.sha256 != file.sha256:
                _append_version(file, kept, stored, source=FileSource.USER)
    return StoredFile(
        file_id=file.pk, path=file.path, size=file.size, version=file.version_number, is_new_version=True
    )


def store_imported(*, user_id: int, draft: FileDraft, mark: str) -> StoredFile:
    """Store an imported file outside a transaction; its first version gets the `mark`. Blocks.

    Raises `FileMoved` where there is a file of that path, `QuotaReached` and `StorageFailed`.
    """
    stored = _stored_object(user_id, draft)
    return store_version(
        user_id=user_id, draft=draft, stored=stored, source=FileSource.IMPORT, tool_use_id=mark
    )


def restore_version(*, user_id: int, path: str, number: int, now: datetime, timezone: ZoneInfo) -> StoredFile:
    """Store an older version's text as the newest; that of a program stays the program's.

    Blocks. Raises `StorageFailed` and `DoesNotExist`.
    """
    old = read_file(user_id=user_id, path=path, number=number)
    newest = read_file(user_id=user_id, path=path)
    draft = build_restore(old, newest, now=now, timezone=timezone)
    stored = _stored_object(user_id, draft)
    return store_version(
        user_id=user_id,
        draft=draft,
        stored=stored,
        source=FileSource.USER,
        program=old.version.program,
    )


@transaction.atomic
def store_version(
    *,
    user_id: int,
    draft: FileDraft,
    stored: StoredObject,
    source: FileSource,
    session_id: UUID | None = None,
    tool_use_id: str = "",
    program: str = "",
) -> StoredFile:
    """Append a version of a stored object, with its side effects, in one transaction.

    Bytes that equal the newest version's add none, unless their status is said again. Raises `FileRefused` if
    no path is free, `QuotaReached` if it doesn't fit, and `FileMoved` if the newest version isn't the one
    that the draft is based on.
    """
    usage = lock_usage(user_id)
    file = _lock_file(user_id, draft)
    if draft.expected_version not in (None, file.version_number) and not _still_fits(file, draft):
        raise FileMoved
    is_new_version = file.version_number == 0 or file.sha256 != stored.sha256 or draft.is_said_again
    if is_new_version:
        check_room(usage, size=stored.size, is_new_file=file.version_number == 0)
        written = {"session_id": session_id, "tool_use_id": tool_use_id, "program": program}
        _append_version(file, draft, stored, source=source, **written)
    apply_after_effects(Write(file=file, draft=draft, session_id=session_id, is_new_version=is_new_version))
    return StoredFile(
        file_id=file.pk,
        path=file.path,
        size=stored.size,
        version=file.version_number,
        is_new_version=is_new_version,
        unwritten=draft.unwritten,
    )


def _stored_object(user_id: int, draft: FileDraft) -> StoredObject:
    refuse_when_full(user_id=user_id, size=len(draft.data))
    return store_object_now(user_id=user_id, data=draft.data)


def _lock_file(user_id: int, draft: FileDraft) -> UserFile:
    for suffix in range(1, MAX_SUFFIX + 1):
        path = draft.path.text(suffix)
        # Waits for a concurrent insert of the same row, then does nothing.
        UserFile.of(user_id).bulk_create(
            [UserFile(user_id=user_id, path=path, file_type=draft.file_type)], ignore_conflicts=True
        )
        file = UserFile.of(user_id).select_for_update().get(path=path)
        if file.version_number == 0 or not draft.path.is_always_new:
            return file
    raise FileRefused(gettext_noop("Too many files were made in the same second; try again in a moment."))


def _still_fits(file: UserFile, draft: FileDraft) -> bool:
    """Return whether a save gives the same text over the newest version, despite a concurrent write."""
    is_save = draft.occasion == "written" and not draft.unwritten
    return is_save and prepare_save(user_id=file.user_id, draft=draft).text == draft.text


def _append_version(
    file: UserFile,
    draft: FileDraft,
    stored: StoredObject,
    *,
    source: FileSource,
    **written: Any,
) -> None:
    file.version_number += 1
    file.frontmatter = draft.frontmatter
    file.size = stored.size
    file.sha256 = stored.sha256
    file.updated_at = draft.now
    is_imported = draft.occasion == "imported"
    if is_imported:
        file.created_at = draft.now
    file.save(update_fields=["version_number", "frontmatter", "size", "sha256", "created_at", "updated_at"])
    file.versions.create(
        created_at=draft.now if is_imported else clock.now(),
        number=file.version_number,
        content=draft.text,
        size=stored.size,
        sha256=stored.sha256,
        storage_key=stored.key,
        source=source,
        **written,
    )
