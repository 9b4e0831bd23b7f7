"""Calendar events on a person's own days, in any time zone and across clock changes."""

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from pytest_django import DjangoAssertNumQueries

from coaching.calendar.selectors import calendar_of_day
from coaching.models import CalendarEvent, CalendarSource
from tests.calendar.conftest import NOW, source_of, timed

pytestmark = pytest.mark.django_db


def on_days(source: CalendarSource, title: str, starts: str, ends: str) -> CalendarEvent:
    return CalendarEvent.unscoped.create(
        source=source,
        uid=title,
        title=title,
        starts_on=date.fromisoformat(starts),
        ends_on=date.fromisoformat(ends),
    )


def seen(user: User, day: str, zone: str = "Europe/Lisbon") -> list[tuple[str, str]]:
    found = calendar_of_day(user.pk, date.fromisoformat(day), ZoneInfo(zone)).events
    return [(event.when, event.title) for event in found]


def test_a_day_shows_its_whole_days_first_and_then_its_hours_in_order(user: User) -> None:
    source = source_of(user)
    timed(source, "Lunch", "2026-11-18T13:00Z", "2026-11-18T14:00Z")
    timed(source, "Standup", "2026-11-18T09:30Z", "2026-11-18T09:45Z")
    timed(source, "A moment", "2026-11-18T10:00Z", "2026-11-18T10:00Z")
    on_days(source, "Conference", "2026-11-17", "2026-11-19")
    on_days(source, "Holiday", "2026-11-19", "2026-11-20")
    assert seen(user, "2026-11-18") == [
        ("all day", "Conference"),
        ("09:30–09:45", "Standup"),
        ("10:00", "A moment"),
        ("13:00–14:00", "Lunch"),
    ]
    assert seen(user, "2026-11-19") == [("all day", "Holiday")]


def test_a_night_belongs_to_the_day_before_until_four(user: User) -> None:
    source = source_of(user)
    timed(source, "Night train", "2026-11-18T22:40Z", "2026-11-19T06:30Z")
    timed(source, "Late film", "2026-11-19T00:30Z", "2026-11-19T02:00Z")
    timed(source, "Early flight", "2026-11-19T04:00Z", "2026-11-19T05:00Z")
    timed(source, "Retreat", "2026-11-16T18:00Z", "2026-11-20T10:00Z")
    assert seen(user, "2026-11-18") == [
        ("all day", "Retreat"),
        ("from 22:40", "Night train"),
        ("00:30–02:00 (past midnight)", "Late film"),
    ]
    assert seen(user, "2026-11-19") == [
        ("all day", "Retreat"),
        ("until 06:30", "Night train"),
        ("04:00–05:00", "Early flight"),
    ]


def test_midnight_to_midnight_is_a_whole_day_and_no_evening_of_the_day_before(user: User) -> None:
    timed(source_of(user), "Off", "2026-11-18T15:00Z", "2026-11-19T15:00Z")
    assert seen(user, "2026-11-18", "Asia/Tokyo") == []
    assert seen(user, "2026-11-19", "Asia/Tokyo") == [("all day", "Off")]
    assert seen(user, "2026-11-20", "Asia/Tokyo") == []


@pytest.mark.parametrize(
    ("zone", "day", "when"),
    [
        ("Pacific/Kiritimati", "2026-11-19", "10:00–11:00"),
        ("Asia/Kathmandu", "2026-11-19", "01:45–02:45 (past midnight)"),
        ("Europe/Lisbon", "2026-11-18", "20:00–21:00"),
        ("America/Los_Angeles", "2026-11-18", "12:00–13:00"),
        ("Pacific/Pago_Pago", "2026-11-18", "09:00–10:00"),
    ],
)
def test_a_moment_falls_on_the_viewers_own_day(user: User, zone: str, day: str, when: str) -> None:
    timed(source_of(user), "Call", "2026-11-18T20:00Z", "2026-11-18T21:00Z")
    own_day = date.fromisoformat(day)
    if "past midnight" in when:
        own_day -= timedelta(days=1)
    for offset in (-1, 0, 1):
        other = (own_day + timedelta(days=offset)).isoformat()
        assert seen(user, other, zone) == ([(when, "Call")] if offset == 0 else [])


def test_a_floating_event_stays_at_its_hour_wherever_the_person_goes(user: User) -> None:
    timed(source_of(user), "Yoga", "2026-11-18T07:00Z", "2026-11-18T08:00Z", is_floating=True)
    for zone in ("Pacific/Kiritimati", "Europe/Lisbon", "Pacific/Pago_Pago"):
        assert seen(user, "2026-11-18", zone) == [("07:00–08:00", "Yoga")]
        assert seen(user, "2026-11-17", zone) == seen(user, "2026-11-19", zone) == []


def test_the_days_on_which_clocks_change_lose_and_repeat_nothing(user: User) -> None:
    source = source_of(user)
    # Berlin: 29 March 2026 has 23 hours, 25 October 25.
    timed(source, "Before the gap", "2026-03-29T00:30Z", "2026-03-29T00:50Z")  # 01:30 by the wall
    timed(source, "Long night", "2026-03-28T22:00Z", "2026-03-29T02:00Z")  # 23:00 to 04:00 by the wall
    timed(source, "Breakfast", "2026-03-29T06:00Z", "2026-03-29T07:00Z")
    assert seen(user, "2026-03-28", "Europe/Berlin") == [
        ("23:00–04:00", "Long night"),
        ("01:30–01:50 (past midnight)", "Before the gap"),
    ]
    assert seen(user, "2026-03-29", "Europe/Berlin") == [("08:00–09:00", "Breakfast")]
    timed(source, "Twice", "2026-10-25T00:30Z", "2026-10-25T01:15Z")  # 02:30 to 02:15 by the wall
    timed(source, "After", "2026-10-25T03:00Z", "2026-10-25T04:00Z")
    assert seen(user, "2026-10-24", "Europe/Berlin") == [("02:30–02:15 (past midnight)", "Twice")]
    assert seen(user, "2026-10-25", "Europe/Berlin") == [("04:00–05:00", "After")]


def test_what_stands_in_two_calendars_is_there_once(user: User) -> None:
    for name in ("Work", "Team"):
        timed(source_of(user, name), "Standup", "2026-11-18T09:30Z", "2026-11-18T09:45Z", uid="one@work")
    assert seen(user, "2026-11-18") == [("09:30–09:45", "Standup")]


def test_a_day_is_one_read_and_says_which_calendar_is_old(
    user: User, other_user: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    day, zone = NOW.date(), ZoneInfo("Europe/Lisbon")
    assert not calendar_of_day(user.pk, day, zone).has_calendar
    timed(source_of(other_user), "Secret", "2026-11-18T09:30Z", "2026-11-18T09:45Z")
    source_of(user, "Empty")
    source_of(user, "Gone", failures=2, failing_since=NOW - timedelta(days=3), error="It is gone.")
    with django_assert_num_queries(1):
        shown = calendar_of_day(user.pk, day, zone)
    assert (shown.events, shown.has_calendar, shown.unread_since) == ([], True, date(2026, 11, 15))


def test_the_database_refuses_what_can_t_be_an_event(user: User) -> None:
    source = source_of(user)
    timed(source, "Once", "2026-11-18T09:30Z", "2026-11-18T09:45Z")
    on_days(source, "Once", "2026-11-18", "2026-11-19")
    for values in (
        {"uid": "Once", "starts_at": NOW.replace(hour=9, minute=30), "ends_at": NOW.replace(hour=11)},
        {"uid": "Once", "starts_on": NOW.date(), "ends_on": NOW.date() + timedelta(days=3)},
        {"uid": "backwards", "starts_at": NOW, "ends_at": NOW - timedelta(hours=1)},
        {"uid": "no day", "starts_on": NOW.date(), "ends_on": NOW.date()},
        {"uid": "both", "starts_at": NOW, "ends_at": NOW, "starts_on": NOW.date(), "ends_on": NOW.date()},
        {"uid": "neither"},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            CalendarEvent.unscoped.create(source=source, **values)
    with pytest.raises(IntegrityError), transaction.atomic():
        source_of(user)
    with pytest.raises(IntegrityError), transaction.atomic():
        source_of(user, "Silent", failures=1, failing_since=NOW)
