"""The photos of a person's days: adding, showing, describing and deleting them.

Photos are for pages only: no prompt, recall or search has them or their descriptions.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db import transaction
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop

from coaching.files.objects import erase_object_now, store_object_now
from coaching.files.quota import check_room, lock_usage, refuse_when_full
from coaching.models import Photo
from coaching.people.attempts import AttemptLimit
from coaching.safety.danger import Danger
from sessions_app.errors import Refused
from sessions_app.models import VerdictLevel

MAX_OF_A_DAY = 30
DRAWN_IN_TEN_MINUTES = 120

drawings = AttemptLimit(attempts=DRAWN_IN_TEN_MINUTES, seconds=600)


class DayFull(Refused):
    """A day has as many photos as it can have."""

    def __init__(self) -> None:
        super().__init__(
            gettext_noop(
                "A day can have at most %(most)s photos, so this one wasn’t added. Delete another first."
            ),
            most=MAX_OF_A_DAY,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPhoto:
    """A photo to store: WebP without metadata. Sizes are in pixels; the hash is that of the upload."""

    data: bytes
    thumbnail: bytes
    width: int
    height: int
    source_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPhoto:
    """A photo on a page, the `number`th of `total` of its day."""

    id: int
    day: date
    description: str
    width: int
    height: int
    number: int
    total: int

    @property
    def alt(self) -> str:
        """What it says to somebody who doesn't see it: the description, or else which photo it is."""
        if self.description:
            return self.description
        day = date_format(self.day, "DATE_FORMAT")
        if self.total == 1:
            return gettext("Photo, %(day)s") % {"day": day}
        said = {"number": self.number, "total": self.total, "day": day}
        return gettext("Photo %(number)s of %(total)s, %(day)s") % said


def photos_of_days(*, user_id: int, days: Sequence[date]) -> Mapping[date, Sequence[ShownPhoto]]:
    """Return the photos of some days, in one query."""
    by_day: dict[date, list[Photo]] = defaultdict(list)
    for photo in Photo.of(user_id).filter(day__in=days).defer("thumbnail"):
        by_day[photo.day].append(photo)
    return {day: _shown(photos) for day, photos in by_day.items()}


def read_photo(*, user_id: int, photo_id: int) -> tuple[ShownPhoto, Sequence[ShownPhoto]]:
    """Return a photo, and all of its day. Raises `Photo.DoesNotExist`."""
    day = Photo.of(user_id).values_list("day", flat=True).get(id=photo_id)
    of_day = photos_of_days(user_id=user_id, days=[day]).get(day, ())
    found = next((photo for photo in of_day if photo.id == photo_id), None)
    if found is None:  # deleted in between
        raise Photo.DoesNotExist
    return found, of_day


def read_first_photo_day(user_id: int) -> date | None:
    """Return the first day that has a photo."""
    return Photo.of(user_id).order_by("day").values_list("day", flat=True).first()


def find_photo(*, user_id: int, source_sha256: str) -> Photo | None:
    """Return the photo that was made of a file with this hash."""
    return Photo.of(user_id).defer("thumbnail").filter(source_sha256=source_sha256).first()


def keep_photo(*, user_id: int, day: date, new: NewPhoto) -> tuple[Photo, bool]:
    """Store a photo; return it, and whether it is new: the same file is stored once. Blocks.

    Outside transactions. Raises `DayFull`, `QuotaReached` and `StorageFailed`.
    """
    size = len(new.data) + len(new.thumbnail)
    refuse_when_full(user_id=user_id, size=size)
    check_day(user_id=user_id, day=day)
    stored = store_object_now(user_id=user_id, data=new.data)
    with transaction.atomic():
        usage = lock_usage(user_id)  # a person's photos are added one after another
        if known := find_photo(user_id=user_id, source_sha256=new.source_sha256):
            return known, False
        check_day(user_id=user_id, day=day)
        check_room(usage, size=size, is_new_file=True)
        photo = Photo.of(user_id).create(
            day=day,
            source_sha256=new.source_sha256,
            storage_key=stored.key,
            sha256=stored.sha256,
            size=stored.size,
            width=new.width,
            height=new.height,
            thumbnail=new.thumbnail,
        )
    return photo, True


def check_day(*, user_id: int, day: date) -> None:
    """Raise `DayFull` if a day can't have another photo."""
    if Photo.of(user_id).filter(day=day).count() >= MAX_OF_A_DAY:
        raise DayFull


def describe_photo(
    *, user_id: int, photo_id: int, description: str, danger: Danger | None, now: datetime
) -> None:
    """Store a photo's description with the danger in it. Raises `Photo.DoesNotExist`."""
    values: dict[str, Any] = {"danger_level": VerdictLevel.NONE}
    if danger is not None:
        values = {
            "danger_level": danger.level,
            "danger_about": danger.about,
            "danger_topic": danger.topic,
        }
    photo = Photo.of(user_id).filter(id=photo_id)
    if not photo.update(description=description, described_at=now, **values):
        raise Photo.DoesNotExist


def delete_photo(*, user_id: int, photo_id: int) -> date:
    """Delete a photo for good and return its day. Blocks. Raises `Photo.DoesNotExist`."""
    with transaction.atomic():
        lock_usage(user_id)
        photo = Photo.of(user_id).defer("thumbnail").get(id=photo_id)
        photo.delete()
    erase_object_now(photo.storage_key)
    return photo.day


def _shown(photos: Sequence[Photo]) -> Sequence[ShownPhoto]:
    return [
        ShownPhoto(
            id=photo.pk,
            day=photo.day,
            description=photo.description,
            width=photo.width,
            height=photo.height,
            number=number,
            total=len(photos),
        )
        for number, photo in enumerate(photos, start=1)
    ]
