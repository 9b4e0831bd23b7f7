"""Time zones for a select field: by region and city, with their current UTC offset."""

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
    """Return all names in the time zone database, read once."""
    return frozenset(zoneinfo.available_timezones())


def timezone_groups(now: datetime, *, current: str) -> list[Group]:
    """Return the choices by region; `current` is always included."""
    groups = list(_groups(now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)))
    names = {name for _, choices in groups for name, _ in choices}
    if current in names or current not in known_timezones():
        return groups
    return [("As it is now", [(current, f"{current} ({_offset(current, now)})")]), *groups]


@lru_cache(maxsize=2)
def _groups(hour: datetime) -> tuple[Group, ...]:
    """Return the groups for an hour. Cached, because computing some 500 offsets per page is slow."""
    regions: dict[str, list[Choice]] = {}
    for name in known_timezones():
        if found := _PICKED.fullmatch(name):
            label = f"{_city(found['city'])} ({_offset(name, hour)})"
            regions.setdefault(_REGION_NAMES.get(found["region"], found["region"]), []).append((name, label))
    groups = [(region, sorted(choices, key=lambda choice: choice[1])) for region, choices in regions.items()]
    return (*sorted(groups), ("Everywhere", [(UNKNOWN_TIMEZONE, "UTC")]))


def city_of(name: str) -> str:
    """Return a time zone's city, or its name if it has none."""
    found = _PICKED.fullmatch(name)
    return _city(found["city"]).rpartition(", ")[2] if found else name


def _city(path: str) -> str:
    return ", ".join(part.replace("_", " ") for part in path.split("/"))


def _offset(name: str, now: datetime) -> str:
    offset = now.astimezone(zoneinfo.ZoneInfo(name)).utcoffset() or timedelta(0)
    minutes = round(offset.total_seconds() / 60)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
