"""The days that English words mean from a day on: "next Friday", "within two weeks". Pure.

All readings are returned, and nobody picks one from them.
"""

import calendar
import re
from collections.abc import Iterator
from datetime import date, timedelta

_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_WEEKDAYS |= {name.lower(): number for number, name in enumerate(calendar.day_abbr)}
_WEEKDAYS |= {"tues": 1, "thur": 3, "thurs": 3}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fourteen": 14, "thirty": 30,
}  # fmt: skip
_WEEKDAY = "|".join(sorted(_WEEKDAYS, key=len, reverse=True))
_NUMBER = rf"\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}"
_IN = re.compile(
    rf"\b(?:in|within) ({_NUMBER}) (day|week|month|year)s?\b|\b({_NUMBER}) (day|week|month|year)s? from now\b"
)
_ON_WEEKDAY = re.compile(rf"\b(?:(next|this|coming|following) )?({_WEEKDAY})\b")
_END_OF = re.compile(
    r"\b(?:end of|by) (?:(the|this|next) )?(day|week|month|quarter|year)\b|\bby (month|year)[- ]end\b"
)
_NEXT_WEEK = re.compile(r"\bnext week\b")


def relative_days(said: str, spoken_on: date) -> Iterator[date]:
    """Yield the days that lower-case words on one line may mean."""
    if re.search(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", said):
        yield spoken_on
    is_after_tomorrow = "day after tomorrow" in said
    if is_after_tomorrow:
        yield spoken_on + timedelta(days=2)
    elif re.search(r"\btomorrow\b", said):
        yield spoken_on + timedelta(days=1)
    for one, unit, other, other_unit in _IN.findall(said):
        number = one or other
        count = int(number) if number.isdigit() else _NUMBERS[number]
        yield later(spoken_on, count, unit or other_unit)
    for which, name in _ON_WEEKDAY.findall(said):
        yield from _weekday(which, _WEEKDAYS[name], spoken_on)
    for which, unit, other in _END_OF.findall(said):
        yield from _end(which, unit or other, spoken_on)
    if _NEXT_WEEK.search(said):
        monday = spoken_on - timedelta(days=spoken_on.weekday()) + timedelta(weeks=1)
        yield from (monday + timedelta(days=day) for day in range(7))


def _weekday(which: str, weekday: int, spoken_on: date) -> Iterator[date]:
    """Yield the next such day; after "next" also the one of next week."""
    coming = spoken_on + timedelta(days=(weekday - spoken_on.weekday() - 1) % 7 + 1)
    yield coming
    if which == "this" and weekday == spoken_on.weekday():
        yield spoken_on
    if which in ("next", "following"):
        monday = spoken_on - timedelta(days=spoken_on.weekday())
        yield monday + timedelta(days=7 + weekday)


def _end(which: str, unit: str, spoken_on: date) -> Iterator[date]:
    """Yield the last day of a span; of a week also its Friday."""
    is_next = which == "next"
    if unit == "day":
        yield spoken_on + timedelta(days=is_next)
    elif unit == "week":
        monday = spoken_on - timedelta(days=spoken_on.weekday()) + timedelta(weeks=is_next)
        yield monday + timedelta(days=4)
        yield monday + timedelta(days=6)
    else:
        months = {"month": 1, "quarter": 3, "year": 12}[unit]
        first = date(spoken_on.year, (spoken_on.month - 1) // months * months + 1, 1)
        yield later(first, months * (1 + is_next), "month") - timedelta(days=1)


def later(day: date, count: int, unit: str) -> date:
    """Return the day so many days, weeks, months or years on; the last of a month that is too short."""
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    month = day.month - 1 + count * (12 if unit == "year" else 1)
    year, month = day.year + month // 12, month % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
