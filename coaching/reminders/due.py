"""Finds the reminders that are due, and claims each once.

Nothing is computed in advance: the moment follows from the time of day, the person's time zone and their day,
so a new time zone or a clock change needs no other row to change. A reminder that is found late, after
`LATEST`, isn't sent. It is claimed by a row, in one transaction with the jobs that send it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from coaching.clock.days import local_day, moment_at
from coaching.files.types import RULES
from coaching.job_queue.reminders import enqueue_reminders
from coaching.models import DayPlan, FileType, PushDevice, Reminder, ReminderKind, SentReminder, UserFile
from coaching.reminders.steps import due_steps, times_of_steps
from coaching.skills.facts import checkin_due_on

LATEST = timedelta(hours=1)
AT_ONCE = 200
KEPT_DAYS = 60
WEEK_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """Reminders of one kind that are due at the same moment: at one time of day, in one time zone.

    `step_time` is the time where the steps that are due at it have one reminder; None for other kinds.
    """

    kind: str
    at: time
    timezone: str
    day: date
    due_at: datetime

    @property
    def step_time(self) -> time | None:
        return self.at if self.kind == ReminderKind.STEPS else None


def claim_due(*, now: datetime) -> int:
    """Claim the reminders that are due at `now` (aware) and queue them; return how many. Sync ORM code."""
    return sum(len(claimed) for occasion in _occasions(now) for claimed in _claim_batches(occasion))


def wanted(kind: str, day: date, *, at: time | None, due_at: datetime) -> QuerySet[Reminder]:
    """Return the reminders of a kind that are on, of active people who haven't done it on `day`.

    Those of steps are of people who have one that is due at the time `at`.
    """
    on = Reminder.unscoped.filter(Q(by_push=True) | Q(by_mail=True), kind=kind, user__is_active=True)
    match kind:
        case ReminderKind.STEPS:
            steps = due_steps(day=day, at=at, due_at=due_at, usual=OuterRef("at"))
            return on.filter(Exists(steps.filter(user=OuterRef("user"))))
        case ReminderKind.DAY:
            said = Q(file__isnull=False) | ~Q(intention="") | ~Q(priorities=[])
            return on.exclude(Exists(DayPlan.unscoped.filter(said, user=OuterRef("user"), date=day)))
        case ReminderKind.EVENING:
            path = f"{RULES[FileType.DAILY_LOG].place}/{day.isoformat()}.md"
            logs = UserFile.unscoped.filter(
                user=OuterRef("user"), path=path, version_number__gt=0, deleted_at=None
            )
            return on.exclude(Exists(logs))
    planned = Q(user__profile__next_checkin_on=None) | Q(user__profile__next_checkin_on__lte=day)
    return on.filter(planned)


def is_for(reminder: Reminder, day: date) -> bool:
    """Return whether the person is reminded on that day: of an overdue check-in only once a week."""
    if reminder.kind != ReminderKind.CHECK_IN:
        return True
    late = (day - checkin_due_on(reminder.user.profile)).days
    return late >= 0 and late % WEEK_DAYS == 0


def is_late(sent: SentReminder, now: datetime) -> bool:
    """Return whether it is too late to send it."""
    return now >= sent.due_at + LATEST


def forget_old(*, now: datetime) -> int:
    """Delete what was sent long ago; return how many. Sync ORM code."""
    old = SentReminder.unscoped.filter(due_at__lt=now - timedelta(days=KEPT_DAYS))
    return old.delete()[0]


def _occasions(now: datetime) -> Iterator[Occasion]:
    on = Reminder.unscoped.filter(Q(by_push=True) | Q(by_mail=True), user__is_active=True)
    times = on.order_by().values_list("kind", "at", "user__profile__timezone").distinct()
    chosen = times.exclude(user__profile=None)
    for kind, at, timezone in {*chosen, *times_of_steps(on, now=now)}:
        zone = ZoneInfo(timezone)
        for day in {local_day(now, zone), local_day(now - LATEST, zone)}:
            due_at = moment_at(day, at, zone)
            if due_at <= now < due_at + LATEST:
                yield Occasion(kind=kind, at=at, timezone=timezone, day=day, due_at=due_at)


def _claim_batches(occasion: Occasion) -> Iterator[list[Reminder]]:
    after = 0
    while batch := _read(occasion, after):
        after = batch[-1].user_id
        if due := [reminder for reminder in batch if is_for(reminder, occasion.day)]:
            _claim(occasion, due)
            yield due


def _read(occasion: Occasion, after: int) -> list[Reminder]:
    claimed = SentReminder.unscoped.filter(
        user=OuterRef("user"), kind=occasion.kind, day=occasion.day, at=occasion.step_time
    )
    on = wanted(occasion.kind, occasion.day, at=occasion.step_time, due_at=occasion.due_at)
    due = on.filter(
        ~Exists(claimed),
        user_id__gt=after,
        user__profile__timezone=occasion.timezone,
        changed_at__lte=occasion.due_at,
    )
    if occasion.step_time is None:
        due = due.filter(at=occasion.at)
    return list(due.select_related("user__profile").order_by("user_id")[:AT_ONCE])


@transaction.atomic
def _claim(occasion: Occasion, due: list[Reminder]) -> None:
    SentReminder.unscoped.bulk_create(
        SentReminder(
            user_id=reminder.user_id,
            kind=occasion.kind,
            day=occasion.day,
            at=occasion.step_time,
            due_at=occasion.due_at,
        )
        for reminder in due
    )
    pushed = [reminder.user_id for reminder in due if reminder.by_push]
    devices = PushDevice.unscoped.filter(user_id__in=pushed).order_by("id")
    enqueue_reminders(
        kind=occasion.kind,
        day=occasion.day,
        at=occasion.step_time,
        mail_to=[reminder.user_id for reminder in due if reminder.by_mail],
        push_to=list(devices.values_list("user_id", "id")),
    )
