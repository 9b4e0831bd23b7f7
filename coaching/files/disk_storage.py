"""Objects on disk: Django's storage, and what is confirmed survives a power cut."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage
from django.utils.deconstruct import deconstructible

from coaching.files.objects import ListedObject


@deconstructible
class DiskObjectStorage(FileSystemStorage):
    """Flushes file and folder before it confirms; leaves no half-written object on a full disk."""

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
        """Yield every object whose key starts with `prefix`, a folder. Links are not followed."""
        root = Path(self.path(""))
        for folder, _, names in os.walk(root / prefix):
            for name in names:
                path = Path(folder, name)
                with suppress(FileNotFoundError):
                    modified_at = datetime.fromtimestamp(path.lstat().st_mtime, tz=UTC)
                    yield ListedObject(key=path.relative_to(root).as_posix(), modified_at=modified_at)

    def erase(self, prefix: str) -> int:
        """Delete every object whose key starts with `prefix`, a folder, and the folder; return how many."""
        erased = sum(1 for _ in self.list_objects(prefix))
        with suppress(FileNotFoundError):
            shutil.rmtree(Path(self.path(prefix)))
        return erased


def _flush(path: Path) -> None:
    for flushed in (path, path.parent, path.parent.parent):
        descriptor = os.open(flushed, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
