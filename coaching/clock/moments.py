"""Days and times in words, relative to the user's day. Pure: reads no clock."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day

_NEAR = {-1: "yesterday", 0: "today", 1: "tomorrow"}


def day_in_words(day: date, *, today: date) -> str:
    """Return a day in words, relative to `today`; with its year only if that is another one."""
    if near := _NEAR.get((day - today).days):
        return near
    year = f" {day.year}" if day.year != today.year else ""
    return f"{day:%A}, {day.day} {day:%B}{year}"


def moment_in_words(moment: datetime, *, today: date, zone: ZoneInfo) -> str:
    """Return a moment (aware) in words: its time, and its day unless that is today."""
    clock = f"{moment.astimezone(zone):%H:%M}"
    day = local_day(moment, zone)
    return clock if day == today else f"{day_in_words(day, today=today)}, {clock}"
