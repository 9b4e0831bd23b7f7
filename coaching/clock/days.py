"""The user's own days. Pure arithmetic: reads no clock and no database.

"Today" follows the user's time zone, and up to 04:00 an evening still belongs to the day before. The rule
looks at the clock on the wall and never subtracts hours across a change of it, so daylight saving can't
move a day.
"""

from datetime import date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

DAY_STARTS_AT_HOUR = 4

TimeBracket = Literal["morning", "afternoon", "evening"]


def local_day(now: datetime, timezone: ZoneInfo) -> date:
    """Return the user's day at `now` (aware)."""
    local = now.astimezone(timezone)
    return local.date() - timedelta(days=1) if local.hour < DAY_STARTS_AT_HOUR else local.date()


def day_bounds(day: date, timezone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the first moment of the user's day and the first one after it (aware, in their time zone)."""
    starts_at = time(hour=DAY_STARTS_AT_HOUR)
    return (
        datetime.combine(day, starts_at, timezone),
        datetime.combine(day + timedelta(days=1), starts_at, timezone),
    )


def next_weekday(after: date, weekday: int) -> date:
    """Return the first `weekday` (0 is Monday) later than `after`: one to seven days on."""
    return after + timedelta(days=(weekday - after.weekday() - 1) % 7 + 1)


def moved_weekday(planned: date, weekday: int, *, today: date) -> date:
    """Return where something weekly that is planned for a day goes when it moves to another weekday.

    The nearest one to the plan, at most three days off, so that no two follow each other at once and none
    is left out; what would lie before `today` is the first one from today on.
    """
    near = planned + timedelta(days=(weekday - planned.weekday() + 3) % 7 - 3)
    return near if near >= today else next_weekday(today - timedelta(days=1), weekday)


def time_bracket(local: datetime) -> TimeBracket:
    """Return the part of the user's own day at a local time; up to 04:00 it is still evening."""
    if DAY_STARTS_AT_HOUR <= local.hour < 12:
        return "morning"
    return "afternoon" if 12 <= local.hour < 18 else "evening"
