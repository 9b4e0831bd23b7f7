"""Consequences of profile changes, and the time zone choices."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.contrib.auth.models import User

from coaching.clock.days import moved_weekday
from coaching.clock.timezones import city_of, known_timezones, timezone_groups
from coaching.models import Profile, TimezoneSource
from coaching.people.profile_changes import change_profile, choose_timezone

SUNDAY = date(2026, 11, 22)
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize("weekday", range(7))
@pytest.mark.parametrize("days_ahead", range(-10, 8))
def test_a_weekly_thing_moves_to_its_nearest_new_day_and_never_into_the_past(
    weekday: int, days_ahead: int
) -> None:
    planned = SUNDAY + timedelta(days=days_ahead)
    moved = moved_weekday(planned, weekday, today=SUNDAY)
    assert moved.weekday() == weekday
    assert moved >= SUNDAY
    if days_ahead >= 3:
        assert abs((moved - planned).days) <= 3
    else:
        assert moved <= max(planned, SUNDAY) + timedelta(days=6)


@pytest.mark.django_db
def test_another_check_in_day_moves_the_next_check_in(user: User) -> None:
    Profile.unscoped.create(user=user, checkin_weekday=6, next_checkin_on=date(2026, 11, 29))
    changed = change_profile(
        user_id=user.pk, name="Ada", timezone="Europe/Berlin", checkin_weekday=2, now=NOON
    )
    assert changed.next_checkin_on == date(2026, 12, 2)
    again = change_profile(
        user_id=user.pk, name="Ada L.", timezone="Europe/Berlin", checkin_weekday=2, now=NOON
    )
    assert again.next_checkin_on == date(2026, 12, 2)


@pytest.mark.django_db
def test_an_overdue_first_check_in_moves_to_the_next_such_day(user: User) -> None:
    User.objects.filter(pk=user.pk).update(date_joined=NOON - timedelta(days=30))
    change_profile(user_id=user.pk, name="", timezone="UTC", checkin_weekday=1, now=NOON)
    assert Profile.unscoped.get(user=user).next_checkin_on == date(2026, 11, 24)


@pytest.mark.django_db
def test_today_is_the_persons_own_when_a_check_in_moves(user: User) -> None:
    Profile.unscoped.create(user=user, checkin_weekday=6, next_checkin_on=date(2026, 11, 15))
    late = datetime(2026, 11, 22, 23, tzinfo=UTC)  # already Monday in Tokyo
    changed = change_profile(user_id=user.pk, name="", timezone="Asia/Tokyo", checkin_weekday=0, now=late)
    assert changed.next_checkin_on == date(2026, 11, 23)


@pytest.mark.django_db
def test_only_who_changes_the_time_zone_has_chosen_it(user: User) -> None:
    profile = change_profile(user_id=user.pk, name="Ada", timezone="UTC", checkin_weekday=6, now=NOON)
    assert profile.timezone_source == TimezoneSource.NOBODY
    assert choose_timezone(user_id=user.pk, timezone="UTC").timezone_source == TimezoneSource.USER


def test_every_time_zone_to_pick_is_known_and_stands_once() -> None:
    names = [name for _, choices in timezone_groups(NOON, current="Europe/Berlin") for name, _ in choices]
    assert len(names) == len(set(names)) > 400
    assert set(names) <= known_timezones()


def test_time_zones_are_named_by_their_city_and_the_hours_of_the_season() -> None:
    winter = dict(dict(timezone_groups(NOON, current="UTC"))["Europe"])
    summer = dict(dict(timezone_groups(NOON - timedelta(days=120), current="UTC"))["Europe"])
    assert winter["Europe/Berlin"] == "Berlin (UTC+01:00)"
    assert summer["Europe/Berlin"] == "Berlin (UTC+02:00)"
    america = dict(dict(timezone_groups(NOON, current="UTC"))["America"])
    assert america["America/Argentina/Buenos_Aires"] == "Argentina, Buenos Aires (UTC-03:00)"
    assert city_of("America/Argentina/Buenos_Aires") == "Buenos Aires"


def test_a_time_zone_that_nobody_would_pick_can_still_be_kept() -> None:
    groups = timezone_groups(NOON, current="US/Eastern")
    assert groups[0] == ("As it is now", [("US/Eastern", "US/Eastern (UTC-05:00)")])
    assert timezone_groups(NOON, current="Not/AZone")[0][0] == "Africa"
