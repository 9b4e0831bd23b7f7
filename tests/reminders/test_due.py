"""Reminders are due on the person's clock: each once a day, never twice, and none that isn't wanted."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.clock.days import local_day, moment_at
from coaching.models import (
    DayPlan,
    FileType,
    Profile,
    PushDevice,
    Reminder,
    ReminderKind,
    SentReminder,
    UserFile,
)
from coaching.reminders.due import KEPT_DAYS, LATEST, claim_due, forget_old
from coaching.reminders.preferences import Choice, choose_reminders, switch_off
from tests.conftest import MakeUser
from tests.reminders.conftest import reminded

pytestmark = pytest.mark.django_db

DAY = date(2026, 11, 18)
DUE = datetime(2026, 11, 18, 8, tzinfo=UTC)
STEP = timedelta(minutes=50)
"""Less than reminders may be late."""


def moments(first: datetime, last: datetime) -> Iterator[datetime]:
    while first <= last:
        yield first
        first += STEP


def sent() -> list[tuple[str, date]]:
    return [(row.kind, row.day) for row in SentReminder.unscoped.order_by("due_at", "id")]


# --- Clock changes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "changes_on", "at", "shown"),
    [
        # Forward: the time doesn't exist on that day, so the reminder comes when the clock has changed.
        ("Europe/Berlin", date(2026, 3, 29), time(2, 30), "03:00:00+02:00"),
        ("America/New_York", date(2026, 3, 8), time(2), "03:00:00-04:00"),
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 15), "02:30:00+11:00"),
        # Back: the time exists twice, and the first one counts.
        ("Europe/Berlin", date(2026, 10, 25), time(2, 30), "02:30:00+02:00"),
        ("America/New_York", date(2026, 11, 1), time(1, 30), "01:30:00-04:00"),
        ("Australia/Lord_Howe", date(2026, 4, 5), time(1, 45), "01:45:00+11:00"),
    ],
)
def test_each_day_has_each_reminder_once_while_the_clocks_change(
    user: User, zone: str, changes_on: date, at: time, shown: str
) -> None:
    where = ZoneInfo(zone)
    # Until four in the morning it is still the day before.
    reminded(user, ReminderKind.EVENING, at, zone=zone)
    reminded(user, ReminderKind.DAY, time(8), zone=zone)
    days = [changes_on + timedelta(days=away) for away in (-1, 0, 1)]
    first, last = moment_at(days[0], time(4), where), moment_at(days[-1], time(4), where)
    claimed: dict[tuple[str, date], datetime] = {}
    for now in moments(first, last):
        if claim_due(now=now):
            claimed |= dict.fromkeys(set(sent()) - claimed.keys(), now)
    assert sorted(claimed) == sorted((kind, day) for kind in ("day", "evening") for day in days[:-1])
    assert len(sent()) == len(claimed)
    for row in SentReminder.unscoped.all():
        assert row.due_at <= claimed[row.kind, row.day] < row.due_at + STEP
        assert local_day(row.due_at, where) == row.day
    mornings = SentReminder.unscoped.filter(kind=ReminderKind.DAY)
    assert {f"{row.due_at.astimezone(where):%H:%M}" for row in mornings} == {"08:00"}
    night = SentReminder.unscoped.get(kind=ReminderKind.EVENING, day=changes_on - timedelta(days=1))
    assert night.due_at.astimezone(where).isoformat().partition("T")[2] == shown


def test_somebody_who_travels_is_reminded_once_a_day(user: User) -> None:
    reminded(user, zone="Asia/Tokyo")
    morning_there = moment_at(DAY, time(8), ZoneInfo("Asia/Tokyo"))
    assert claim_due(now=morning_there) == 1
    Profile.of(user.pk).update(timezone="America/Los_Angeles")
    for now in moments(morning_there, morning_there + timedelta(days=1)):
        claim_due(now=now)
    assert sent() == [("day", DAY)]


# --- Once, and in time ----------------------------------------------------------------------------


def test_a_late_worker_sends_within_an_hour_and_not_after(user: User, other_user: User) -> None:
    reminded(user)
    reminded(other_user, at=time(7, 30))
    assert claim_due(now=DUE - timedelta(seconds=1)) == 1
    assert claim_due(now=DUE + LATEST - timedelta(seconds=1)) == 1
    SentReminder.unscoped.all().delete()
    assert claim_due(now=DUE + LATEST) == 0


def test_a_second_row_for_a_day_is_impossible(user: User) -> None:
    reminded(user)
    assert [claim_due(now=DUE), claim_due(now=DUE), claim_due(now=DUE + STEP)] == [1, 0, 0]
    with pytest.raises(IntegrityError), transaction.atomic():
        SentReminder.unscoped.create(user=user, kind=ReminderKind.DAY, day=DAY, due_at=DUE)


def test_each_way_and_each_device_gets_its_own_job(user: User, other_user: User) -> None:
    reminded(user, by_push=True)
    reminded(other_user, by_push=False)
    for person, name in ((user, "a"), (user, "b"), (other_user, "c")):
        PushDevice.unscoped.create(user=person, endpoint=name)
    claim_due(now=DUE)
    jobs = ProcrastinateJob.objects.filter(queue_name="reminders")
    mails = jobs.filter(task_name="mail_reminder")
    assert {job.args["user_id"] for job in mails} == {user.pk, other_user.pk}
    pushes = {job.args["device_id"] for job in jobs.filter(task_name="push_reminder")}
    assert pushes == set(PushDevice.of(user.pk).values_list("id", flat=True))


def test_many_people_are_found_in_batches(make_user: MakeUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coaching.reminders.due.AT_ONCE", 2)
    for _ in range(5):
        reminded(make_user())
    assert claim_due(now=DUE) == 5
    assert SentReminder.unscoped.values("user").distinct().count() == 5


def test_old_rows_are_forgotten(user: User) -> None:
    for back in (KEPT_DAYS - 1, KEPT_DAYS + 1):
        due_at = DUE - timedelta(days=back)
        SentReminder.unscoped.create(user=user, kind=ReminderKind.DAY, day=due_at.date(), due_at=due_at)
    assert forget_old(now=DUE) == 1


# --- Wanted ---------------------------------------------------------------------------------------


def _nothing(reminder: Reminder) -> None:
    pass


def _off(reminder: Reminder) -> None:
    switch_off(user_id=reminder.user_id, kind=reminder.kind)


def _disabled(reminder: Reminder) -> None:
    User.objects.filter(pk=reminder.user_id).update(is_active=False)


def _gone(reminder: Reminder) -> None:
    User.objects.get(pk=reminder.user_id).delete()


def _planned(reminder: Reminder) -> None:
    DayPlan.unscoped.create(user_id=reminder.user_id, date=DAY, intention="rest")


def _planned_for_yesterday(reminder: Reminder) -> None:
    DayPlan.unscoped.create(user_id=reminder.user_id, date=DAY - timedelta(days=1), intention="rest")


def _emptied(reminder: Reminder) -> None:
    DayPlan.unscoped.create(user_id=reminder.user_id, date=DAY)


def _just_chosen(reminder: Reminder) -> None:
    _off(reminder)
    choice = Choice(at=time(8), by_mail=True)
    after = DUE + timedelta(minutes=1)
    choose_reminders(user_id=reminder.user_id, choices={"day": choice}, origin="", now=after)


@pytest.mark.parametrize(
    ("happened", "count"),
    [
        (_nothing, 1),
        (_off, 0),
        (_disabled, 0),
        (_gone, 0),
        (_planned, 0),
        (_planned_for_yesterday, 1),
        (_emptied, 1),
        (_just_chosen, 0),
    ],
)
def test_the_day_is_not_reminded_of_when_it_is_planned_or_nobody_wants_it(
    user: User, happened: Callable[[Reminder], None], count: int
) -> None:
    happened(reminded(user))
    assert claim_due(now=DUE + timedelta(minutes=5)) == count


def test_a_closed_day_is_not_reminded_of(user: User, other_user: User) -> None:
    for person in (user, other_user):
        reminded(person, ReminderKind.EVENING)
    UserFile.unscoped.create(
        user=user, path=f"daily-logs/{DAY}.md", file_type=FileType.DAILY_LOG, version_number=1
    )
    claim_due(now=DUE)
    assert SentReminder.unscoped.get().user == other_user


def test_a_check_in_is_reminded_of_on_its_day_and_then_once_a_week_until_it_is_made(user: User) -> None:
    reminded(user, ReminderKind.CHECK_IN)
    Profile.of(user.pk).update(next_checkin_on=DAY)
    for away in range(-3, 16):
        claim_due(now=DUE + timedelta(days=away))
    assert sent() == [("check_in", DAY + timedelta(days=7 * week)) for week in range(3)]
    Profile.of(user.pk).update(next_checkin_on=DAY + timedelta(days=27))
    claim_due(now=DUE + timedelta(days=21))
    assert len(sent()) == 3


def test_the_first_check_in_of_somebody_new_is_reminded_of(user: User) -> None:
    User.objects.filter(pk=user.pk).update(date_joined=DUE - timedelta(days=1))
    reminded(user, ReminderKind.CHECK_IN)
    for away in range(7):
        claim_due(now=DUE + timedelta(days=away))
    assert [day.weekday() for _, day in sent()] == [6]
