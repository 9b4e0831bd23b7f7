"""Past days from their files: a month at a glance, one day with all that is known of it, a week.

For pages only, in a fixed number of queries each: nothing here is part of a prompt.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Self
from zoneinfo import ZoneInfo

from django.db.models import F, Min, Q
from django.db.models.functions import Left

from coaching.clock.days import day_bounds, local_day
from coaching.files.frontmatter import strip_frontmatter
from coaching.files.types import RULES
from coaching.library.rows.steps import DayStep, steps_of_days
from coaching.life.photos import ShownPhoto, photos_of_days, read_first_photo_day
from coaching.life.plans import Priority, ShownPlan, read_plans
from coaching.life.pulse import RatingThen
from coaching.models import Capture, FileType, LifeDomain, PulseRating, UserFile
from sessions_app.import_metadata import NO_BRANCH
from sessions_app.models import USED, Session

CAPTURES_SHOWN = 50
SESSIONS_SHOWN = 20
READ_CHARACTERS = 4_000
"""Of a capture: frontmatter and more than a page shows."""
_CAPTURE_CHARACTERS = 600
_ISO_DATE_CHARACTERS = 10

PLAN, LOG, CHECK_IN = FileType.DAY_PLAN, FileType.DAILY_LOG, FileType.CHECK_IN
# The first one that says how somebody was counts: a log is written when the day is over.
_DAY_TYPES = (LOG, CHECK_IN, PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayGlance:
    """What there is of a day. `paths` are its files by type; `preview_line` is its log's."""

    day: date
    plan: ShownPlan | None = None
    paths: Mapping[FileType, str] = field(default_factory=dict)
    mood: str = ""
    energy: str = ""
    preview_line: str = ""

    @property
    def has_plan(self) -> bool:
        return self.plan is not None or PLAN in self.paths

    @property
    def has_log(self) -> bool:
        return LOG in self.paths

    @property
    def has_check_in(self) -> bool:
        return CHECK_IN in self.paths

    @property
    def intention(self) -> str:
        return self.plan.intention if self.plan else ""

    @property
    def priorities(self) -> Sequence[Priority]:
        return self.plan.priorities if self.plan else ()

    @property
    def done(self) -> int:
        return self.plan.done if self.plan else 0

    @property
    def is_empty(self) -> bool:
        return not (self.has_plan or self.paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCapture:
    """A capture on a page. `text` may be truncated: then `is_cut`."""

    path: str
    text: str
    is_cut: bool
    captured_at: datetime

    @classmethod
    def of(cls, path: str, head: str, captured_at: datetime, *, most: int) -> Self:
        """Return a capture with `most` characters at most; `head` is its first `READ_CHARACTERS`."""
        body = strip_frontmatter(head).strip()
        if len(head) == READ_CHARACTERS and body.startswith("---\n"):
            body = ""  # frontmatter that ends later, if it ends
        text = cut_at_word(body, most)
        is_cut = len(head) == READ_CHARACTERS or text != body
        return cls(path=path, text=text, is_cut=is_cut, captured_at=captured_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalDay:
    """One day. `texts` are the bodies of its files, in markdown."""

    glance: DayGlance
    texts: Mapping[FileType, str]
    captures: Sequence[DayCapture]
    ratings: Sequence[RatingThen]
    sessions: Sequence[Session]
    steps: Sequence[DayStep]
    photos: Sequence[ShownPhoto]

    @property
    def is_empty(self) -> bool:
        others = (self.captures, self.ratings, self.sessions, self.steps, self.photos)
        return self.glance.is_empty and not any(others)


def read_first_day(*, user_id: int, zone: ZoneInfo) -> date | None:
    """Return the first day that has a file, a capture, a rating or a photo; None without any."""
    types = (*_DAY_TYPES, FileType.CAPTURE)
    places = {f"first_{number}": Min("path", filter=_in_place(one)) for number, one in enumerate(types)}
    found = UserFile.of(user_id).filter(file_type__in=types, version_number__gt=0).aggregate(**places)
    days = [_day_of(path) for path in found.values() if path]
    days.append(read_first_photo_day(user_id))
    if rated_at := PulseRating.of(user_id).aggregate(first=Min("rated_at"))["first"]:
        days.append(local_day(rated_at, zone))
    return min(filter(None, days), default=None)


def read_days(*, user_id: int, first: date, last: date) -> Mapping[date, DayGlance]:
    """Return the days from `first` to `last` that have a plan, a log or a check-in, in two queries."""
    plans = read_plans(user_id=user_id, first=first, last=last)
    files: dict[date, dict[FileType, tuple[str, Mapping[str, Any]]]] = {}
    rows = UserFile.of(user_id).filter(_of_days(first, last), version_number__gt=0).order_by("path")
    for path, file_type, frontmatter in rows.values_list("path", "file_type", "frontmatter"):
        if day := _day_of(path):
            files.setdefault(day, {})[FileType(file_type)] = (path, frontmatter)
    days = sorted({*plans, *files})
    return {day: _glance(day, plans.get(day), files.get(day, {})) for day in days}


def read_day(*, user_id: int, day: date, zone: ZoneInfo) -> JournalDay:
    """Return a day with the texts of its files and all that there is of it."""
    glance = read_days(user_id=user_id, first=day, last=day).get(day, DayGlance(day=day))
    begin, end = day_bounds(day, zone)
    begun = Session.of(user_id).filter(USED, NO_BRANCH, started_at__gte=begin, started_at__lt=end)
    return JournalDay(
        glance=glance,
        texts=_read_texts(user_id, glance.paths),
        captures=_read_captures(user_id, day),
        ratings=read_ratings(user_id=user_id, begin=begin, end=end),
        sessions=list(begun.defer("opening", "metadata").order_by("started_at")[:SESSIONS_SHOWN]),
        steps=steps_of_days(user_id=user_id, first=day, last=day, zone=zone).get(day, ()),
        photos=photos_of_days(user_id=user_id, days=[day]).get(day, ()),
    )


def read_check_ins(*, user_id: int, days: Mapping[date, DayGlance]) -> Mapping[str, str]:
    """Return the bodies of the check-ins of these days by path."""
    paths = [glance.paths[CHECK_IN] for glance in days.values() if glance.has_check_in]
    return dict(_read_bodies(user_id, paths))


def read_ratings(*, user_id: int, begin: datetime, end: datetime) -> Sequence[RatingThen]:
    """Return the last rating of each domain that was rated between two moments, in the domains' order."""
    rows = PulseRating.of(user_id).filter(rated_at__gte=begin, rated_at__lt=end).order_by("rated_at", "id")
    return last_ratings(rows.values_list("domain", "rating", "rated_at"))


def last_ratings(rows: Iterable[tuple[str, int, datetime]]) -> Sequence[RatingThen]:
    """Return the last one of each domain among ratings, oldest first, in the domains' order."""
    last = {domain: RatingThen(rating=rating, rated_at=at, label=str(LifeDomain(domain).label))
            for domain, rating, at in rows}  # fmt: skip
    return [last[domain] for domain in LifeDomain if domain in last]


def count_captures(*, user_id: int, first: date, last: date) -> int:
    """Return how many captures were made on these days."""
    place = RULES[FileType.CAPTURE].place
    return Capture.of(user_id).present().filter(
        file__path__gte=f"{place}/{first.isoformat()}", file__path__lt=f"{place}/{last.isoformat()}z"
    ).count()  # fmt: skip


def cut_at_word(text: str, most: int) -> str:
    """Return a text, or the words of its first `most` characters and an ellipsis."""
    if len(text) <= most:
        return text
    head = text[:most]
    if not (head[-1].isspace() or text[most].isspace()):
        head = head.rsplit(None, 1)[0]
    return f"{head.rstrip()} …"


def _of_days(first: date, last: date) -> Q:
    found = Q()
    for file_type in _DAY_TYPES:
        place = RULES[file_type].place
        between = Q(path__gte=f"{place}/{first.isoformat()}.md", path__lte=f"{place}/{last.isoformat()}.md")
        found |= Q(file_type=file_type) & between
    return found


def _in_place(file_type: FileType) -> Q:
    return Q(path__startswith=f"{RULES[file_type].place}/")


def _day_of(path: str) -> date | None:
    return day_of_name(path.rpartition("/")[2][:_ISO_DATE_CHARACTERS])


def day_of_name(text: str) -> date | None:
    """Return the day that a file is named after; None for any other name, which an import may bring."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _glance(
    day: date, plan: ShownPlan | None, files: Mapping[FileType, tuple[str, Mapping[str, Any]]]
) -> DayGlance:
    return DayGlance(
        day=day,
        plan=plan,
        paths={file_type: path for file_type, (path, _) in files.items()},
        mood=_said(files, "mood_signal"),
        energy=_said(files, "energy"),
        preview_line=_text_in(files[LOG][1], "preview_line") if LOG in files else "",
    )


def _said(files: Mapping[FileType, tuple[str, Mapping[str, Any]]], name: str) -> str:
    said = (_text_in(files[file_type][1], name) for file_type in _DAY_TYPES if file_type in files)
    return next(filter(None, said), "")


def _text_in(frontmatter: Mapping[str, Any], name: str) -> str:
    value = frontmatter.get(name)  # An imported file may have anything here.
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _read_texts(user_id: int, paths: Mapping[FileType, str]) -> Mapping[FileType, str]:
    bodies = _read_bodies(user_id, list(paths.values()))
    return {file_type: bodies[path] for file_type, path in paths.items() if path in bodies}


def _read_bodies(user_id: int, paths: Sequence[str]) -> Mapping[str, str]:
    if not paths:
        return {}
    newest = UserFile.of(user_id).filter(path__in=paths, versions__number=F("version_number"))
    rows = newest.values_list("path", "versions__content")
    return {path: strip_frontmatter(text).strip() for path, text in rows}


def _read_captures(user_id: int, day: date) -> Sequence[DayCapture]:
    place = RULES[FileType.CAPTURE].place
    # A capture's day is the one in its path, whatever the user's time zone is now.
    rows = (
        Capture.of(user_id)
        .present()
        .filter(file__path__startswith=f"{place}/{day.isoformat()}-")
        .filter(file__versions__number=F("file__version_number"))
        .annotate(head=Left("file__versions__content", READ_CHARACTERS))
        .order_by("captured_at", "id")
        .values_list("file__path", "head", "captured_at")
    )
    return [
        DayCapture.of(path, head, at, most=_CAPTURE_CHARACTERS) for path, head, at in rows[:CAPTURES_SHOWN]
    ]
