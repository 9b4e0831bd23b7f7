"""Which rows name objects in the storage."""

from collections.abc import Sequence
from typing import Any

from coaching.models import Document, Import, Photo, Recording, UserFileVersion


def keyed_models() -> Sequence[Any]:
    """Return the models with a `storage_key`; each also has `size` and `sha256`."""
    return [UserFileVersion, Import, Document, Photo, Recording]
