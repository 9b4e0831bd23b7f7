"""How an import ends before everything is stored: it can't go on, its process is lost, or it is cancelled."""

import structlog
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.files.objects import erase_object_now
from coaching.legacy.one_at_a_time import only_import_of
from coaching.models import Import, ImportState
from sessions_app.errors import Refused

logger = structlog.get_logger(__name__)

BROKEN_OFF = gettext_noop("An error stopped it. Import the same file again to continue where it stopped.")
UNDO_BROKEN_OFF = gettext_noop(
    "An error stopped the undo. Undo the import again to continue where it stopped."
)
OVER = gettext_noop("This import has already ended.")


def fail(row: Import, why: str) -> None:
    """End an import that can't go on."""
    row.state, row.failure, row.ended_at, row.is_cancelling = ImportState.FAILED, why, timezone.now(), False
    row.save(update_fields=["state", "failure", "ended_at", "is_cancelling"])
    logger.warning("import_failed", import_id=row.pk, user_id=row.user_id)
    forget_upload(row)


def break_off(row: Import) -> None:
    """End an import or an undo that has lost its process."""
    if row.is_cancelling:
        end_cancelled(row)
    else:
        fail(row, UNDO_BROKEN_OFF if row.state == ImportState.UNDOING else BROKEN_OFF)


def cancel(*, user_id: int, import_id: int) -> None:
    """Cancel an import: now if it waits, within a second if it runs. What is stored stays.

    Raises `Refused` if it has ended or is being undone, `Import.DoesNotExist`.
    """
    with transaction.atomic():
        row = Import.of(user_id).select_for_update().get(pk=import_id)
        if row.state not in (ImportState.WAITING, ImportState.RUNNING):
            raise Refused(OVER)
        row.is_cancelling = True
        row.save(update_fields=["is_cancelling"])
    try:
        with only_import_of(user_id):
            row.refresh_from_db()
            if row.is_cancelling:
                end_cancelled(row)
    except Refused:
        return  # the process that runs it sees it


def end_cancelled(row: Import) -> None:
    """End an import that its person has cancelled. The caller holds the lock."""
    row.state, row.ended_at, row.is_cancelling = ImportState.CANCELLED, timezone.now(), False
    row.save(update_fields=["state", "ended_at", "is_cancelling"])
    logger.info("import_cancelled", import_id=row.pk, user_id=row.user_id)
    forget_upload(row)


def forget_upload(row: Import) -> None:
    """Delete the stored file of an import that has ended."""
    if row.storage_key:
        key, row.storage_key = row.storage_key, ""
        row.save(update_fields=["storage_key"])
        erase_object_now(key)
