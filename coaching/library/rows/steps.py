"""Reads what there was of the person's own next steps on days: due, done, dropped, moved."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Literal
from zoneinfo import ZoneInfo

from coaching.clock.days import day_bounds, local_day
from coaching.models import ActionItem, ActionState, ClientType, StepChange, StepChangeKind

What = Literal["due", "done", "dropped", "moved"]

MAX_ROWS = 500
"""Of each kind, in all days that are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayStep:
    """A next step on a day: `due` and still open, or what became of it. `due_date` is the one it has now."""

    id: int
    title: str
    what: What
    due_date: date | None = None
    due_time: time | None = None
    repeats: str = ""
    outcome: str = ""

    @property
    def is_done(self) -> bool:
        return self.what == "done"


def steps_of_days(
    *, user_id: int, first: date, last: date, zone: ZoneInfo
) -> Mapping[date, Sequence[DayStep]]:
    """Return what there was of next steps on the days from `first` to `last`, in two queries.

    What happened comes first, in its order, and the last of it where a step changed twice. A step that was
    done on its day isn't due any more.
    """
    found: dict[date, dict[int, DayStep]] = defaultdict(dict)
    begin, _ = day_bounds(first, zone)
    _, end = day_bounds(last, zone)
    for at, step in _changes(user_id, begin, end):
        found[local_day(at, zone)][step.id] = step
    due = ActionItem.of(user_id).filter(
        state=ActionState.OPEN, due_date__range=(first, last), client__client_type=ClientType.SELF
    )
    for item in due.order_by("due_date", "due_time", "id")[:MAX_ROWS]:
        if item.due_date is not None:
            found[item.due_date].setdefault(item.pk, _shown(item, "due"))
    return {day: list(steps.values()) for day, steps in sorted(found.items())}


def _changes(user_id: int, begin: datetime, end: datetime) -> Iterator[tuple[datetime, DayStep]]:
    """Yield what became of steps, the oldest first, without what was taken back since."""
    changes = StepChange.of(user_id).filter(
        at__gte=begin, at__lt=end, action_item__client__client_type=ClientType.SELF
    )
    newest = changes.select_related("action_item").order_by("-at", "-id")[:MAX_ROWS]
    for change in reversed(newest):
        item = change.action_item
        match change.kind:
            case StepChangeKind.DONE if item.repeats or item.state == ActionState.DONE:
                yield change.at, _shown(item, "done", outcome=change.outcome)
            case StepChangeKind.DROPPED if item.state == ActionState.DROPPED:
                yield change.at, _shown(item, "dropped", outcome=change.outcome)
            case StepChangeKind.MOVED if item.state == ActionState.OPEN:
                yield change.at, _shown(item, "moved")


def _shown(item: ActionItem, what: What, *, outcome: str = "") -> DayStep:
    return DayStep(
        id=item.pk,
        title=item.title,
        what=what,
        due_date=item.due_date,
        due_time=item.due_time,
        repeats=item.repeats,
        outcome=outcome,
    )
