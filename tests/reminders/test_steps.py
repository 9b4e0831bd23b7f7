"""Reminders of next steps: at their time or the chosen one, each day that they repeat on, without words."""

import json
from datetime import UTC, date, datetime, time, timedelta
from http import HTTPStatus
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.clock.days import moment_at
from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.library.resolutions import Resolution, resolve
from coaching.models import ActionItem, ActionState, MadeBy, Profile, PushDevice, ReminderKind, SentReminder
from coaching.reminders.devices import Push, read_push
from coaching.reminders.due import claim_due
from coaching.reminders.mails import begin_mail
from tests.browsers import browser_of
from tests.reminders.conftest import reminded

pytestmark = pytest.mark.django_db

MONDAY = date(2026, 11, 16)
EARLIER = datetime(2026, 11, 1, 12, tzinfo=UTC)
EIGHT = time(8)


def at(day: date, hour: int, minute: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)


def make_step(
    user: User, title: str = "Call Mum", *, made_at: datetime = EARLIER, **values: Any
) -> ActionItem:
    new = NewAction(**{"client_id": own_client(user.pk).pk, "title": title, "due_date": MONDAY, **values})
    with time_machine.travel(made_at, tick=False):
        return propose(user_id=user.pk, new=new, made_by=MadeBy.CHAT, is_accepted=True)


def claimed(first: date, days: int = 1, *, every: int = 30) -> list[tuple[date, time | None]]:
    """Return what is claimed `every` so many minutes of some days, as day and time."""
    for minute in range(0, days * 24 * 60, every):
        claim_due(now=at(first, 0) + timedelta(minutes=minute))
    return [(row.day, row.at) for row in SentReminder.unscoped.order_by("due_at")]


def test_a_step_is_reminded_of_at_its_time_and_without_one_at_the_chosen_time(user: User) -> None:
    reminded(user, ReminderKind.STEPS, EIGHT)
    make_step(user)
    make_step(user, "Pay the rent")
    make_step(user, "See the doctor", due_time=time(15, 30))
    make_step(user, "Later", due_date=MONDAY + timedelta(days=5))
    assert claimed(MONDAY, 2) == [(MONDAY, EIGHT), (MONDAY, time(15, 30))]
    jobs = ProcrastinateJob.objects.filter(task_name="mail_reminder").order_by("id")
    assert [job.args["at"] for job in jobs] == ["08:00:00", "15:30:00"]


def test_it_is_the_persons_own_clock(user: User) -> None:
    reminded(user, ReminderKind.STEPS, EIGHT, zone="Pacific/Auckland")
    make_step(user)
    due_at = moment_at(MONDAY, EIGHT, Profile.of(user.pk).get().zone)
    assert due_at.date() < MONDAY
    assert [claim_due(now=due_at - timedelta(minutes=1)), claim_due(now=due_at), claim_due(now=due_at)] == [
        0, 1, 0,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("repeats", "due", "days"),
    [
        ("", MONDAY, [0]),
        ("daily", MONDAY, list(range(14))),
        ("mon,thu", MONDAY, [0, 3, 7, 10]),
        ("monthly", MONDAY, [0]),
        ("monthly", date(2026, 10, 20), [4]),
    ],
)
def test_a_repeating_step_that_was_not_done_is_due_on_its_next_day(
    user: User, repeats: str, due: date, days: list[int]
) -> None:
    reminded(user, ReminderKind.STEPS, EIGHT)
    make_step(user, due_date=due, repeats=repeats, made_at=datetime(2026, 10, 1, tzinfo=UTC))
    assert claimed(MONDAY, 14, every=480) == [(MONDAY + timedelta(days=day), EIGHT) for day in days]


def test_the_31st_is_the_last_day_of_a_shorter_month(user: User) -> None:
    reminded(user, ReminderKind.STEPS, EIGHT)
    make_step(user, due_date=date(2026, 10, 31), repeats="monthly", made_at=datetime(2026, 10, 1, tzinfo=UTC))
    assert claimed(date(2026, 11, 28), 4) == [(date(2026, 11, 30), EIGHT)]


def done(step: ActionItem) -> None:
    with time_machine.travel(EARLIER, tick=False):
        resolution = Resolution(becomes="done", today=MONDAY, now=EARLIER)
        resolve(user_id=step.user_id, step_id=step.pk, resolution=resolution)


def suggested_only(step: ActionItem) -> None:
    ActionItem.of(step.user_id).update(state=ActionState.PROPOSED)


def written_after(step: ActionItem) -> None:
    ActionItem.of(step.user_id).update(updated_at=at(MONDAY, 8, 1))


@pytest.mark.parametrize("happens", [done, suggested_only, written_after])
def test_nobody_is_reminded_of_what_is_done_suggested_or_just_written(user: User, happens: Any) -> None:
    reminded(user, ReminderKind.STEPS, EIGHT)
    happens(make_step(user))
    assert claim_due(now=at(MONDAY, 8, 5)) == 0


def test_what_is_done_after_it_was_claimed_is_not_sent(user: User) -> None:
    reminded(user, ReminderKind.STEPS, EIGHT)
    step = make_step(user)
    assert claim_due(now=at(MONDAY, 8)) == 1
    done(step)
    assert mail_to(user) is None


def test_another_persons_steps_remind_nobody_else(user: User, other_user: User) -> None:
    reminded(user, ReminderKind.STEPS, EIGHT)
    make_step(other_user)
    assert claim_due(now=at(MONDAY, 8)) == 0
    make_step(other_user, "See the doctor", due_time=time(15))
    assert claim_due(now=at(MONDAY, 15)) == 0


def test_a_moment_has_one_reminder(user: User) -> None:
    key = {"user": user, "kind": ReminderKind.STEPS, "day": MONDAY}
    SentReminder.unscoped.create(**key, at=EIGHT, due_at=at(MONDAY, 8))
    SentReminder.unscoped.create(**key, at=time(9), due_at=at(MONDAY, 9))
    with pytest.raises(IntegrityError), transaction.atomic():
        SentReminder.unscoped.create(**key, at=EIGHT, due_at=at(MONDAY, 8))


# --- Words ----------------------------------------------------------------------------------------


def mail_to(user: User, when: time = EIGHT) -> Any:
    now = at(MONDAY, when.hour, when.minute)
    return begin_mail(user_id=user.pk, kind=ReminderKind.STEPS, day=MONDAY, at=when, now=now)


def push_to(user: User) -> Push | None:
    device = PushDevice.unscoped.create(user=user, endpoint="https://push.example/1", p256dh="", auth="")
    now = at(MONDAY, 8)
    return read_push(device_id=device.pk, kind=ReminderKind.STEPS, day=MONDAY, at=EIGHT, now=now)


def test_the_words_of_a_step_stay_out_of_mails_and_notifications(user: User) -> None:
    reminded(user, ReminderKind.STEPS, EIGHT, by_push=True)
    make_step(user)
    make_step(user, "Pay the rent")
    claim_due(now=at(MONDAY, 8))
    message, push = mail_to(user), push_to(user)
    assert push is not None
    assert message.subject == "2 next steps are due"
    assert json.loads(push.payload) == {
        "kind": "steps",
        "name": "steps-0800",
        "title": "2 next steps are due",
        "text": "Open Sage to see your next steps.",
    }
    assert push.topic == "sage-steps-0800"
    for text in (push.payload, message.body, str(message.alternatives)):
        assert "Mum" not in text
        assert "rent" not in text


def test_they_are_quoted_where_the_person_wants_that(user: User) -> None:
    reminded(user, ReminderKind.STEPS, EIGHT, by_push=True, with_words=True)
    make_step(user, "Call Mum's doctor")
    for number in range(6):
        make_step(user, f"Errand {number}")
    claim_due(now=at(MONDAY, 8))
    message, push = mail_to(user), push_to(user)
    assert push is not None
    said = "Call Mum's doctor\nErrand 0\nErrand 1\nErrand 2\nErrand 3\nand 2 more"
    assert json.loads(push.payload)["text"] == said
    assert message.subject == "7 next steps are due"
    assert said in message.body
    assert mail_to(user) is None, "it is sent once"


def test_the_reminder_opens_the_next_steps_and_the_settings_have_the_choice(user: User) -> None:
    browser = browser_of(user)
    assert browser.get("/reminders/steps/").headers["Location"] == "/library/actions/"
    reminded(user, ReminderKind.DAY)
    page = browser.get("/settings/reminders/").content.decode()
    assert "Say which steps are due" in page
    form = {f"{kind}-at": "08:00" for kind in ReminderKind.values}
    chosen = {**form, "steps-at": "07:15", "steps-by_mail": "on", "steps-with_words": "on"}
    assert browser.post("/settings/reminders/", chosen).status_code == HTTPStatus.SEE_OTHER
    row = user.reminders.get(kind=ReminderKind.STEPS)
    assert (row.at, row.by_mail, row.with_words) == (time(7, 15), True, True)
