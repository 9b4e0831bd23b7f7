"""The days that words may mean: written dates of several styles, and relative ones.

Pure functions. Where words are ambiguous ("next Friday", 3/4/2027 without a known order), all readings are
returned: they confirm or contradict a day that a model names, and nobody picks one from them.
"""

import calendar
import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Literal

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_MONTHS["sept"] = 9
_WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_WEEKDAYS |= {name.lower(): number for number, name in enumerate(calendar.day_abbr)}
_WEEKDAYS |= {"tues": 1, "thur": 3, "thurs": 3}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fourteen": 14, "thirty": 30,
}  # fmt: skip

CALENDAR_WORDS = frozenset({*_MONTHS, *_WEEKDAYS})
"""The names of months and weekdays, in lower case."""
DateOrder = Literal["day", "month"]
"""What 3/4/2027 begins with."""
_ORDER_CHARACTERS = 20_000
_LAST_MONTH = 12
_ENGLISH = frozenset(
    {"the", "and", "of", "to", "is", "for", "you", "your", "with", "this", "that", "by", "on"}
)
_DAY_FIRST_LANGUAGES = frozenset({
    "der", "die", "das", "und", "ist", "für", "wir", "sie", "nicht", "el", "los", "las", "que", "para", "con",
    "le", "les", "des", "est", "pour", "vous", "il", "di", "che", "per", "della", "het", "een", "van", "voor",
    "wij", "os", "uma", "com", "não", "och", "att", "som", "og", "er", "det", "dla", "jest", "się", "nie",
    "ve", "bir", "için",
})  # fmt: skip
"""Frequent words of languages that write the day first."""
_WORD = re.compile(r"[^\W\d_]++")

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WEEKDAY = "|".join(sorted(_WEEKDAYS, key=len, reverse=True))
_NUMBER = rf"\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}"
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b", re.ASCII)
_NUMERIC = re.compile(r"\b(\d{1,2})([./-])(\d{1,2})[./-](\d{4}|\d{2})\b", re.ASCII)
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\.?(?: day)?(?: of)? ({_MONTH})\b\.?(?:,? (\d{{4}})\b)?", re.ASCII
)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}})\b)?", re.ASCII
)
_IN = re.compile(
    rf"\b(?:in|within) ({_NUMBER}) (day|week|month|year)s?\b|\b({_NUMBER}) (day|week|month|year)s? from now\b"
)
_ON_WEEKDAY = re.compile(rf"\b(?:(next|this|coming|following) )?({_WEEKDAY})\b")
_END_OF = re.compile(
    r"\b(?:end of|by) (?:(the|this|next) )?(day|week|month|quarter|year)\b|\bby (month|year)[- ]end\b"
)
_NEXT_WEEK = re.compile(r"\bnext week\b")


def order_of_dates(text: str) -> DateOrder | None:
    """Return what the dates of a text begin with, by those that mean one day only, else by its language.

    None where they contradict each other, and where neither decides: English is written in both orders.
    """
    read = text[:_ORDER_CHARACTERS].lower()
    orders: set[DateOrder] = set()
    for first, mark, second, _ in _NUMERIC.findall(read):
        if mark != "." and (int(first) > _LAST_MONTH) != (int(second) > _LAST_MONTH):
            orders.add("day" if int(first) > _LAST_MONTH else "month")
    if orders:
        return orders.pop() if len(orders) == 1 else None
    words = _WORD.findall(read)
    english = sum(word in _ENGLISH for word in words)
    return "day" if sum(word in _DAY_FIRST_LANGUAGES for word in words) > english else None


def dates_meant(
    words: str, *, spoken_on: date | None = None, order: DateOrder | None = None
) -> frozenset[date]:
    """Return the days that words may mean; relative ones, and those without a year, need `spoken_on`."""
    said = " ".join(words.lower().split())
    found = set(_written(said, spoken_on, order))
    if spoken_on is not None:
        found.update(_relative(said, spoken_on))
    return frozenset(found)


def words_meaning(text: str, day: date, *, order: DateOrder | None = None) -> str:
    """Return the first words of a text that mean this day alone, year included; empty if there are none."""
    plain = " ".join(text.split())
    lower = plain.lower()
    plain = plain if len(plain) == len(lower) else lower
    found = (match for style in (_ISO, _NUMERIC, _DAY_FIRST, _MONTH_FIRST) for match in style.finditer(lower))
    meant = (match for match in found if set(_written(match[0], None, order)) == {day})
    first = min(meant, key=lambda match: match.start(), default=None)
    return plain[first.start() : first.end()] if first else ""


def written_dates(text: str, *, order: DateOrder | None = None) -> Sequence[tuple[int, int, frozenset[date]]]:
    """Return where a lower-case text on one line writes days out, year included, and which each may mean."""
    found = [match for style in (_ISO, _NUMERIC, _DAY_FIRST, _MONTH_FIRST) for match in style.finditer(text)]
    meant = [(match.start(), match.end(), frozenset(_written(match[0], None, order))) for match in found]
    return sorted((each for each in meant if each[2]), key=lambda each: (each[0], -each[1]))


def _written(said: str, spoken_on: date | None, order: DateOrder | None) -> Iterator[date]:
    for year, month, day in _ISO.findall(said):
        yield from _day(int(year), int(month), int(day))
    for first, mark, second, year in _NUMERIC.findall(said):
        yield from _numeric(first, mark, second, year, order)
    named = [(day, month, year) for day, month, year in _DAY_FIRST.findall(said)]
    named += [(day, month, year) for month, day, year in _MONTH_FIRST.findall(said)]
    for day, month, year in named:
        if year:
            yield from _day(int(year), _MONTHS[month], int(day))
        elif spoken_on is not None:
            yield from _next_of(_MONTHS[month], int(day), spoken_on)


def _numeric(first: str, mark: str, second: str, year: str, order: DateOrder | None) -> Iterator[date]:
    """Yield the days that 3/4/2027 may mean; with points it begins with the day."""
    full = int(year) if len(year) == 4 else 2000 + int(year)
    readings = {
        "day": list(_day(full, int(second), int(first))),
        "month": list(_day(full, int(first), int(second))),
    }
    chosen = "day" if mark == "." else order
    if chosen and readings[chosen]:
        yield from readings[chosen]
    else:
        yield from [*readings["day"], *readings["month"]]


def _next_of(month: int, day: int, spoken_on: date) -> Iterator[date]:
    """Yield the first such day of the year from the day of speaking on."""
    for year in (spoken_on.year, spoken_on.year + 1):
        for found in _day(year, month, day):
            if found >= spoken_on:
                yield found
                return


def _relative(said: str, spoken_on: date) -> Iterator[date]:
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
        yield _later(spoken_on, count, unit or other_unit)
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
        yield _later(first, months * (1 + is_next), "month") - timedelta(days=1)


def _later(day: date, count: int, unit: str) -> date:
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    month = day.month - 1 + count * (12 if unit == "year" else 1)
    year, month = day.year + month // 12, month % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def _day(year: int, month: int, day: int) -> Iterator[date]:
    if 1900 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]:
        yield date(year, month, day)
