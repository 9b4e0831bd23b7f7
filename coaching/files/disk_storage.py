"""Objects on disk: Django's storage with durable writes."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage
from django.utils.deconstruct import deconstructible

from coaching.files.objects import ListedObject

ERASED_AT_ONCE = 1000
ERASE_PASSES = 5


@deconstructible
class DiskObjectStorage(FileSystemStorage):
    """Flushes file and folder before it confirms; leaves no partial object on a full disk."""

    def _save(self, name: str, content: "File[bytes]") -> str:
        try:
            saved_as: str = super()._save(name, content)  # type: ignore[misc]  # unknown to the stubs
            _flush(Path(self.path(saved_as)))
        except OSError:
            with suppress(OSError):
                Path(self.path(name)).unlink(missing_ok=True)
            raise
        return saved_as

    def list_objects(self, prefix: str) -> Iterator[ListedObject]:
        root = Path(self.path(""))
        for folder, _, names in os.walk(root / prefix):
            for name in names:
                path = Path(folder, name)
                with suppress(FileNotFoundError):
                    modified_at = datetime.fromtimestamp(path.lstat().st_mtime, tz=UTC)
                    yield ListedObject(key=path.relative_to(root).as_posix(), modified_at=modified_at)

    def erase(self, prefix: str) -> Iterator[int]:
        """Delete the folder `prefix` and its objects; yield their number in batches.

        Others may write or delete there meanwhile: missing objects are no error, and a folder that isn't
        empty afterwards is deleted again, a few times.
        """
        root = Path(self.path(prefix))
        if root.is_symlink():
            raise OSError("a folder of objects is a link")
        for _ in range(ERASE_PASSES):
            removed = 0
            for folder, folders, names in os.walk(root, topdown=False, onerror=_raise_unless_missing):
                for name in [*names, *(name for name in folders if Path(folder, name).is_symlink())]:
                    removed += _is_removed(Path.unlink, Path(folder, name))
                    if removed == ERASED_AT_ONCE:
                        yield removed
                        removed = 0
                _is_removed(Path.rmdir, Path(folder))
            yield removed
            if not root.exists():
                return
        raise OSError(errno.ENOTEMPTY, "objects are written as fast as they are erased")


def _is_removed(remove: Callable[[Path], None], path: Path) -> bool:
    """Remove a file, or a folder that is still empty; return whether it existed."""
    try:
        remove(path)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
            raise
        return False
    return True


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _flush(path: Path) -> None:
    for flushed in (path, path.parent, path.parent.parent):
        descriptor = os.open(flushed, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
