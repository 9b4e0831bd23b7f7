"""The entries of a file archive. `zip_stream` creates and sends it."""

from collections.abc import Iterator, Sequence

from coaching.downloads.zip_stream import Entry
from coaching.models import UserFileVersion

BATCH = 20
OLD_VERSIONS = "old-versions"


def read_file_entries(*, user_id: int, has_versions: bool) -> Iterator[Entry]:
    """Yield the user's files, with `has_versions` the older ones, in batches. Sync ORM code."""
    seen: set[int] = set()
    ids = _read_version_ids(user_id, has_versions=has_versions)
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        versions = UserFileVersion.of(user_id).select_related("file")
        found = versions.in_bulk(batch)
        for version in (found[pk] for pk in batch if pk in found):
            # A file's versions are consecutive, newest first.
            path = _old_path(version) if version.file_id in seen else version.file.path
            seen.add(version.file_id)
            yield Entry(path=path, changed_at=version.created_at, pieces=[version.content])


def _read_version_ids(user_id: int, *, has_versions: bool) -> Sequence[int]:
    versions = UserFileVersion.of(user_id)
    if not has_versions:
        versions = versions.distinct("file__path")
    return list(versions.order_by("file__path", "-number").values_list("pk", flat=True))


def _old_path(version: UserFileVersion) -> str:
    return f"{OLD_VERSIONS}/{version.file.path.removesuffix('.md')}/{version.number}.md"
