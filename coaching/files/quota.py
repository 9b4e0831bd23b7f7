"""Storage limits per person: a number of files, documents and photos, and their bytes with all versions.

Triggers (`coaching/migrations/_quota.py`, `0060_photos.py`) count in `FileUsage`, in the transaction that
writes or deletes.
Lock order: a person's usage, then files.
"""

from django.conf import settings
from django.utils.translation import gettext_noop

from coaching.files.errors import QuotaReached
from coaching.models import FileUsage
from coaching.sandbox.limits import MEGABYTE


def lock_usage(user_id: int) -> FileUsage:
    """Return a person's usage, locked until the transaction ends."""
    usage = FileUsage.of(user_id).select_for_update().first()
    if usage is None:
        FileUsage.of(user_id).bulk_create([FileUsage(user_id=user_id)], ignore_conflicts=True)
        usage = FileUsage.of(user_id).select_for_update().get()
    return usage


def check_room(usage: FileUsage, *, size: int, is_new_file: bool, share: int = 1) -> None:
    """Raise `QuotaReached` if a version of `size` bytes doesn't fit, or not into one of `share` parts."""
    if is_new_file and usage.files * share >= settings.SAGE_MAX_FILES:
        raise QuotaReached(
            gettext_noop(
                "This account has %(files)s files and can have %(most)s, so no new one was created. Add to "
                "an existing file, or ask the person who runs this server for more space."
            ),
            files=usage.files,
            most=settings.SAGE_MAX_FILES,
        )
    if (usage.bytes + size) * share > settings.SAGE_MAX_FILES_MB * MEGABYTE:
        raise QuotaReached(
            gettext_noop(
                "This account’s files and their earlier versions take up %(used)s MB of %(most)s MB, so "
                "nothing was saved. Ask the person who runs this server for more space."
            ),
            used=usage.bytes / MEGABYTE,
            most=settings.SAGE_MAX_FILES_MB,
        )


def refuse_when_full(*, user_id: int, size: int) -> None:
    """Raise `QuotaReached` early, before bytes are stored in vain; the write itself checks again."""
    check_room(FileUsage.of(user_id).first() or FileUsage(user_id=user_id), size=size, is_new_file=False)
