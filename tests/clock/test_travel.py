"""A time zone in which each moment has the zone that the person was in then."""

import copy
import pickle
from datetime import UTC, date, datetime, time, timedelta
from importlib import import_module
from zoneinfo import ZoneInfo

import pytest

from coaching.clock.days import day_bounds, local_day, moment_at
from coaching.clock.travel import (
    MOST_STAYS,
    SHORTEST_STAY,
    TravelledZone,
    after_change,
    with_stay,
    zone_after,
)

ARRIVAL = datetime(2026, 10, 24, 18, 10, tzinfo=UTC)
"""The evening in Berlin before its clocks go back."""
JOURNEYS = (
    ("America/Los_Angeles", "Europe/Berlin"),
    ("Europe/Berlin", "America/Los_Angeles"),
    ("Pacific/Auckland", "America/Los_Angeles"),
    ("Europe/Berlin", "Europe/Lisbon"),
)


@pytest.mark.parametrize(("home", "away"), JOURNEYS)
def test_each_moment_has_the_time_that_the_persons_clock_showed_and_comes_back_from_it(
    home: str, away: str
) -> None:
    zone = zone_after(away, with_stay("", home, until=ARRIVAL))
    for minutes in range(-15 * 24 * 60, 15 * 24 * 60, 30):
        moment = ARRIVAL + timedelta(minutes=minutes)
        shown = moment.astimezone(ZoneInfo(home if minutes < 0 else away))
        local = moment.astimezone(zone)
        assert local.replace(fold=0, tzinfo=None) == shown.replace(fold=0, tzinfo=None)
        assert (local.utcoffset(), local.dst(), local.tzname()) == (
            shown.utcoffset(),
            shown.dst(),
            shown.tzname(),
        )
        assert local.astimezone(UTC) == moment


def test_days_of_before_a_journey_stay_what_they_were() -> None:
    zone = zone_after("Europe/Berlin", with_stay("", "America/Los_Angeles", until=ARRIVAL))
    friday = datetime(2026, 10, 23, 22, tzinfo=ZoneInfo("America/Los_Angeles"))
    assert local_day(friday, ZoneInfo("Europe/Berlin")) == date(2026, 10, 24)
    assert local_day(friday, zone) == date(2026, 10, 23)
    assert local_day(ARRIVAL, zone) == date(2026, 10, 24)
    begin, end = day_bounds(date(2026, 10, 24), zone)
    assert begin == datetime(2026, 10, 24, 4, tzinfo=ZoneInfo("America/Los_Angeles"))
    assert end == datetime(2026, 10, 25, 4, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize("loaded", ["", "twisted.persisted.styles"])
def test_there_and_back_is_three_stays(loaded: str) -> None:
    if loaded:
        import_module(loaded)  # changes how methods are pickled
    there = with_stay("", "America/Los_Angeles", until=ARRIVAL)
    back = with_stay(there, "Europe/Berlin", until=ARRIVAL + timedelta(days=5))
    zone = zone_after("America/Los_Angeles", back)
    hours = [(ARRIVAL + timedelta(days=days)).astimezone(zone).hour for days in (-1, 2, 6)]
    assert hours == [11, 19, 11]
    for other in (copy.deepcopy(zone), pickle.loads(pickle.dumps(zone))):
        assert isinstance(other, TravelledZone)
        assert (ARRIVAL + timedelta(days=2)).astimezone(other).hour == 19
    assert zone.key == "America/Los_Angeles"


def test_only_the_last_stays_are_kept_and_nobody_who_stays_needs_any() -> None:
    earlier = ""
    for number in range(MOST_STAYS + 5):
        earlier = with_stay(earlier, "Europe/Berlin", until=ARRIVAL + timedelta(days=number))
    assert len(earlier.splitlines()) == MOST_STAYS
    assert (ARRIVAL + timedelta(days=MOST_STAYS + 4)).isoformat() in earlier
    assert type(zone_after("Europe/Berlin", "")) is ZoneInfo


def test_a_day_whose_beginning_was_flown_over_begins_with_the_journey() -> None:
    left = datetime(2026, 10, 24, 3, 10, 7, tzinfo=UTC)  # Friday evening in Los Angeles, 05:10 in Berlin
    earlier = with_stay("", "America/Los_Angeles", until=left)
    saturday = date(2026, 10, 24)
    for zone in (
        zone_after("Europe/Berlin", earlier),
        zone_after("Asia/Tokyo", with_stay(earlier, "Europe/Berlin", until=left + timedelta(days=20))),
    ):
        before = left - timedelta(minutes=10)
        assert [local_day(moment, zone) for moment in (before, left)] == [date(2026, 10, 23), saturday]
        assert day_bounds(saturday, zone)[0].astimezone(UTC) == left
        assert moment_at(saturday, time(4, 30), zone) == left


def test_the_first_and_the_last_days_have_an_offset() -> None:
    for home, away in (("Asia/Tokyo", "America/Los_Angeles"), ("America/Los_Angeles", "Asia/Tokyo")):
        zone = zone_after(away, with_stay("", home, until=ARRIVAL))
        for day, place in ((date.min, home), (date.max, away)):
            shown, there = (datetime.combine(day, time(), each) for each in (zone, ZoneInfo(place)))
            assert shown.utcoffset() == there.utcoffset()


def test_a_zone_that_is_corrected_soon_was_no_stay() -> None:
    soon, later = ARRIVAL + SHORTEST_STAY / 2, ARRIVAL + SHORTEST_STAY
    at_sign_up = after_change("", "Europe/Berlin", "Europe/Lisbon", since=ARRIVAL, now=soon)
    assert at_sign_up == ""
    home = after_change("", "Europe/Lisbon", "Europe/Berlin", since=ARRIVAL - timedelta(days=9), now=ARRIVAL)
    assert home == with_stay("", "Europe/Lisbon", until=ARRIVAL)
    corrected = after_change(home, "Europe/Berlin", "Europe/Paris", since=ARRIVAL, now=soon)
    assert corrected == home
    assert after_change(home, "Europe/Berlin", "Europe/Lisbon", since=ARRIVAL, now=soon) == ""
    stayed = after_change(home, "Europe/Berlin", "Europe/Lisbon", since=ARRIVAL, now=later)
    assert len(stayed.splitlines()) == 2
