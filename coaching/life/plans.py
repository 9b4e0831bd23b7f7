"""The plan of a day as its user ticks it off.

A tick changes the day's row and not the day's file. The file is what was planned, and a version of it for
every tick would bury the words; the row is how the day goes, written under a lock in a moment, even while the
storage is down. Sage reads the row (`context.sections.todays_plan`), and a plan that is written again keeps
the ticks of what stays in it (`files.after_effects`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from coaching.clock.moments import day_in_words
from coaching.models import DayPlan
from sessions_app.errors import Refused

GONE = "That’s no longer in the plan. This is the current plan."


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """One thing of the plan. Its text is its name: the same text twice is ticked as one."""

    text: str
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPlan:
    """A day's plan. `path` is its file's, empty where it has none."""

    day: date
    intention: str
    priorities: Sequence[Priority]
    path: str

    @property
    def done(self) -> int:
        """How many priorities are ticked."""
        return sum(priority.is_done for priority in self.priorities)

    @property
    def is_all_done(self) -> bool:
        """Whether there were priorities and all are ticked."""
        return bool(self.priorities) and self.done == len(self.priorities)


def plans_of(user_id: int) -> QuerySet[DayPlan]:
    """Return the user's day plans, as a lazy queryset; query them only through this."""
    return DayPlan.of(user_id)


def read_plan(*, user_id: int, day: date) -> ShownPlan | None:
    """Read the plan of a day; None where there is none, or one that says nothing."""
    plan = plans_of(user_id).select_related("file").filter(date=day).first()
    return _shown(plan) if plan is not None and plan.says_something else None


def plan_title(plan: ShownPlan, *, today: date) -> str:
    """Return what stands over a plan on the day `today`: a page may still show the day before's."""
    words = day_in_words(plan.day, today=today)
    if not plan.intention:
        return words[0].upper() + words[1:]
    is_near = abs(plan.day - today) <= timedelta(days=1)
    return f"{words.capitalize()}'s intention" if is_near else f"Intention for {words}"


@transaction.atomic
def tick_priority(*, user_id: int, day: date, text: str, is_done: bool) -> ShownPlan:
    """Set whether a priority is done, and return the plan as it is then.

    It sets and doesn't turn over: two tabs, or a form that is sent twice, come to the same. Raises
    `DayPlan.DoesNotExist`, and `Refused` where the plan has changed and holds it no more.
    """
    plan = plans_of(user_id).select_for_update(of=("self",)).select_related("file").get(date=day)
    # By its words: a form writes the breaks between lines in its own way.
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
