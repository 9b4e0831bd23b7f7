"""Consequences of profile changes, and the time zone choices."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from coaching.clock.days import moved_weekday
from coaching.clock.timezones import city_of, known_timezones
from coaching.models import Profile, TimezoneSource
from coaching.people.profile_changes import change_profile, choose_timezone
from coaching.people.timezone_choices import find_timezone, timezone_choices

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
        user_id=user.pk, name="Ada", timezone="Europe/Berlin", checkin_weekday=2, language="", now=NOON
    )
    assert changed.next_checkin_on == date(2026, 12, 2)
    again = change_profile(
        user_id=user.pk, name="Ada L.", timezone="Europe/Berlin", checkin_weekday=2, language="", now=NOON
    )
    assert again.next_checkin_on == date(2026, 12, 2)


@pytest.mark.django_db
def test_an_overdue_first_check_in_moves_to_the_next_such_day(user: User) -> None:
    User.objects.filter(pk=user.pk).update(date_joined=NOON - timedelta(days=30))
    change_profile(user_id=user.pk, name="", timezone="UTC", checkin_weekday=1, language="de", now=NOON)
    assert Profile.unscoped.get(user=user).next_checkin_on == date(2026, 11, 24)


@pytest.mark.django_db
def test_today_is_the_persons_own_when_a_check_in_moves(user: User) -> None:
    Profile.unscoped.create(user=user, checkin_weekday=6, next_checkin_on=date(2026, 11, 15))
    late = datetime(2026, 11, 22, 23, tzinfo=UTC)  # already Monday in Tokyo
    changed = change_profile(
        user_id=user.pk, name="", timezone="Asia/Tokyo", checkin_weekday=0, language="", now=late
    )
    assert changed.next_checkin_on == date(2026, 11, 23)


@pytest.mark.django_db
def test_only_who_changes_the_time_zone_has_chosen_it(user: User) -> None:
    profile = change_profile(
        user_id=user.pk, name="Ada", timezone="UTC", checkin_weekday=6, language="", now=NOON
    )
    assert profile.timezone_source == TimezoneSource.NOBODY
    chosen = choose_timezone(user_id=user.pk, timezone="UTC", browser="", now=NOON)
    assert chosen.timezone_source == TimezoneSource.USER


@pytest.mark.django_db
def test_a_zone_that_was_the_persons_is_remembered_with_its_end_and_an_unknown_one_isnt(user: User) -> None:
    kept: dict[str, Any] = {"name": "Ada", "checkin_weekday": 6, "language": ""}
    profile = change_profile(user_id=user.pk, timezone="America/Los_Angeles", now=NOON, **kept)
    assert profile.earlier_timezones == "", "UTC was nobody's choice"
    landed = NOON + timedelta(days=1)
    profile = change_profile(
        user_id=user.pk, timezone="Europe/Berlin", browser="Europe/Paris", now=landed, **kept
    )
    assert profile.earlier_timezones == "America/Los_Angeles 2026-11-23T12:00:00+00:00"
    assert profile.timezone_declined == "Europe/Paris"
    profile = change_profile(user_id=user.pk, timezone="Europe/Berlin", now=NOON + timedelta(days=2), **kept)
    assert len(profile.earlier_timezones.splitlines()) == 1, "nothing was changed"
    assert [moment.astimezone(profile.zone).hour for moment in (NOON, landed)] == [4, 13]


def test_every_time_zone_to_choose_is_known_stands_once_and_is_found_by_what_the_list_says() -> None:
    choices = timezone_choices(NOON)
    names = [choice.name for choice in choices]
    assert len(names) == len(set(names)) > 400
    assert set(names) <= known_timezones()
    for choice in choices:
        assert find_timezone(choice.name) == choice.name
        assert find_timezone(choice.label) == choice.name, choice


def test_time_zones_are_named_by_city_and_country_with_the_hours_of_the_season() -> None:
    winter = {choice.name: choice.label for choice in timezone_choices(NOON)}
    summer = {choice.name: choice.label for choice in timezone_choices(NOON - timedelta(days=120))}
    assert winter["Europe/Berlin"] == "Berlin, Germany (UTC+01:00)"
    assert summer["Europe/Berlin"] == "Berlin, Germany (UTC+02:00)"
    assert winter["Asia/Singapore"] == "Singapore (UTC+08:00)"
    assert winter["UTC"] == "UTC (UTC+00:00)"
    assert city_of("America/Argentina/Buenos_Aires") == "Buenos Aires"


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        (" berlin ", "Europe/Berlin"),
        ("Berlin, Germany (UTC+01:00)", "Europe/Berlin"),
        ("new  york", "America/New_York"),
        ("Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("US/Eastern", "US/Eastern"),
        ("utc", "UTC"),
        ("Mars/Olympus", ""),
        ("../etc/passwd", ""),
        ("", ""),
    ],
)
def test_a_time_zone_is_found_by_what_people_type(typed: str, found: str) -> None:
    assert find_timezone(typed) == found
