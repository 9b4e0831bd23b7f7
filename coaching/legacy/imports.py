"""Imports from their beginning to their end, by command or by upload, and one at a time for each person.

An upload is stored as an object until its job has read it. A killed import goes on when its job, or the
command with the same file, runs again.
"""

from collections.abc import Generator, Iterator, Sequence
from pathlib import PurePath
from typing import BinaryIO, cast

import structlog
from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.files.objects import erase_object_now, open_object, store_upload_now
from coaching.job_queue import BULK_QUEUE, JobPriority, enqueue, is_queued
from coaching.legacy.importers.formats import find_adapter
from coaching.legacy.importers.source import Source, open_source, sha256_of
from coaching.legacy.importers.things import Adapter, NotImportable
from coaching.legacy.one_at_a_time import BUSY, only_import_of
from coaching.legacy.running import import_steps
from coaching.legacy.storing import Target
from coaching.legacy.tally import Tally
from coaching.legacy.undoing import undo_steps
from coaching.models import Import, ImportState, Profile
from coaching.models.imports import UNFINISHED_IMPORTS
from sessions_app.database import give_back_connections
from sessions_app.errors import Refused

logger = structlog.get_logger(__name__)

IMPORT_JOB = "import_upload"
SHOWN = 20
BROKEN_OFF = gettext_noop("An error stopped it. Import the same file again to continue where it stopped.")
UNDO_BROKEN_OFF = gettext_noop(
    "An error stopped the undo. Undo the import again to continue where it stopped."
)
NOT_UNDOABLE = gettext_noop("This import can no longer be undone.")


def queue_upload(*, user_id: int, name: str, file: "File[bytes]") -> Import:
    """Store an uploaded export and queue its import. Blocks. Raises `Refused`, `StorageFailed`.

    The same file again goes on with its first import, if that hasn't ended.
    """
    settle(user_id)
    give_back_connections()
    digest = sha256_of(cast("BinaryIO", file))
    if unfinished := _unfinished(user_id):
        return _same_file(unfinished, digest)
    key = store_upload_now(user_id=user_id, file=file)
    try:
        with transaction.atomic():
            row = _broken_off(user_id, digest) or Import(user_id=user_id, sha256=digest)
            row.state, row.failure, row.ended_at = ImportState.WAITING, "", None
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
    """Return the person's imports, the newest first."""
    return list(Import.of(user_id).order_by("-created_at")[:SHOWN])


def accessible_import(*, user_id: int, import_id: int) -> Import:
    """Return the person's import. Raises `Import.DoesNotExist`, also for another's."""
    return Import.of(user_id).get(pk=import_id)


@transaction.atomic
def begin_undo(*, user_id: int, import_id: int) -> Import:
    """Queue the undo of an import that has ended. Raises `Refused`, `Import.DoesNotExist`."""
    row = Import.of(user_id).select_for_update().get(pk=import_id)
    if row.state not in (ImportState.FINISHED, ImportState.FAILED):
        raise Refused(NOT_UNDOABLE)
    row.state = ImportState.UNDOING
    try:
        with transaction.atomic():
            row.save(update_fields=["state"])
    except IntegrityError as error:
        raise Refused(BUSY) from error
    _enqueue(row)
    return row


def take_up(*, user_id: int, name: str, source: Source, adapter: Adapter) -> Import:
    """Begin an import, or return the one of the same file that was killed. The caller holds the lock.

    Raises `Refused` where an upload waits.
    """
    digest = source.sha256()
    unfinished = _unfinished(user_id)
    if unfinished is not None:
        if unfinished.storage_key or unfinished.state == ImportState.UNDOING:
            if is_queued(_key(unfinished)):
                raise Refused(BUSY)
        elif unfinished.sha256 == digest:
            return unfinished
        _break_off(unfinished)
    stopped = _broken_off(user_id, digest)
    if stopped is not None:
        stopped.state, stopped.failure, stopped.ended_at = ImportState.RUNNING, "", None
        stopped.save(update_fields=["state", "failure", "ended_at"])
        return stopped
    return Import.of(user_id).create(
        state=ImportState.RUNNING,
        file_name=name_of(name),
        file_format=adapter.format,
        size=source.size,
        sha256=digest,
    )


def dry_run_steps(*, user_id: int, source: Source, adapter: Adapter, tally: Tally) -> Iterator[None]:
    """Count what an import would do. Raises `NotImportable`."""
    yield from import_steps(_target(user_id, None), source, adapter, tally)


def run_steps(row: Import, source: Source, adapter: Adapter, tally: Tally) -> Iterator[None]:
    """Run an import to its end. Raises `NotImportable`, after which it counts as failed, `StorageFailed`."""
    try:
        yield from import_steps(_target(row.user_id, row), source, adapter, tally)
    except NotImportable as error:
        fail(row, error.sentence)
        raise
    row.state, row.ended_at = ImportState.FINISHED, timezone.now()
    row.save(update_fields=["state", "ended_at", *tally.put_into(row)])
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
    _forget_upload(row)


def settle(user_id: int) -> None:
    """Mark an import as failed that has neither a job nor a process."""
    row = _unfinished(user_id)
    if row is None or is_queued(_key(row)):
        return
    try:
        with only_import_of(user_id):
            row.refresh_from_db()
            if row.is_unfinished and not is_queued(_key(row)):
                _break_off(row)
    except Refused:
        return


def settle_all() -> None:
    """Settle everybody's imports, so that no upload outlasts its job."""
    unfinished = Import.unscoped.filter(state__in=UNFINISHED_IMPORTS)
    for user_id in list(unfinished.values_list("user_id", flat=True)):
        settle(user_id)


def fail(row: Import, why: str) -> None:
    """End an import that can't go on."""
    row.state, row.failure, row.ended_at = ImportState.FAILED, why, timezone.now()
    row.save(update_fields=["state", "failure", "ended_at"])
    logger.warning("import_failed", import_id=row.pk, user_id=row.user_id)
    _forget_upload(row)


def _break_off(row: Import) -> None:
    fail(row, UNDO_BROKEN_OFF if row.state == ImportState.UNDOING else BROKEN_OFF)


def name_of(name: str) -> str:
    """Return a file's name as it may be shown."""
    shown = "".join(character for character in PurePath(name).name if character.isprintable())
    return shown.strip()[:255] or "export"


def _unfinished(user_id: int) -> Import | None:
    return Import.of(user_id).filter(state__in=UNFINISHED_IMPORTS).first()


def _same_file(unfinished: Import, digest: str) -> Import:
    """Return the unfinished import, if it is of the file with this hash. Raises `Refused` if it isn't."""
    if unfinished.sha256 != digest or unfinished.state == ImportState.UNDOING:
        raise Refused(BUSY)
    return unfinished


def _broken_off(user_id: int, digest: str) -> Import | None:
    """Return the import of this file that an error has stopped."""
    stopped = Import.of(user_id).filter(state=ImportState.FAILED, sha256=digest, failure=BROKEN_OFF)
    return stopped.order_by("-created_at").first()


def _upload_steps(row: Import, file: BinaryIO) -> Iterator[None]:
    try:
        source = open_source(file)
        adapter = find_adapter(source)
        row.state, row.file_format = ImportState.RUNNING, adapter.format
        row.save(update_fields=["state", "file_format"])
        yield
    except NotImportable as error:
        fail(row, error.sentence)
        return
    try:
        yield from run_steps(row, source, adapter, Tally())
    except NotImportable:
        return  # it has been marked


def _forget_upload(row: Import) -> None:
    if row.storage_key:
        key, row.storage_key = row.storage_key, ""
        row.save(update_fields=["storage_key"])
        erase_object_now(key)


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
