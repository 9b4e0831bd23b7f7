"""Names of time zones, their cities and their current UTC offset."""

import re
import zoneinfo
from datetime import datetime, timedelta
from functools import lru_cache

UNKNOWN_TIMEZONE = "UTC"

_PICKED = re.compile(
    r"(?P<region>Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/(?P<city>.+)"
)


@lru_cache(maxsize=1)
def known_timezones() -> frozenset[str]:
    """Return all names in the time zone database, read once."""
    return frozenset(zoneinfo.available_timezones())


def is_of_a_city(name: str) -> bool:
    """Return whether a time zone is named after a city or an island, and not after a country or an offset."""
    return _PICKED.fullmatch(name) is not None


def city_of(name: str) -> str:
    """Return a time zone's city, or its name if it has none."""
    found = _PICKED.fullmatch(name)
    return found["city"].rpartition("/")[2].replace("_", " ") if found else name


def offset_in_words(name: str, now: datetime) -> str:
    """Return a time zone's offset at `now` (aware), such as `UTC+01:00`."""
    offset = now.astimezone(zoneinfo.ZoneInfo(name)).utcoffset() or timedelta(0)
    minutes = round(offset.total_seconds() / 60)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
