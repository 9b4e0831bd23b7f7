"""The user's local days, the one rule for all dates. Pure arithmetic: reads no clock and no database.

"Today" follows the user's time zone, and until 04:00 it is still the day before. The rule uses wall-clock
time and never subtracts hours across a clock change, so daylight saving can't shift a day.
"""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo

DAY_STARTS_AT_HOUR = 4

TimeBracket = Literal["morning", "afternoon", "evening"]


def local_day(now: datetime, timezone: tzinfo) -> date:
    """Return the user's day at `now` (aware)."""
    local = now.astimezone(timezone)
    return local.date() - timedelta(days=1) if local.hour < DAY_STARTS_AT_HOUR else local.date()


def local_moment(moment: datetime, timezone: tzinfo) -> datetime:
    """Return the user's day and the time on their clock at a moment (aware), to be shown.

    It is naive, because no clock shows it: at 01:30 the day is still the one before.
    """
    return datetime.combine(local_day(moment, timezone), moment.astimezone(timezone).time())


def calendar_day(day: date, hour: int) -> date:
    """Return the calendar's day of an hour of the user's day: until 04:00 it is the next one."""
    return day + timedelta(days=hour < DAY_STARTS_AT_HOUR and day < date.max)


def day_bounds(day: date, timezone: tzinfo) -> tuple[datetime, datetime]:
    """Return the first moment of the user's day and of the next one (aware, in their time zone)."""
    starts_at = time(hour=DAY_STARTS_AT_HOUR)
    return (
        datetime.combine(day, starts_at, timezone),
        datetime.combine(day + timedelta(days=1), starts_at, timezone),
    )


def moment_at(day: date, at: time, timezone: ZoneInfo) -> datetime:
    """Return the moment (UTC) at which a clock in the zone shows `at` on the user's day.

    If the clock is set forward over that time, it is the first moment after the change; if it shows the time
    twice, the first one.
    """
    shown = datetime.combine(calendar_day(day, at.hour), at, timezone)
    moment = shown.astimezone(UTC)
    if moment.astimezone(timezone).replace(tzinfo=None) == shown.replace(tzinfo=None):
        return moment
    # Skipped: with `fold` the zone counts back from the change, without it forward.
    earliest, latest = shown.replace(fold=1).astimezone(UTC), moment
    before = earliest.astimezone(timezone).utcoffset()
    while latest - earliest > timedelta(seconds=1):
        middle = (earliest + (latest - earliest) / 2).replace(microsecond=0)
        if middle.astimezone(timezone).utcoffset() == before:
            earliest = middle
        else:
            latest = middle
    return latest


def with_weekday(day: date) -> str:
    """Return a day as models read it: `Sunday 2026-11-22`."""
    return f"{day:%A %Y-%m-%d}"


def next_weekday(after: date, weekday: int) -> date:
    """Return the first `weekday` (0 is Monday) after `after`: one to seven days later."""
    return after + timedelta(days=(weekday - after.weekday() - 1) % 7 + 1)


def moved_weekday(planned: date, weekday: int, *, today: date) -> date:
    """Move a weekly date to another weekday.

    It becomes the nearest such day, at most three days away, so that none is skipped and no two follow at
    once; a day before `today` becomes the first one from today on.
    """
    near = planned + timedelta(days=(weekday - planned.weekday() + 3) % 7 - 3)
    return near if near >= today else next_weekday(today - timedelta(days=1), weekday)


def time_bracket(local: datetime) -> TimeBracket:
    """Return the part of the user's day at a local time; it is evening until 04:00."""
    if DAY_STARTS_AT_HOUR <= local.hour < 12:
        return "morning"
    return "afternoon" if 12 <= local.hour < 18 else "evening"
