"""Time zones as people pick them: by region and city, with the hours that they are apart from UTC now.

Reads the time zone database of this machine and nothing else.
"""

import re
import zoneinfo
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

UNKNOWN_TIMEZONE = "UTC"

Choice = tuple[str, str]
Group = tuple[str, Sequence[Choice]]

_PICKED = re.compile(
    r"(?P<region>Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)/(?P<city>.+)"
)
_REGION_NAMES = {"Atlantic": "Atlantic Ocean", "Indian": "Indian Ocean", "Pacific": "Pacific Ocean"}


@lru_cache(maxsize=1)
def known_timezones() -> frozenset[str]:
    """Return every name that the time zone database knows; it is read once."""
    return frozenset(zoneinfo.available_timezones())


def timezone_groups(now: datetime, *, current: str) -> list[Group]:
    """Return what a person picks from, region by region; `current` is always among it."""
    groups = list(_groups(now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)))
    names = {name for _, choices in groups for name, _ in choices}
    if current in names or current not in known_timezones():
        return groups
    return [("As it is now", [(current, f"{current} ({_apart(current, now)})")]), *groups]


@lru_cache(maxsize=2)
def _groups(hour: datetime) -> tuple[Group, ...]:
    """Return the groups as they are in that hour: half a thousand zones are not asked for every page."""
    regions: dict[str, list[Choice]] = {}
    for name in known_timezones():
        if found := _PICKED.fullmatch(name):
            label = f"{_city(found['city'])} ({_apart(name, hour)})"
            regions.setdefault(_REGION_NAMES.get(found["region"], found["region"]), []).append((name, label))
    groups = [(region, sorted(choices, key=lambda choice: choice[1])) for region, choices in regions.items()]
    return (*sorted(groups), ("Everywhere", [(UNKNOWN_TIMEZONE, "UTC")]))


def city_of(name: str) -> str:
    """Return a time zone's name in words: its city, or the name itself where it has none."""
    found = _PICKED.fullmatch(name)
    return _city(found["city"]).rpartition(", ")[2] if found else name


def _city(path: str) -> str:
    return ", ".join(part.replace("_", " ") for part in path.split("/"))


def _apart(name: str, now: datetime) -> str:
    offset = now.astimezone(zoneinfo.ZoneInfo(name)).utcoffset() or timedelta(0)
    minutes = round(offset.total_seconds() / 60)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
