"""The time zone of somebody who travels: each moment has the zone that they were in at that moment. Pure.

What was said on Friday evening at home stays Friday's, also after a flight into a zone where that moment is
Saturday: files are named after the day that it was, and “tomorrow” in somebody's words is the day after it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Self
from zoneinfo import ZoneInfo

MOST_STAYS = 40
"""So many of the last ones are kept."""


@dataclass(frozen=True, slots=True)
class Stay:
    """A zone that somebody was in until a moment (aware)."""

    timezone: str
    until: datetime


class TravelledZone(ZoneInfo):
    """A time zone, named after the present one, that knows the earlier ones.

    Where a clock is set back by a journey, it shows times twice: `fold` says which, as after daylight saving.
    Times that it never showed are those of the zone that was travelled to.
    """

    stays: Sequence[Stay] = ()

    @classmethod
    def after(cls, timezone: str, stays: Sequence[Stay]) -> Self:
        """Return the zone `timezone` after earlier ones, the oldest first."""
        zone = cls.no_cache(timezone)
        zone.stays = tuple(stays)
        return zone

    def fromutc(self, dt: datetime, /) -> datetime:
        """Return the local time of a moment."""
        moment = dt.replace(tzinfo=UTC)
        local = moment.astimezone(self._zone_at(moment))
        shown = local.replace(tzinfo=self)
        if shown.fold == 0 and shown.astimezone(UTC) != moment:
            return shown.replace(fold=1)
        return shown

    def utcoffset(self, dt: datetime | None, /) -> timedelta | None:
        """Return the offset of a local time."""
        zone = self._zone_showing(dt)
        return super().utcoffset(dt) if zone is None else zone.utcoffset(dt)

    def dst(self, dt: datetime | None, /) -> timedelta | None:
        """Return how much daylight saving adds at a local time."""
        zone = self._zone_showing(dt)
        return super().dst(dt) if zone is None else zone.dst(dt)

    def tzname(self, dt: datetime | None, /) -> str | None:
        """Return the short name of the zone at a local time."""
        zone = self._zone_showing(dt)
        return super().tzname(dt) if zone is None else zone.tzname(dt)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return TravelledZone.after, (self.key, self.stays)

    def _zone_at(self, moment: datetime) -> ZoneInfo:
        named = next((stay.timezone for stay in self.stays if moment < stay.until), self.key)
        return ZoneInfo(named)

    def _zone_showing(self, shown: datetime | None) -> ZoneInfo | None:
        """Return the zone whose clock showed a time while the person was there; None for the present one."""
        if shown is None:
            return None
        begin: datetime | None = None
        found: list[ZoneInfo | None] = []
        for stay in self.stays:
            moment = shown.replace(tzinfo=ZoneInfo(stay.timezone)).astimezone(UTC)
            if moment < stay.until and (begin is None or moment >= begin):
                found.append(ZoneInfo(stay.timezone))
            begin = stay.until
        present = shown.replace(tzinfo=ZoneInfo(self.key)).astimezone(UTC)
        if begin is None or present >= begin or not found:
            found.append(None)
        return found[-1 if shown.fold else 0]


@lru_cache(maxsize=256)
def zone_after(timezone: str, earlier: str) -> ZoneInfo:
    """Return a time zone after the earlier ones, which are stored as lines of `with_stay`."""
    if not earlier:
        return ZoneInfo(timezone)
    stays = (line.split() for line in earlier.splitlines())
    return TravelledZone.after(timezone, [Stay(name, datetime.fromisoformat(until)) for name, until in stays])


def with_stay(earlier: str, timezone: str, *, until: datetime) -> str:
    """Return the earlier zones as they are stored, with one more, left at `until` (aware)."""
    line = f"{timezone} {until.astimezone(UTC).isoformat()}"
    return "\n".join([*earlier.splitlines(), line][-MOST_STAYS:])
