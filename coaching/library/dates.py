"""The days that words may mean: dates as letters write them, in the languages of `calendar_words`.

Pure functions. Where words are ambiguous ("next Friday", 3/4/2027 without a known order), all readings are
returned: they confirm or contradict a day that a model names, and nobody picks one from them.
"""

import calendar
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from coaching.library.calendar_words import (
    ENGLISH_MONTHS,
    MONTHS,
    MONTHS_FIRST,
    MONTHS_IN_FULL,
    folded,
)
from coaching.library.letter_languages import is_day_first
from coaching.library.relative_days import relative_days

DateOrder = Literal["day", "month"]
"""What 3/4/2027 begins with."""
_ORDER_CHARACTERS = 20_000
_LAST_MONTH = 12
_THIS_CENTURY = 40
"""Years of two digits below it are of this century. The others may be years of birth: that isn't sure."""
_MAX_AHEAD = 183
"""A day without a year that is more days ahead may be one that has passed."""

_WITHOUT_YEAR = {**MONTHS_IN_FULL, **ENGLISH_MONTHS}
_START = r"(?<!\w)(?<![0-9][.,/:-])"
_END = r"(?![^\Wгр])(?![.,/-][0-9])"
"""After a year may stand the Russian and Ukrainian sign for it."""
_NO_YEAR = r"(?!,? '?[0-9]{2}(?![\w:]))"
"""`31 March 27` is a day of a year that nobody wrote out, not of the next one."""
_YEAR_FIRST = re.compile(rf"{_START}([0-9]{{4}})([./-])([0-9]{{1,2}})\2([0-9]{{1,2}}){_END}")
_EASTERN = re.compile(r"(?<![0-9])([0-9]{4}) ?[年년] ?([0-9]{1,2}) ?[月월] ?([0-9]{1,2}) ?[日일]")
_NUMERIC = re.compile(
    rf"{_START}([0-9]{{1,2}})([./-])(?:(?<=\.) )?([0-9]{{1,2}})\2(?:(?<=\.) )?([0-9]{{4}}|[0-9]{{2}}){_END}"
)
_BEFORE_DAY = r"(?<!\w)(?<![0-9][.,:])"
_ORDINAL = r"(?:\.?[oa°]|[:-]?(?:st|nd|rd|th|er|re|e|a|de|ste|go|го))"
_DAY_FIRST = re.compile(
    rf"{_BEFORE_DAY}([0-9]{{1,2}})(?:{_ORDINAL}\.? |\.? ?)(?:day )?(?:of |de |del |d')?"
    r"([^\W\d_]{3,12})(?!\w)"
    rf"(?:\.?,? ?(?:(?:de|del|of) )?([0-9]{{4}}|'[0-9]{{2}}){_END}|{_NO_YEAR})"
)
_JOINED = re.compile(
    rf"{_START}([0-9]{{1,2}})([./-]?)([^\W\d_]{{3,12}})\.?\2([0-9]{{4}}|(?<=[./-])[0-9]{{2}}){_END}"
)
"""31-Mar-2027, 31/Mar/27, 31MAR2027."""
_MONTH_FIRST = re.compile(
    r"(?<!\w)(?<![0-9] )(?<![0-9]\. )([a-z]{3,10})(?:\.? (?:the )?|-)([0-9]{1,2})(?:st|nd|rd|th)?(?!\w)"
    rf"(?:(?:,? |-)([0-9]{{4}})(?!\w)|{_NO_YEAR})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A date and where it stands; without a year, its month and day."""

    start: int
    end: int
    days: frozenset[date] = frozenset()
    month_and_day: tuple[int, int] | None = None


def order_of_dates(text: str) -> DateOrder | None:
    """Return what the dates of a text begin with, by those that mean one day only, else by its language.

    None where they contradict each other, and where neither decides: English is written in both orders.
    """
    read = folded(text[:_ORDER_CHARACTERS])
    orders: set[DateOrder] = set()
    for first, mark, second, _ in _NUMERIC.findall(read):
        if mark != "." and (int(first) > _LAST_MONTH) != (int(second) > _LAST_MONTH):
            orders.add("day" if int(first) > _LAST_MONTH else "month")
    if orders:
        return orders.pop() if len(orders) == 1 else None
    return "day" if is_day_first(read) else None


def dates_meant(
    words: str, *, spoken_on: date | None = None, order: DateOrder | None = None
) -> frozenset[date]:
    """Return the days that words may mean; relative ones, and those without a year, need `spoken_on`."""
    said = folded(unicodedata.normalize("NFC", " ".join(words.split())))
    found = {day for each in _dates(said, order) for day in _days(each, spoken_on)}
    if spoken_on is not None:
        found.update(relative_days(said, spoken_on))
    return frozenset(found)


def words_meaning(
    text: str, day: date, *, order: DateOrder | None = None, spoken_on: date | None = None
) -> str:
    """Return the first words of a text that mean this day alone; empty if there are none.

    Dates without a year need `spoken_on`, and are those of the half year from it on.
    """
    plain = " ".join(text.split())
    found = _dates(folded(plain), order)
    meant = (each for each in found if [*_days(each, spoken_on)] == [day])
    if spoken_on is not None and (day - spoken_on).days > _MAX_AHEAD:
        meant = (each for each in meant if each.days)
    first = next(meant, None)
    return plain[first.start : first.end] if first else ""


def written_dates(text: str, *, order: DateOrder | None = None) -> Sequence[tuple[int, int, frozenset[date]]]:
    """Return where a text on one line writes days out, year included, and which each may mean."""
    return [(each.start, each.end, each.days) for each in _dates(folded(text), order) if each.days]


def _days(found: _Found, spoken_on: date | None) -> Iterator[date]:
    yield from found.days
    if found.month_and_day and spoken_on is not None:
        yield from _next_of(*found.month_and_day, spoken_on)


def _dates(said: str, order: DateOrder | None) -> Sequence[_Found]:
    """Return the dates of folded words, in their order; where two overlap, the first of those with a year."""
    kept: list[_Found] = []
    taken = bytearray(len(said))
    for each in sorted(_candidates(said, order), key=lambda each: (not each.days, each.start, -each.end)):
        if taken.find(1, each.start, each.end) < 0:
            taken[each.start : each.end] = b"\1" * (each.end - each.start)
            kept.append(each)
    return sorted(kept, key=lambda each: each.start)


def _candidates(said: str, order: DateOrder | None) -> Iterator[_Found]:
    for match in (*_YEAR_FIRST.finditer(said), *_EASTERN.finditer(said)):
        year, month, day = (int(each) for each in match.groups() if each.isdigit())
        yield from _found(match, _day(year, month, day))
    for match in _NUMERIC.finditer(said):
        yield from _found(match, _numeric(match[1], match[2], match[3], match[4], order))
    for match in _JOINED.finditer(said):
        yield from _found(match, _named(match[1], match[3], match[4]))
    for match in _DAY_FIRST.finditer(said):
        if match[3]:
            yield from _found(match, _named(match[1], match[2], match[3]))
        else:
            yield from _without_year(match, match[1], _WITHOUT_YEAR, match[2])
    for match in _MONTH_FIRST.finditer(said):
        if match[3] and match[1] in MONTHS_FIRST:
            yield from _found(match, _named(match[2], match[1], match[3]))
        else:
            yield from _without_year(match, match[2], ENGLISH_MONTHS, match[1])


def _without_year(match: re.Match[str], day: str, months: Mapping[str, int], month: str) -> Iterator[_Found]:
    if month in months:
        yield _Found(start=match.start(), end=match.end(), month_and_day=(months[month], int(day)))


def _named(day: str, month: str, year: str) -> Iterator[date]:
    for full in _years(year.lstrip("'")):
        yield from _day(full, MONTHS.get(month, 0), int(day))


def _found(match: re.Match[str], days: Iterator[date]) -> Iterator[_Found]:
    meant = frozenset(days)
    if meant:
        yield _Found(start=match.start(), end=match.end(), days=meant)


def _numeric(first: str, mark: str, second: str, year: str, order: DateOrder | None) -> Iterator[date]:
    """Yield the days that 3/4/2027 may mean; with points it begins with the day."""
    chosen = "day" if mark == "." else order
    for full in _years(year):
        readings = {
            "day": list(_day(full, int(second), int(first))),
            "month": list(_day(full, int(first), int(second))),
        }
        if chosen and readings[chosen]:
            yield from readings[chosen]
        else:
            yield from [*readings["day"], *readings["month"]]


def _years(written: str) -> Sequence[int]:
    """Return the years that four digits, or two, may mean."""
    if len(written) > 2:
        return [int(written)]
    return (
        [2000 + int(written)] if int(written) < _THIS_CENTURY else [1900 + int(written), 2000 + int(written)]
    )


def _next_of(month: int, day: int, spoken_on: date) -> Iterator[date]:
    """Yield the first such day of the year from the day of speaking on."""
    for year in (spoken_on.year, spoken_on.year + 1):
        for found in _day(year, month, day):
            if found >= spoken_on:
                yield found
                return


def _day(year: int, month: int, day: int) -> Iterator[date]:
    if 1900 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]:
        yield date(year, month, day)
