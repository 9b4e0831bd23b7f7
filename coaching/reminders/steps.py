"""Reminders of next steps: at their own time of day, those without one at the time that the person chose.

What is due at the same moment is one reminder. It goes on in the days after danger, as people rely on it for
appointments, but quotes nothing then.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from django.db.models import OuterRef, Q, QuerySet, TimeField, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from coaching.care.reading import read_care
from coaching.models import ActionItem, ActionState, Reminder, ReminderKind, SentReminder
from coaching.reminders.words import ReminderWords, words_for
from coaching.steps.due import due_on

MAX_QUOTED = 5
"""How many steps a reminder quotes."""
_OPEN = _("Open Sage to see your next steps.")


def due_steps(
    *, day: date, at: time | None, due_at: datetime, usual: OuterRef | Value
) -> QuerySet[ActionItem]:
    """Return the query of everybody's open steps that are due at a time of a day; `usual` is the chosen time.

    A step that was changed since isn't among them: whoever writes one down doesn't need to be told of it.
    """
    steps = ActionItem.unscoped.filter(due_on(day), state=ActionState.OPEN, updated_at__lte=due_at)
    reminded_at = Coalesce("due_time", usual, output_field=TimeField())
    return steps.alias(reminded_at=reminded_at).filter(reminded_at=at)


def times_of_steps(reminders: QuerySet[Reminder], *, now: datetime) -> Iterator[tuple[str, time, str]]:
    """Yield the kind, the times of day of open steps around `now`, and the time zones of their people."""
    around = (now.date() - timedelta(days=2), now.date() + timedelta(days=1))
    steps = ActionItem.unscoped.filter(
        Q(due_date__range=around) | Q(due_date__lt=around[0]) & ~Q(repeats=""),
        state=ActionState.OPEN,
        due_time__isnull=False,
        user__in=reminders.filter(kind=ReminderKind.STEPS).values("user"),
    ).exclude(user__profile=None)
    times = steps.order_by().values_list("due_time", "user__profile__timezone").distinct()
    yield from ((ReminderKind.STEPS.value, at, timezone) for at, timezone in times if at is not None)


def words_of(reminder: Reminder, sent: SentReminder, *, now: datetime) -> ReminderWords:
    """Return what a reminder of any kind says, in the active language. Sync ORM code."""
    if reminder.kind != ReminderKind.STEPS:
        return words_for(reminder.user.profile, reminder.kind, now=now)
    usual = Value(reminder.at)
    due = due_steps(day=sent.day, at=sent.at, due_at=sent.due_at, usual=usual).filter(user=reminder.user_id)
    titles = list(due.order_by("due_date", "id").values_list("title", flat=True))
    count = len(titles)
    title = ngettext("A next step is due", "%(count)s next steps are due", count) % {"count": count}
    zone = reminder.user.profile.zone
    is_quiet = read_care(user_id=reminder.user_id, now=now, zone=zone).holds_offers
    if is_quiet or not reminder.with_words:
        return ReminderWords(title=title, text=_OPEN)
    lines, more = titles[:MAX_QUOTED], count - MAX_QUOTED
    if more > 0:
        lines.append(ngettext("and %(count)s more", "and %(count)s more", more) % {"count": more})
    return ReminderWords(title=title, text="\n".join(lines))
