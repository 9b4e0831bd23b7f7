"""Weeks as people count them. Pure.

Where a week begins depends on the country, as the Unicode CLDR (`weekData`, firstDay) has it.
"""

from calendar import Calendar
from collections.abc import Sequence
from datetime import date, timedelta

MONDAY, FRIDAY, SATURDAY, SUNDAY = 0, 4, 5, 6

# fmt: off
_FROM_SUNDAY = frozenset({
    "AG", "AS", "BD", "BR", "BS", "BT", "BW", "BZ", "CA", "CO", "DM", "DO", "ET", "GT", "GU", "HK", "HN",
    "ID", "IL", "IN", "JM", "JP", "KE", "KH", "KR", "LA", "MH", "MM", "MO", "MT", "MX", "MZ", "NI", "NP",
    "PA", "PE", "PH", "PK", "PR", "PT", "PY", "SA", "SG", "SV", "TH", "TT", "TW", "UM", "US", "VE", "VI",
    "WS", "YE", "ZA", "ZW",
})
_FROM_SATURDAY = frozenset({
    "AE", "AF", "BH", "DJ", "DZ", "EG", "IQ", "IR", "JO", "KW", "LY", "OM", "QA", "SD", "SY",
})
# fmt: on
_FROM_FRIDAY = frozenset({"MV"})


def first_weekday(country: str) -> int:
    """Return the first day of the week in a country, 0 for Monday, also where the country isn't known."""
    for countries, weekday in ((_FROM_SUNDAY, SUNDAY), (_FROM_SATURDAY, SATURDAY), (_FROM_FRIDAY, FRIDAY)):
        if country in countries:
            return weekday
    return MONDAY


def week_of(day: date, first: int) -> Sequence[date]:
    """Return the seven days of the week that a day is in; `first` is the weekday that weeks begin with."""
    begin = day - timedelta(days=(day.weekday() - first) % 7)
    return [begin + timedelta(days=number) for number in range(7)]


def weeks_of_month(month: date, first: int) -> Sequence[Sequence[date]]:
    """Return the weeks of a month, whole: the first and the last may have days of other months."""
    return Calendar(first).monthdatescalendar(month.year, month.month)


def month_after(month: date, number: int = 1) -> date:
    """Return the first day of the month that comes `number` months later, or earlier if it is negative."""
    months = month.year * 12 + month.month - 1 + number
    return date(months // 12, months % 12 + 1, 1)
