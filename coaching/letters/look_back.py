"""A day a year ago, or a month ago: one of the person's own capture, plan, log, or a letter, and its photos.

Nothing of a day on which anything spoke of danger, of a private file, or of a conversation that was deleted.
"""

from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import F, Q
from django.db.models.functions import Left

from coaching.clock.days import day_bounds, local_day
from coaching.clock.weeks import month_after
from coaching.context.sentences import cut_words
from coaching.files.frontmatter import parse_file
from coaching.files.types import RULES
from coaching.life.danger_days import read_days_of_danger
from coaching.life.photos import ShownPhoto, photos_of_days
from coaching.models import FileSource, FileType, UserFile
from coaching.safety.card import danger_in

WORDS, CHARACTERS = 50, 280
MAX_PHOTOS = 3
_READ_CHARACTERS = 4_000
_MAX_FILES = 40
_TYPES = (FileType.CAPTURE, FileType.DAY_PLAN, FileType.DAILY_LOG, FileType.LETTER)
"""In the order in which one is chosen: the person's own words come first."""
_LINES: Mapping[FileType, str] = {
    FileType.DAY_PLAN: "intention",
    FileType.DAILY_LOG: "preview_line",
    FileType.LETTER: "preview_line",
}
"""Of the types that say what they are about in a fact: its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBack:
    """Words of a day and photos, or either; `is_year`: the day is a year ago, not a month."""

    day: date
    is_year: bool
    text: str
    photos: Sequence[ShownPhoto]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Thing:
    file_type: FileType
    path: str
    day: date
    head: str
    is_kept: bool
    """Whether the conversation that wrote it is still there, if one did."""

    @property
    def text(self) -> str:
        facts, body = parse_file(self.head)
        name = _LINES.get(self.file_type)
        line = facts.get(name, "") if name else body
        return cut_words(line if isinstance(line, str) else "", words=WORDS, characters=CHARACTERS)


def read_look_back(*, user_id: int, today: date, zone: ZoneInfo) -> LookBack | None:
    """Return something of the day a year before `today`, or else a month before it. Sync ORM code."""
    days = (_year_before(today), _month_before(today))
    things = _read_things(user_id, days, zone)
    all_photos = photos_of_days(user_id=user_id, days=days)
    for day in days:
        of_day = [thing for thing in things if thing.day == day]
        chosen = next(_chosen(of_day), None)
        photos = all_photos.get(day, ())
        words = [*(thing.head for thing in of_day), *(photo.description for photo in photos)]
        if not (chosen or photos) or _is_day_of_danger(user_id, day, words, zone):
            continue
        text = chosen.text if chosen else ""
        return LookBack(day=day, is_year=day == days[0], text=text, photos=photos[:MAX_PHOTOS])
    return None


def _year_before(today: date) -> date:
    return today.replace(year=today.year - 1, day=28 if (today.month, today.day) == (2, 29) else today.day)


def _month_before(today: date) -> date:
    month = month_after(today, -1)
    return month.replace(day=min(today.day, monthrange(month.year, month.month)[1]))


def _read_things(user_id: int, days: Sequence[date], zone: ZoneInfo) -> Sequence[_Thing]:
    """Return the files of some days, with the beginnings of their texts, in one query."""
    files = UserFile.of(user_id).filter(_of_days(days, zone), versions__number=F("version_number"))
    files = files.annotate(
        head=Left("versions__content", _READ_CHARACTERS),
        source=F("versions__source"),
        session=F("versions__session"),
        session_deleted_at=F("versions__session__deleted_at"),
    )
    return [_thing(file, zone) for file in files.order_by("path")[:_MAX_FILES]]


def _of_days(days: Sequence[date], zone: ZoneInfo) -> Q:
    found = Q()
    for day in days:
        begin, end = day_bounds(day, zone)
        found |= Q(file_type=FileType.LETTER, created_at__gte=begin, created_at__lt=end)
        for file_type in (FileType.DAY_PLAN, FileType.DAILY_LOG):
            found |= Q(file_type=file_type, path=f"{RULES[file_type].place}/{day.isoformat()}.md")
        place = RULES[FileType.CAPTURE].place
        found |= Q(file_type=FileType.CAPTURE, path__startswith=f"{place}/{day.isoformat()}-")
    return found


def _thing(file: Any, zone: ZoneInfo) -> _Thing:
    file_type = FileType(file.file_type)
    is_letter = file_type == FileType.LETTER
    name = file.path.rpartition("/")[2]
    was_kept = file.session is not None and file.session_deleted_at is None
    return _Thing(
        file_type=file_type,
        path=file.path,
        day=local_day(file.created_at, zone) if is_letter else date.fromisoformat(name[:10]),
        head=file.head,
        is_kept=file.source != FileSource.TOOL or was_kept,
    )


def _chosen(things: Sequence[_Thing]) -> Iterator[_Thing]:
    of_types = chain.from_iterable(
        (thing for thing in things if thing.file_type == file_type) for file_type in _TYPES
    )
    return (thing for thing in of_types if thing.is_kept and thing.text)


def _is_day_of_danger(user_id: int, day: date, words: Sequence[str], zone: ZoneInfo) -> bool:
    """Return whether anything that was written on a day spoke of danger to anybody, by what is known now."""
    return any(map(danger_in, words)) or day in read_days_of_danger(
        user_id=user_id, first=day, last=day, zone=zone
    )
