"""A person's files for programs: reading, new notes, and new versions, never over a newer one.

A private file looks missing, whatever a program wants with it.
"""

from django.http import HttpRequest
from django.utils import timezone

from coaching.api.keys import client_id_of
from coaching.api.requests import caller_of, page, zone_of
from coaching.api.values import (
    File,
    FileEdit,
    FileVersion,
    FileWithText,
    Limit,
    NewNote,
    Offset,
    Page,
    WrittenFile,
)
from coaching.files.edits import build_edit, editable_of
from coaching.files.errors import FileMoved
from coaching.files.organising import create_note
from coaching.files.selectors import FileText, read_file, read_versions
from coaching.files.store import store_edit
from coaching.models import PRIVATE_TYPES, FileType, UserFile, is_private
from coaching.programs.callers import Caller
from coaching.transcript.names import name_of
from coaching.views.capture_cards import note_words


def list_files(
    request: HttpRequest, kind: FileType | None = None, limit: Limit = 50, offset: Offset = 0
) -> Page[File]:
    """List files, the last changed first; of one type, if it is named."""
    files = UserFile.of(caller_of(request).user_id).exclude(file_type__in=PRIVATE_TYPES)
    files = files.filter(version_number__gt=0, **({"file_type": kind} if kind else {}))
    shown = files.order_by("-updated_at", "-id")[offset : offset + limit]
    return Page(items=[_file(request, file) for file in shown], total=files.count())


def add_note(request: HttpRequest, given: NewNote) -> File:
    """Add a note as a new file. Sent again with the same `Idempotency-Key`, it is stored once."""
    caller = caller_of(request)
    made = create_note(
        user_id=caller.user_id,
        title=given.title,
        content=given.text,
        now=timezone.now(),
        timezone=zone_of(caller),
        client_id=client_id_of(request, caller),
        program=caller.name,
    )
    made.refresh_from_db()
    # The title as it was sent: what the person calls it now needs the scope `read`.
    return _file(request, made).model_copy(update={"title": given.title})


def get_file(request: HttpRequest, path: str) -> FileWithText:
    """Return a file with its newest text."""
    return _with_text(request, _read(caller_of(request), path))


def write_file(request: HttpRequest, path: str, given: FileEdit) -> WrittenFile:
    """Write a new version of a file, with the name of the program; the person can undo it.

    Sent again with the same `Idempotency-Key`, it is written once, also where there is a newer version by
    then.
    """
    caller = caller_of(request)
    newest = _read(caller, path)
    key = client_id_of(request, caller) or ""
    if _is_written(newest, given, key):
        return _written(request, _read(caller, path, given.version + 1))
    if newest.version.number != given.version:
        raise FileMoved
    attributes = editable_of(newest).attributes
    draft = build_edit(
        newest, body=given.text, attributes=attributes, now=timezone.now(), timezone=zone_of(caller)
    )
    if draft.text != newest.text:
        try:
            stored = store_edit(
                user_id=caller.user_id,
                draft=draft,
                expected_version=given.version,
                tool_use_id=key,
                program=caller.name,
            )
        except FileMoved:  # perhaps by the same request, sent twice at once
            if not _is_written(newest, given, key):
                raise
            return _written(request, _read(caller, path, given.version + 1))
        if newest.file.file_type == FileType.CAPTURE:
            note_words(
                user_id=caller.user_id, file_id=stored.file_id, version=stored.version, text=given.text
            )
    return _written(request, _read(caller, path))


def list_versions(
    request: HttpRequest, path: str, limit: Limit = 50, offset: Offset = 0
) -> Page[FileVersion]:
    """List the versions of a file, the newest first, without their texts."""
    caller = caller_of(request)
    newest = _read(caller, path)
    rows = read_versions(user_id=caller.user_id, path=path, offset=offset, limit=limit)
    items = [
        FileVersion(
            version=row.number,
            size=row.size,
            source=row.source,
            program=row.program,
            created_at=row.created_at,
        )
        for row in rows
    ]
    return Page(items=items, total=newest.file.version_number)


def get_version(request: HttpRequest, path: str, version: int) -> FileWithText:
    """Return an earlier version of a file with its text."""
    return _with_text(request, _read(caller_of(request), path, version))


def _read(caller: Caller, path: str, number: int | None = None) -> FileText:
    """Return a file at a version. Raises `DoesNotExist`, also for a private one."""
    found = read_file(user_id=caller.user_id, path=path, number=number)
    if is_private(found.file.file_type):
        raise UserFile.DoesNotExist
    return found


def _is_written(newest: FileText, given: FileEdit, key: str) -> bool:
    """Return whether the request with a key has written its version before."""
    return bool(key) and newest.file.versions.filter(number=given.version + 1, tool_use_id=key).exists()


def _written(request: HttpRequest, found: FileText) -> WrittenFile:
    return WrittenFile(
        path=found.file.path,
        version=found.version.number,
        updated_at=found.written_at,
        page=page(request, "file", found.file.path),
    )


def _file(request: HttpRequest, file: UserFile) -> File:
    return File(
        path=file.path,
        type=FileType(file.file_type),
        title=name_of(file),
        version=file.version_number,
        size=file.size,
        updated_at=file.updated_at,
        page=page(request, "file", file.path),
    )


def _with_text(request: HttpRequest, found: FileText) -> FileWithText:
    shown = _file(request, found.file).model_dump()
    shown |= {"version": found.version.number, "size": found.version.size, "updated_at": found.written_at}
    return FileWithText(**shown, text=found.text)
