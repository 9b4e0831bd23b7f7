"""The user's local days: until four in the morning, across clock changes, in every time zone."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coaching.clock.days import local_day, next_weekday

BERLIN = ZoneInfo("Europe/Berlin")
zones = st.sampled_from(sorted(available_timezones())).map(ZoneInfo)
moments = st.integers(946_684_800, 2_114_380_800).map(lambda seconds: datetime.fromtimestamp(seconds, tz=UTC))


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2026-11-21T03:59:59+01:00", "2026-11-20"),
        ("2026-11-21T04:00:00+01:00", "2026-11-21"),
        ("2026-11-21T23:59:59+01:00", "2026-11-21"),
        ("2026-11-22T00:00:00+01:00", "2026-11-21"),
        # The clock goes from 02:00 to 03:00: 03:30 is an hour and a half after midnight.
        ("2026-03-29T03:30:00+02:00", "2026-03-28"),
        ("2026-03-29T04:00:00+02:00", "2026-03-29"),
        # The clock goes from 03:00 to 02:00: 04:00 is five hours after midnight.
        ("2026-10-25T02:30:00+02:00", "2026-10-24"),
        ("2026-10-25T02:30:00+01:00", "2026-10-24"),
        ("2026-10-25T03:59:59+01:00", "2026-10-24"),
        ("2026-10-25T04:00:00+01:00", "2026-10-25"),
    ],
)
def test_an_evening_up_to_four_belongs_to_the_day_before(moment: str, day: str) -> None:
    assert local_day(datetime.fromisoformat(moment), BERLIN) == date.fromisoformat(day)


@given(moments, zones)
def test_the_day_is_the_walls_date_or_the_one_before(now: datetime, zone: ZoneInfo) -> None:
    local = now.astimezone(zone)
    assert local_day(now, zone) == local.date() - timedelta(days=local.hour < 4)


@given(st.dates(date(2000, 1, 1), date(2037, 1, 1)), st.integers(0, 6))
def test_the_next_weekday_is_one_to_seven_days_on(today: date, weekday: int) -> None:
    found = next_weekday(today, weekday)
    assert found.weekday() == weekday
    assert 1 <= (found - today).days <= 7
