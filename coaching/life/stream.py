"""The journal's stream: the days of a month, newest first, each with all that is known of it.

For pages only, in a fixed number of queries: nothing here is part of a prompt.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import CharField, Count, F, Value, Window
from django.db.models.functions import Cast, Coalesce, Left, RowNumber, Substr

from coaching.clock.days import day_bounds, local_day
from coaching.files.frontmatter import strip_frontmatter
from coaching.files.types import RULES
from coaching.library.rows.steps import DayStep
from coaching.life.journal import (
    READ_CHARACTERS,
    DayCapture,
    DayGlance,
    cut_at_word,
    day_of_name,
    last_ratings,
)
from coaching.life.photos import ShownPhoto, photos_of_days
from coaching.life.pulse import RatingThen
from coaching.models import Capture, FileType, PulseRating, UserFile

CAPTURES_OF_A_DAY = 3
PHOTOS_OF_A_DAY = 4
LOG_CHARACTERS = 1_200
"""How much of a day is in the stream; its own page has all."""
CAPTURE_CHARACTERS = 240
_ISO_DATE_CHARACTERS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBeginning:
    """The beginning of a day's log, in markdown."""

    text: str
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCaptures:
    """The first captures of a day that its log doesn't hold; `left` is how many others there are."""

    first: Sequence[DayCapture]
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamDay:
    """A day of the stream. `steps` are those that were done, `photos` the first ones."""

    glance: DayGlance
    log: LogBeginning | None
    captures: DayCaptures | None
    photos: Sequence[ShownPhoto]
    photos_left: int
    ratings: Sequence[RatingThen]
    steps: Sequence[DayStep]

    @property
    def day(self) -> date:
        return self.glance.day

    @property
    def is_empty(self) -> bool:
        others = (self.captures, self.photos, self.ratings, self.steps)
        return self.glance.is_empty and not any(others)

    @property
    def has_notes(self) -> bool:
        """Whether there is something that the calendar has no sign of its own for."""
        return self.captures is not None or bool(self.ratings)


def read_stream(
    *,
    user_id: int,
    first: date,
    last: date,
    zone: ZoneInfo,
    days: Mapping[date, DayGlance],
    steps: Mapping[date, Sequence[DayStep]],
) -> Sequence[StreamDay]:
    """Return the days from `first` to `last` that have something, newest first, in four queries.

    `days` and `steps` are what was read of these days.
    """
    logs = _read_logs(user_id, {day: one for day, one in days.items() if first <= day <= last})
    captures = _read_captures(user_id, first, last)
    every_day = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    photos = photos_of_days(user_id=user_id, days=every_day)
    ratings = _read_ratings(user_id, first, last, zone)
    found = [
        StreamDay(
            glance=days.get(day) or DayGlance(day=day),
            log=logs.get(day),
            captures=captures.get(day),
            photos=photos.get(day, ())[:PHOTOS_OF_A_DAY],
            photos_left=max(0, len(photos.get(day, ())) - PHOTOS_OF_A_DAY),
            ratings=ratings.get(day, ()),
            steps=[step for step in steps.get(day, ()) if step.is_done],
        )
        for day in sorted({*days, *steps, *captures, *photos, *ratings}, reverse=True)
        if first <= day <= last
    ]
    return [day for day in found if not day.is_empty]


def _read_logs(user_id: int, days: Mapping[date, DayGlance]) -> Mapping[date, LogBeginning]:
    paths = {glance.paths[FileType.DAILY_LOG]: day for day, glance in days.items() if glance.has_log}
    newest = UserFile.of(user_id).filter(path__in=paths, versions__number=F("version_number"))
    rows = newest.values_list("path", Left("versions__content", READ_CHARACTERS))
    return {paths[path]: log for path, text in rows if (log := _beginning(text)).text}


def _beginning(text: str) -> LogBeginning:
    """Return the first paragraphs of a log, or its first words where these would be too few."""
    body = strip_frontmatter(text).strip()
    if len(body) <= LOG_CHARACTERS:
        return LogBeginning(text=body, is_cut=False)
    kept = body[:LOG_CHARACTERS].rpartition("\n\n")[0].strip()
    text = kept if len(kept) * 2 >= LOG_CHARACTERS else cut_at_word(body, LOG_CHARACTERS)
    return LogBeginning(text=text, is_cut=True)


def _read_captures(user_id: int, first: date, last: date) -> Mapping[date, DayCaptures]:
    """Return captures by day, without those that are in the log of their day."""
    place = RULES[FileType.CAPTURE].place
    # A capture's day is the one in its path, whatever the user's time zone is now.
    named = Substr("file__path", len(place) + 2, _ISO_DATE_CHARACTERS)
    of_day: Mapping[str, Any] = {"partition_by": F("named")}
    rows = (
        Capture.of(user_id)
        .present()
        .filter(file__path__gte=f"{place}/{first.isoformat()}", file__path__lt=f"{place}/{last.isoformat()}z")
        .filter(file__versions__number=F("file__version_number"))
        .annotate(named=named, folded=Coalesce(Cast("folded_on", CharField()), Value("")))
        .exclude(folded=F("named"))
        .annotate(
            head=Left("file__versions__content", READ_CHARACTERS),
            number=Window(RowNumber(), **of_day, order_by=["captured_at", "id"]),
            total=Window(Count("id"), **of_day),
        )
        .filter(number__lte=CAPTURES_OF_A_DAY)
        .order_by("captured_at", "id")
    )
    found: dict[str, list[DayCapture]] = defaultdict(list)
    totals: dict[str, int] = {}
    for name, path, head, at, total in rows.values_list(
        "named", "file__path", "head", "captured_at", "total"
    ):
        found[name].append(DayCapture.of(path, head, at, most=CAPTURE_CHARACTERS))
        totals[name] = total
    return {
        day: DayCaptures(first=shown, left=totals[name] - len(shown))
        for name, shown in found.items()
        if (day := day_of_name(name))
    }


def _read_ratings(
    user_id: int, first: date, last: date, zone: ZoneInfo
) -> Mapping[date, Sequence[RatingThen]]:
    begin, end = day_bounds(first, zone)[0], day_bounds(last, zone)[1]
    rows = PulseRating.of(user_id).filter(rated_at__gte=begin, rated_at__lt=end).order_by("rated_at", "id")
    by_day: dict[date, list[tuple[str, int, Any]]] = defaultdict(list)
    for domain, rating, at in rows.values_list("domain", "rating", "rated_at"):
        by_day[local_day(at, zone)].append((domain, rating, at))
    return {day: last_ratings(found) for day, found in by_day.items()}
