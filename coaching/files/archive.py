"""The entries of a file archive. `zip_stream` creates and sends it."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from django.db.models import QuerySet

from coaching.downloads.zip_stream import Entry
from coaching.models import UserFileVersion

BATCH = 20
OLD_VERSIONS = "old-versions"
DELETED = "deleted-files"


def read_file_entries(
    *, user_id: int, has_versions: bool, chosen: Collection[int] | None = None
) -> Iterator[Entry]:
    """Yield the user's files, with `has_versions` the older ones, in batches. Sync ORM code.

    `chosen` are the ids of files; without it, all.
    """
    versions = UserFileVersion.of(user_id)
    if chosen is not None:
        versions = versions.filter(file_id__in=chosen)
    ids = versions if has_versions else versions.distinct("file__path")
    yield from _entries(versions, ids.order_by("file__path", "-number"))


def read_deleted_entries(*, user_id: int) -> Iterator[Entry]:
    """Yield the files that the user deleted and can still restore, at their newest version."""
    versions = UserFileVersion.deleted_of(user_id)
    newest = versions.distinct("file_id").order_by("file_id", "-number")
    for number, entry in enumerate(_entries(versions, newest), start=1):
        yield replace(entry, path=f"{DELETED}/{number}/{entry.path}")  # several may have had one path


def _entries(versions: QuerySet[UserFileVersion], ordered: QuerySet[UserFileVersion]) -> Iterator[Entry]:
    seen: set[int] = set()
    ids = list(ordered.values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        found = versions.select_related("file").in_bulk(batch)
        for version in (found[pk] for pk in batch if pk in found):
            # A file's versions are consecutive, newest first.
            path = _old_path(version) if version.file_id in seen else version.file.path
            seen.add(version.file_id)
            yield Entry(path=path, changed_at=version.created_at, pieces=[version.content])


def _old_path(version: UserFileVersion) -> str:
    return f"{OLD_VERSIONS}/{version.file.path.removesuffix('.md')}/{version.number}.md"
