"""The time zone of somebody who travels: each moment has the zone that they were in at that moment. Pure.

What was said on Friday evening at home stays Friday's, also after a flight into a zone where that moment is
Saturday: files are named after the day that it was, and “tomorrow” in somebody's words is the day after it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

MOST_STAYS = 40
"""So many of the last ones are kept."""
SHORTEST_STAY = timedelta(hours=1)
"""Who changes a zone sooner has corrected it: they weren't there."""


@dataclass(frozen=True, slots=True)
class Stay:
    """A zone that somebody was in until a moment (aware)."""

    timezone: str
    until: datetime


class TravelledZone(ZoneInfo):
    """A time zone, named after the present one, that knows the earlier ones.

    Where a clock is set back by a journey, it shows times twice: `fold` says which, as after daylight saving.
    Times that it never showed are the moment of the journey.
    """

    stays: Sequence[Stay] = ()

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
        zone, begin = self._showing(dt)
        offset = super().utcoffset(dt) if zone is None else zone.utcoffset(dt)
        if dt is None or offset is None or begin is None:
            return offset
        return min(offset, dt.replace(tzinfo=None) - begin)

    def dst(self, dt: datetime | None, /) -> timedelta | None:
        """Return how much daylight saving adds at a local time."""
        zone, _ = self._showing(dt)
        return super().dst(dt) if zone is None else zone.dst(dt)

    def tzname(self, dt: datetime | None, /) -> str | None:
        """Return the short name of the zone at a local time."""
        zone, _ = self._showing(dt)
        return super().tzname(dt) if zone is None else zone.tzname(dt)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return travelled_zone, (self.key, self.stays)

    def _zone_at(self, moment: datetime) -> ZoneInfo:
        named = next((stay.timezone for stay in self.stays if moment < stay.until), self.key)
        return ZoneInfo(named)

    def _showing(self, dt: datetime | None) -> tuple[ZoneInfo | None, datetime | None]:
        """Return the zone whose clock showed a time while the person was there, and since when they were.

        The zone is None for the present one; the moment is naive, in UTC, and None for the first zone. Of a
        time that was never shown it is the zone that was travelled to. Moments are compared as differences
        from the shown time: near the first and the last year, the moment itself may not exist.
        """
        if dt is None:
            return None, None
        shown = dt.replace(tzinfo=None)
        begin: datetime | None = None
        found: list[tuple[ZoneInfo | None, datetime | None]] = []
        skipped: tuple[ZoneInfo, datetime] | None = None
        for stay in self.stays:
            zone, until = ZoneInfo(stay.timezone), stay.until.astimezone(UTC).replace(tzinfo=None)
            offset = dt.replace(tzinfo=zone).utcoffset() or timedelta(0)
            if shown - until < offset:
                if begin is None or shown - begin >= offset:
                    found.append((zone, begin))
                elif skipped is None:
                    skipped = zone, begin
            begin = until
        present = dt.replace(tzinfo=ZoneInfo(self.key)).utcoffset() or timedelta(0)
        if begin is None or shown - begin >= present:
            found.append((None, begin))
        if found:
            return found[-1 if dt.fold else 0]
        return skipped or (None, begin)


def travelled_zone(timezone: str, stays: Sequence[Stay]) -> TravelledZone:
    """Return the zone `timezone` after earlier ones, the oldest first.

    It is no class method: where Twisted is loaded, a pickled one can't be read.
    """
    zone = TravelledZone.no_cache(timezone)
    zone.stays = tuple(stays)
    return zone


@lru_cache(maxsize=256)
def zone_after(timezone: str, earlier: str) -> ZoneInfo:
    """Return a time zone after the earlier ones, which are stored as lines of `with_stay`."""
    if not earlier:
        return ZoneInfo(timezone)
    stays = (line.split() for line in earlier.splitlines())
    return travelled_zone(timezone, [Stay(name, datetime.fromisoformat(until)) for name, until in stays])


def with_stay(earlier: str, timezone: str, *, until: datetime) -> str:
    """Return the earlier zones as they are stored, with one more, left at `until` (aware)."""
    line = f"{timezone} {until.astimezone(UTC).isoformat(timespec='seconds')}"
    return "\n".join([*earlier.splitlines(), line][-MOST_STAYS:])


def after_change(earlier: str, timezone: str, chosen: str, *, since: datetime, now: datetime) -> str:
    """Return the earlier zones as they are stored, after a change from a zone to another one.

    `since` is the first moment at which they can have had a zone. A zone that is corrected soon leaves no
    stay, and who takes the one before again has been there all the time.
    """
    lines = earlier.splitlines()
    begun = datetime.fromisoformat(lines[-1].split()[1]) if lines else since
    if not timedelta(0) <= now - begun < SHORTEST_STAY:
        return with_stay(earlier, timezone, until=now)
    if lines and lines[-1].split()[0] == chosen:
        lines.pop()
    return "\n".join(lines)
