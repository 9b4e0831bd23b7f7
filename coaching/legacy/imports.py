"""Imports from their beginning to their end, by command or by upload, and one at a time for each person.

An upload is stored as an object until its job has read it. An import that lost its process goes on when its
job, or the command with the same file, runs again; one whose file can't be read ends for good.
"""

import hashlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO, cast

import structlog
from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.files.objects import erase_object_now, open_object, store_upload_now
from coaching.job_queue.names import BULK_QUEUE, IMPORT_JOB, JobPriority
from coaching.job_queue.queue import enqueue, is_queued
from coaching.legacy.about import propose
from coaching.legacy.endings import BROKEN_OFF, break_off, end_cancelled, fail, forget_upload
from coaching.legacy.importers.things import NotImportable
from coaching.legacy.one_at_a_time import BUSY, only_import_of
from coaching.legacy.reading import Checked, check_steps
from coaching.legacy.running import import_steps
from coaching.legacy.storing import Target
from coaching.legacy.tally import Tally
from coaching.legacy.undoing import undo_steps
from coaching.legacy.watching import Cancelled, RowWatch
from coaching.models import Document, DocumentState, Import, ImportState, Profile
from coaching.models.imports import UNDOABLE_IMPORTS, UNFINISHED_IMPORTS
from sessions_app.database import give_back_connections
from sessions_app.errors import Refused

logger = structlog.get_logger(__name__)

SHOWN = 20
HASH_BYTES = 1 << 20
NOT_UNDOABLE = gettext_noop("This import can no longer be undone.")


def queue_upload(*, user_id: int, name: str, file: "File[bytes]") -> Import:
    """Store an uploaded export and queue its import. Blocks. Raises `Refused`, `StorageFailed`.

    The same file again goes on with its first import, if that hasn't ended or was stopped.
    """
    settle(user_id)
    give_back_connections()
    digest = sha256_of(cast("BinaryIO", file))
    if unfinished := _unfinished(user_id):
        return _same_file(unfinished, digest)
    key = store_upload_now(user_id=user_id, file=file)
    try:
        with transaction.atomic():
            row = _stopped(user_id, digest) or Import(user_id=user_id, sha256=digest)
            row.state, row.failure, row.ended_at = ImportState.WAITING, "", None
            row.checked_percent, row.stuck_seconds = 0, 0
            row.file_name, row.size, row.storage_key = name_of(name), file.size or 0, key
            row.save()
            _enqueue(row)
    except IntegrityError as error:
        erase_object_now(key)
        if unfinished := _unfinished(user_id):
            return _same_file(unfinished, digest)
        raise Refused(BUSY) from error
    return row


def imports_of(user_id: int) -> Sequence[Import]:
    """Return the person's imports, the newest first; of older ones, those with documents left to read."""
    newest = Import.of(user_id).order_by("-created_at").values("pk")[:SHOWN]
    unread = Document.of(user_id).filter(state=DocumentState.UNREAD, is_withheld=False)
    rows = Import.of(user_id).filter(Q(pk__in=newest) | Q(pk__in=unread.values("made_by_import")))
    return list(rows.order_by("-created_at"))


def accessible_import(*, user_id: int, import_id: int) -> Import:
    """Return the person's import. Raises `Import.DoesNotExist`, also for another's."""
    return Import.of(user_id).get(pk=import_id)


@transaction.atomic
def begin_undo(*, user_id: int, import_id: int) -> Import:
    """Queue the undo of an import that has ended. Raises `Refused`, `Import.DoesNotExist`."""
    row = Import.of(user_id).select_for_update().get(pk=import_id)
    if row.state not in UNDOABLE_IMPORTS:
        raise Refused(NOT_UNDOABLE)
    row.state = ImportState.UNDOING
    try:
        with transaction.atomic():
            row.save(update_fields=["state"])
    except IntegrityError as error:
        raise Refused(BUSY) from error
    _enqueue(row)
    return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    file: BinaryIO
    name: str
    size: int


def take_up(*, user_id: int, export: Export, checked: Checked) -> Import:
    """Begin an import, or return the one of the same file that was killed. The caller holds the lock.

    Raises `Refused` where an upload waits.
    """
    digest = sha256_of(export.file)
    unfinished = _unfinished(user_id)
    if unfinished is not None:
        if unfinished.storage_key or unfinished.state == ImportState.UNDOING:
            if is_queued(_key(unfinished)):
                raise Refused(BUSY)
        elif unfinished.sha256 == digest:
            return unfinished
        break_off(unfinished)
    stopped = _stopped(user_id, digest)
    if stopped is not None:
        stopped.state, stopped.failure, stopped.ended_at = ImportState.RUNNING, "", None
        stopped.stuck_seconds = 0
        stopped.save(update_fields=["state", "failure", "ended_at", "stuck_seconds"])
        return stopped
    return Import.of(user_id).create(
        state=ImportState.RUNNING,
        file_name=name_of(export.name),
        file_format=checked.format,
        size=export.size,
        sha256=digest,
    )


def dry_run_steps(*, user_id: int, export: Export, checked: Checked, tally: Tally) -> Iterator[None]:
    """Count what an import would do. Raises `NotImportable`."""
    yield from import_steps(_target(user_id, None), export.file, checked, tally, RowWatch(None))


def run_steps(
    row: Import, file: BinaryIO, checked: Checked, tally: Tally, *, watch: RowWatch | None = None
) -> Iterator[None]:
    """Run an import to its end.

    Raises `NotImportable`, after which it counts as failed, `Cancelled`, `StorageFailed`.
    """
    earlier = row.counts
    try:
        yield from import_steps(_target(row.user_id, row), file, checked, tally, watch or RowWatch(row))
    except (NotImportable, Cancelled) as error:
        tally.keep_more(earlier)
        row.save(update_fields=tally.put_into(row))
        if isinstance(error, NotImportable):
            fail(row, error.sentence)
        else:
            end_cancelled(row)
        raise
    row.state, row.ended_at, row.is_cancelling = ImportState.FINISHED, timezone.now(), False
    propose(row, tally.notes)
    row.save(update_fields=["state", "ended_at", "is_cancelling", "about", *tally.put_into(row)])
    logger.info("import_finished", import_id=row.pk, user_id=row.user_id, **tally.counts())


def job_steps(import_id: int) -> Generator[None, None, None]:
    """Do what is to be done for an import: store an upload, or undo. Sync; yields between transactions.

    Raises `Refused` while another import of the person runs, `StorageFailed`.
    """
    row = Import.unscoped.filter(pk=import_id, state__in=UNFINISHED_IMPORTS).first()
    if row is None:
        return
    with only_import_of(row.user_id):
        if row.state == ImportState.UNDOING:
            yield from undo_steps(row)
        else:
            with open_object(row.storage_key) as file:
                yield from _upload_steps(row, file)
    forget_upload(row)


def settle(user_id: int) -> None:
    """Mark an import as failed that has neither a job nor a process."""
    row = _unfinished(user_id)
    if row is None or is_queued(_key(row)):
        return
    try:
        with only_import_of(user_id):
            row.refresh_from_db()
            if row.is_unfinished and not is_queued(_key(row)):
                break_off(row)
    except Refused:
        return


def settle_all() -> None:
    """Settle everybody's imports, so that no upload outlasts its job."""
    unfinished = Import.unscoped.filter(state__in=UNFINISHED_IMPORTS)
    for user_id in list(unfinished.values_list("user_id", flat=True)):
        settle(user_id)


def name_of(name: str) -> str:
    shown = "".join(character for character in PurePath(name).name if character.isprintable())
    return shown.strip()[:255] or "export"


def _unfinished(user_id: int) -> Import | None:
    return Import.of(user_id).filter(state__in=UNFINISHED_IMPORTS).first()


def _same_file(unfinished: Import, digest: str) -> Import:
    """Return the unfinished import, if it is of the file with this hash. Raises `Refused` if it isn't."""
    if unfinished.sha256 != digest or unfinished.state == ImportState.UNDOING:
        raise Refused(BUSY)
    return unfinished


def _stopped(user_id: int, digest: str) -> Import | None:
    """Return the import of this file that an error has stopped, or its person."""
    is_stopped = Q(state=ImportState.FAILED, failure=BROKEN_OFF) | Q(state=ImportState.CANCELLED)
    return Import.of(user_id).filter(is_stopped, sha256=digest).order_by("-created_at").first()


def sha256_of(file: BinaryIO) -> str:
    """Return the hash of a seekable file, and leave it at its beginning."""
    file.seek(0)
    found = hashlib.sha256()
    while block := file.read(HASH_BYTES):
        found.update(block)
    file.seek(0)
    return found.hexdigest()


def _upload_steps(row: Import, file: BinaryIO) -> Iterator[None]:
    """Check and store an upload, or end its import."""
    watch = RowWatch(row)
    row.state, row.checked_percent = ImportState.RUNNING, 0
    row.save(update_fields=["state", "checked_percent"])
    try:
        for checked in check_steps(file, watch):
            yield
            if checked is not None:
                break
        else:
            raise AssertionError("a check ends with what it has found")
    except NotImportable as error:
        fail(row, error.sentence)
        return
    except Cancelled:
        end_cancelled(row)
        return
    row.file_format = checked.format
    row.save(update_fields=["file_format"])
    try:
        yield from run_steps(row, file, checked, Tally(), watch=watch)
    except (NotImportable, Cancelled):
        return  # it has been marked


def _enqueue(row: Import) -> None:
    enqueue(
        IMPORT_JOB,
        key=_key(row),
        lock=f"imports:{row.user_id}",
        queue=BULK_QUEUE,
        priority=JobPriority.ORDINARY,
        import_id=row.pk,
    )


def _key(row: Import) -> str:
    return f"import:{row.pk}"


def _target(user_id: int, row: Import | None) -> Target:
    profile = Profile.of(user_id).first() or Profile(user_id=user_id)
    return Target(user_id=user_id, row=row, timezone=profile.zone, now=timezone.now())
