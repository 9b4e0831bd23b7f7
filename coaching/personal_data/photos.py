"""The photos of a person's days in their archive."""

from collections.abc import Iterator
from datetime import datetime

from django.utils.translation import gettext

from coaching.downloads.zip_stream import Entry
from coaching.models import Photo
from coaching.personal_data.library import missing_lines, stored_bytes
from coaching.personal_data.rows import in_batches

FOLDER = "photos"


def read_photo_entries(*, user_id: int, now: datetime) -> Iterator[Entry]:
    """Yield the photos, named by their days and ids. Sync ORM code."""
    missing, lost = list[str](), list[str]()
    for photo in in_batches(Photo.of(user_id).defer("thumbnail")):
        path = f"{FOLDER}/{photo.day.isoformat()}-{photo.pk}.webp"
        pieces = stored_bytes(photo.storage_key, path, missing if photo.sha256 else lost)
        yield Entry(path=path, changed_at=photo.added_at, pieces=pieces, is_stored=True)
    if missing or lost:
        page = missing_lines(gettext("Photos that are missing here"), missing, lost)
        yield Entry(path=f"{FOLDER}/missing.md", changed_at=now, pieces=page)
