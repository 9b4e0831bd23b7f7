"""Time zones to choose from a list, and to find by what people type: a city, with or without its country."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from coaching.clock.timezones import (
    UNKNOWN_TIMEZONE,
    city_of,
    is_of_a_city,
    known_timezones,
    offset_in_words,
)
from coaching.safety.countries import COUNTRY_NAMES, country_of_timezone

_OFFSET = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimezoneChoice:
    """A time zone, and its city, country and current offset in words."""

    name: str
    label: str


def timezone_choices(now: datetime) -> Sequence[TimezoneChoice]:
    """Return the time zones of cities, each once, and UTC; `now` is aware."""
    return _choices(now.astimezone(UTC).replace(minute=0, second=0, microsecond=0))


@lru_cache(maxsize=2)
def _choices(hour: datetime) -> Sequence[TimezoneChoice]:
    """Cached for an hour, because computing some 400 offsets is slow."""
    places = {_place(name) for name in filter(is_of_a_city, known_timezones())}
    names = [*(_current(_names_by_words()[_words(place)]) for place in sorted(places)), UNKNOWN_TIMEZONE]
    return [
        TimezoneChoice(name=name, label=f"{_place(name)} ({offset_in_words(name, hour)})") for name in names
    ]


def find_timezone(typed: str) -> str:
    """Return the time zone that somebody typed or chose; empty if it is unknown or in several countries."""
    if typed in known_timezones():
        return typed
    names = _names_by_words().get(_words(typed), ())
    if len({country_of_timezone(name) for name in names}) != 1:
        return ""
    return _current(names)


def _current(names: Collection[str]) -> str:
    """Return the current one of a place's names: the one with the most parts."""
    return min(names, key=lambda name: (-name.count("/"), name))


def _place(name: str) -> str:
    country = COUNTRY_NAMES.get(country_of_timezone(name), "")
    city = city_of(name)
    return f"{city}, {country}" if country and country != city else city


@lru_cache(maxsize=1)
def _names_by_words() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name in known_timezones():
        for written in {name, _place(name), city_of(name)}:
            found.setdefault(_words(written), set()).add(name)
    return found


def _words(text: str) -> str:
    return " ".join(_OFFSET.sub("", text).replace("_", " ").casefold().split())
