"""A person's calendar events on one of their local days. Every query is bound to one user."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import F, FilteredRelation, Q, QuerySet
from django.utils.formats import time_format
from django.utils.translation import gettext, gettext_noop

from coaching.clock.days import day_bounds, local_day
from coaching.models import CalendarSource
from sessions_app.queries import Query, Rows, parameter, prepared, run_query

MAX_EVENTS_OF_A_DAY = 200
ALL_DAY = gettext_noop("all day")
UNTIL = gettext_noop("until %(end)s")
SINCE = gettext_noop("from %(start)s")
SPAN = "%(start)s–%(end)s"
MOMENT = "%(start)s"
LATE_SPAN = gettext_noop("%(start)s–%(end)s (past midnight)")
LATE_MOMENT = gettext_noop("%(start)s (past midnight)")


@prepared
def _day() -> QuerySet[Any, Any]:
    """Read calendars and the events of a day in one query, since a turn waits for it."""
    timed = Q(events__starts_at__lt=parameter("end")) & (
        Q(events__ends_at__gt=parameter("start")) | Q(events__starts_at__gte=parameter("start"))
    )
    floating = Q(events__starts_at__lt=parameter("wall_end")) & (
        Q(events__ends_at__gt=parameter("wall_start")) | Q(events__starts_at__gte=parameter("wall_start"))
    )
    on_day = (
        Q(events__starts_on__lte=parameter("day"), events__ends_on__gt=parameter("day"))
        | (Q(events__is_floating=False) & timed)
        | (Q(events__is_floating=True) & floating)
    )
    calendars = CalendarSource.of(parameter("user")).annotate(
        event=FilteredRelation("events", condition=on_day)
    )
    ordered = calendars.order_by(
        F("event__starts_on").asc(nulls_last=True), "event__starts_at", "event__id", "id"
    )
    columns = ("uid", "title", "location", "is_floating", "starts_at", "ends_at", "starts_on", "ends_on")
    return ordered.values_list("name", "failing_since", *(f"event__{name}" for name in columns))[
        :MAX_EVENTS_OF_A_DAY
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayEvent:
    """An event on one of the person's days.

    `starts` and `ends` are in the person's time zone, None for an all-day event. `form` is how their text is
    made.
    """

    uid: str
    title: str
    location: str
    calendar: str
    form: str = ALL_DAY
    starts: datetime | None = None
    ends: datetime | None = None

    @property
    def when(self) -> str:
        """The times for models: `all day`, `09:30–10:15`, `until 06:30`, `00:30–02:00 (past midnight)`."""
        if self.starts is None or self.ends is None:
            return self.form
        return self.form % {"start": f"{self.starts:%H:%M}", "end": f"{self.ends:%H:%M}"}

    @property
    def shown_when(self) -> str:
        """The times for pages, in the language that is active."""
        form = gettext(self.form)
        if self.starts is None or self.ends is None:
            return form
        return form % {"start": time_format(self.starts.time()), "end": time_format(self.ends.time())}


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCalendar:
    """A day of the person's calendars. `unread_since`: a feed has failed since that day."""

    events: Sequence[DayEvent]
    has_calendar: bool
    unread_since: date | None


def calendar_of_day(user_id: int, day: date, zone: ZoneInfo) -> DayCalendar:
    """Return a day's events and the state of the calendars, in one query."""
    return day_of(run_query(day_query(user_id, day, zone)), day, zone)


def day_query(user_id: int, day: date, zone: ZoneInfo) -> Query:
    start, end = day_bounds(day, zone)
    return _day(
        user=user_id,
        day=day,
        start=start,
        end=end,
        wall_start=start.replace(tzinfo=UTC),
        wall_end=end.replace(tzinfo=UTC),
    )


def day_of(rows: Rows, day: date, zone: ZoneInfo) -> DayCalendar:
    """Build the day from the rows. An event in two calendars appears once."""
    start, _ = day_bounds(day, zone)
    found: dict[tuple[object, ...], DayEvent] = {}
    for name, _, *columns in rows:
        event = _day_event(name, day, zone, *columns)
        if event is not None:
            found.setdefault((event.uid, event.starts, event.ends), event)
    failing = [since for _, since, *_ in rows if since is not None]
    return DayCalendar(
        events=sorted(found.values(), key=lambda event: (event.starts is not None, event.starts or start)),
        has_calendar=bool(rows),
        unread_since=local_day(min(failing), zone) if failing else None,
    )


def sources_of(user_id: int) -> QuerySet[CalendarSource]:
    """Return the person's calendars, without their source text."""
    return CalendarSource.of(user_id).defer("content")


def _day_event(
    calendar: str,
    day: date,
    zone: ZoneInfo,
    uid: str | None,
    title: str,
    location: str,
    is_floating: bool,
    starts_at: datetime | None,
    ends_at: datetime | None,
    *_days: date | None,
) -> DayEvent | None:
    """Return an event as it falls on the day, None if it doesn't."""
    if uid is None:
        return None
    starts = ends = None
    form = ALL_DAY
    if starts_at is not None and ends_at is not None:
        starts, ends = (_local(moment, zone, is_floating=is_floating) for moment in (starts_at, ends_at))
        if starts.time() == ends.time() == time() and ends > starts:
            # Midnight to midnight is how some programs write whole days: not the evening before.
            if not starts.date() <= day < ends.date():
                return None
            starts = ends = None
        else:
            form = _form_of(starts, ends, day, zone)
            starts, ends = (None, None) if form == ALL_DAY else (starts, ends)
    return DayEvent(
        uid=uid, title=title, location=location, calendar=calendar, form=form, starts=starts, ends=ends
    )


def _form_of(starts: datetime, ends: datetime, day: date, zone: ZoneInfo) -> str:
    first, last = day_bounds(day, zone)
    begins_before, goes_on = starts < first and starts.date() < day, ends > last
    if begins_before and goes_on:
        return ALL_DAY
    if begins_before:
        return UNTIL
    if goes_on:
        return SINCE
    # In the repeated hour of a clock change, wall-clock times can't be compared.
    lasts = ends.timestamp() > starts.timestamp()
    if starts.date() > day:
        return LATE_SPAN if lasts else LATE_MOMENT
    return SPAN if lasts else MOMENT


def _local(moment: datetime, zone: ZoneInfo, *, is_floating: bool) -> datetime:
    if is_floating:
        return moment.astimezone(UTC).replace(tzinfo=zone)
    return moment.astimezone(zone)
