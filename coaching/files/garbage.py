"""Deletes objects without a row that are too old for a write still in progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

import structlog
from django.core.files.storage import storages

from coaching.files.keys import keyed_models
from coaching.files.objects import OBJECTS_PREFIX, STORAGE_ERRORS, ObjectStorage
from sessions_app.database import give_back_connections

logger = structlog.get_logger(__name__)

MIN_AGE = timedelta(hours=1)
BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class GarbageReport:
    """How many objects were checked, removed, and couldn't be removed."""

    seen: int
    removed: int
    failed: int


def collect_garbage(*, now: datetime) -> GarbageReport:
    """Delete old objects without a row. Blocks. Raises `STORAGE_ERRORS` if they can't be listed."""
    storage = storages["default"]
    if not isinstance(storage, ObjectStorage):
        raise TypeError(f"{type(storage).__name__} can't list its objects")
    seen = removed = failed = 0
    listed = storage.list_objects(OBJECTS_PREFIX)
    while batch := list(islice(listed, BATCH)):
        seen += len(batch)
        # Query the rows after the listing, so that a row committed meanwhile is found.
        orphans = _read_keys_without_row([entry.key for entry in batch if now - entry.modified_at > MIN_AGE])
        for key in orphans:
            try:
                storage.delete(key)
                removed += 1
            except STORAGE_ERRORS as error:
                failed += 1
                logger.warning("object_not_removed", key=key, error=type(error).__name__)
    return GarbageReport(seen=seen, removed=removed, failed=failed)


def _read_keys_without_row(keys: Sequence[str]) -> list[str]:
    named: set[str] = set()
    for model in keyed_models():
        named.update(model.unscoped.filter(storage_key__in=keys).values_list("storage_key", flat=True))
    give_back_connections()  # the storage is queried next
    return [key for key in keys if key not in named]
