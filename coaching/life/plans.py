"""The day's plan and its ticks.

A tick changes the day's row, not the file. The file is what was planned, and a version per tick would swamp
its history; the row is updated under a lock, even while the storage is down. Sage reads the row
(`context.sections.todays_plan`), and saving a plan again keeps the ticks of the priorities that remain
(`files.after_effects`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import transaction
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from coaching.clock.moments import day_in_words
from coaching.models import DayPlan
from sessions_app.errors import Refused

GONE = gettext_noop("That’s no longer in the plan. This is the current plan.")
_INTENTIONS = {
    -1: gettext_lazy("Yesterday’s intention"),
    0: gettext_lazy("Today’s intention"),
    1: gettext_lazy("Tomorrow’s intention"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """A priority. Its text identifies it: identical texts are ticked together."""

    text: str
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPlan:
    """A day's plan. `path` is its file's, empty if it has none."""

    day: date
    intention: str
    priorities: Sequence[Priority]
    path: str

    @property
    def done(self) -> int:
        return sum(priority.is_done for priority in self.priorities)

    @property
    def is_all_done(self) -> bool:
        return bool(self.priorities) and self.done == len(self.priorities)


def read_plan(*, user_id: int, day: date) -> ShownPlan | None:
    """Read the plan of a day; None if it is missing or empty."""
    plan = DayPlan.of(user_id).select_related("file").filter(date=day).first()
    return _shown(plan) if plan is not None and plan.says_something else None


def read_plans(*, user_id: int, first: date, last: date) -> Mapping[date, ShownPlan]:
    """Read the plans of days that have one, by day."""
    plans = DayPlan.of(user_id).select_related("file").filter(date__gte=first, date__lte=last)
    return {plan.date: _shown(plan) for plan in plans if plan.says_something}


def plan_title(plan: ShownPlan, *, today: date) -> str:
    """Return the heading of a plan on the day `today`: a page may still show the previous day's."""
    if not plan.intention:
        return capfirst(day_in_words(plan.day, today=today))
    if near := _INTENTIONS.get((plan.day - today).days):
        return str(near)
    return _("Intention for %(day)s") % {"day": day_in_words(plan.day, today=today)}


@transaction.atomic
def tick_priority(*, user_id: int, day: date, text: str, is_done: bool) -> ShownPlan:
    """Set whether a priority is done; return the resulting plan.

    Idempotent rather than a toggle, so two tabs or a repeated form give the same result. Raises
    `DayPlan.DoesNotExist`, and `Refused` if the plan no longer has that priority.
    """
    plan = DayPlan.of(user_id).select_for_update(of=("self",)).select_related("file").get(date=day)
    # Compare words: forms normalise line breaks.
    found = [priority for priority in plan.priorities if _words(priority) == text.split()]
    if not found:
        raise Refused(GONE)
    for priority in found:
        priority["is_done"] = is_done
    plan.save(update_fields=["priorities", "updated_at"])
    return _shown(plan)


def _words(priority: dict[str, Any]) -> list[str]:
    return str(priority.get("text", "")).split()


def _shown(plan: DayPlan) -> ShownPlan:
    return ShownPlan(
        day=plan.date,
        intention=plan.intention,
        priorities=[
            Priority(text=str(priority.get("text", "")), is_done=bool(priority.get("is_done")))
            for priority in plan.priorities
        ],
        path=plan.file.path if plan.file else "",
    )
