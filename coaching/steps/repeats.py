"""How a next step repeats: every day, every month, or on days of the week. Pure.

It is stored as `daily`, `monthly`, or days in their order, such as `mon,thu`.
"""

import calendar
from collections.abc import Sequence
from datetime import date, timedelta

DAILY, WEEKLY, MONTHLY = "daily", "weekly", "monthly"
DAYS: Sequence[str] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEK = 7


def read_repeats(text: str, *, due_date: date | None = None) -> str | None:
    """Return the stored form of what a model or a form gives; None for anything else.

    `weekly` stands for the weekday of the due date.
    """
    words = [word.strip().lower()[:3] for word in text.split(",") if word.strip()]
    if not words:
        return ""
    plain = text.strip().lower()
    if plain in (DAILY, MONTHLY):
        return plain
    if plain == WEEKLY:
        return DAYS[due_date.weekday()] if due_date else None
    if not set(words) <= set(DAYS):
        return None
    days = [day for day in DAYS if day in words]
    return DAILY if len(days) == _WEEK else ",".join(days)


def next_date(repeats: str, due_date: date, *, done_on: date, month_day: int | None = None) -> date | None:
    """Return the first date of a repeating step after its present one and after the day it was done.

    In a month without such a day it is the last one; `month_day` is the day that was meant, where the present
    date is such a last one. None for a step that doesn't repeat.
    """
    after = max(due_date, done_on)
    if repeats == DAILY:
        return after + timedelta(days=1)
    if repeats == MONTHLY:
        return _next_month(due_date, after, month_day or due_date.day)
    days = {DAYS.index(day) for day in repeats.split(",") if day in DAYS}
    coming = (after + timedelta(days=ahead) for ahead in range(1, _WEEK + 1))
    return next((day for day in coming if day.weekday() in days), None)


def meant_day(repeats: str, coming: date, *, before: date, month_day: int | None) -> int | None:
    """Return the day of the month that is meant by a step's next date; None where that is its own day."""
    meant = month_day or before.day
    return meant if repeats == MONTHLY and coming.day < meant else None


def _next_month(due_date: date, after: date, day: int) -> date:
    month = due_date
    count = due_date.year * 12 + due_date.month - 1
    while month <= after:
        count += 1
        year, index = divmod(count, 12)
        last = calendar.monthrange(year, index + 1)[1]
        month = date(year, index + 1, min(day, last))
    return month
