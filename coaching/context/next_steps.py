"""The person's next steps in a request: the nearest to today, and how many there are.

What is due today comes first, then what was or will be due in a few days: a step that has been overdue for
months displaces nothing that is due. They stand in the opening. What changes during a session is told with
the newest message, step by step, also that one was taken back. What was done or dropped in the last days is
shown, too, for the next conversation.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day, with_weekday
from coaching.context.entries import Entry, Section
from coaching.context.fences import fence_value
from coaching.models import ActionState, ClientType, StepChangeKind
from sessions_app.queries import Rows

NAME = "next_steps"
NEXT_STEPS = 10
"""How many of the nearest are shown."""
TITLE, QUOTE = 90, 110
"""How many characters of each are shown."""
MAX_CLOSED = 5
MAX_QUOTED = 6
"""How many of the nearest steps are shown with their quote."""
_CLOSED: Mapping[str, str] = {
    ActionState.DONE: "done",
    ActionState.DROPPED: "dropped",
    ActionState.DISMISSED: "taken back",
    ActionState.PROPOSED: "suggested",
}
_TITLED = frozenset({ActionState.DONE, ActionState.DROPPED})
_UNTITLED: Mapping[str, str] = {
    ActionState.DISMISSED: "The person took it back: don't write it down again unasked.",
    ActionState.PROPOSED: "It is only a suggestion now.",
}


@dataclass(frozen=True, slots=True)
class StepFact:
    """A next step as a request shows it; `client` is empty for the person's own.

    `program` names the program that wrote or changed it, if one did. `changed_on` is the day of the newest
    change, `outcome` what the person said of how it went, `move` the day of a move and their words.
    """

    id: int
    client: str
    said_on: date
    title: str
    due_date: date | None
    due_time: time | None
    repeats: str
    quote: str
    asked_for: date | None
    asked_in: UUID | None
    program: str = ""
    state: str = ActionState.OPEN
    changed_on: date | None = None
    outcome: str = ""
    move: tuple[date, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """The nearest open steps on `today`, and those closed lately, the newest first; `total` are open."""

    open: Sequence[StepFact] = ()
    closed: Sequence[StepFact] = ()
    total: int = 0
    today: date | None = None


def steps_of(rows: Rows, zone: ZoneInfo, *, today: date) -> StepFacts:
    """Return the steps in the rows of `life_queries.next_steps`."""
    found: list[StepFact] = []
    numbers: dict[object, int] = {}
    for *values, number_of_sort in rows:
        step = _step(values, zone)
        found.append(step)
        if step.state == ActionState.OPEN:
            numbers[step.due_date and step.due_date >= today] = number_of_sort
    opened = [step for step in found if step.state == ActionState.OPEN]
    return StepFacts(
        open=sorted(opened, key=partial(_nearness, today=today))[:NEXT_STEPS],
        closed=[step for step in found if step.state != ActionState.OPEN][:MAX_CLOSED],
        total=sum(numbers.values()),
        today=today,
    )


def _step(values: Sequence[Any], zone: ZoneInfo) -> StepFact:
    (
        pk,
        state,
        client,
        client_type,
        created_at,
        updated_at,
        outcome,
        quote,
        number,
        *others,
        program,
        change,
    ) = values
    title, due_date, due_time, repeats, asked_for, asked_in = others
    return StepFact(
        id=pk,
        client="" if client_type == ClientType.SELF else client,
        said_on=local_day(created_at, zone),
        title=title,
        due_date=due_date,
        due_time=due_time,
        repeats=repeats,
        # Words of a document are somebody else's: a step of one has its title alone.
        quote=quote if number is not None else "",
        asked_for=asked_for,
        asked_in=asked_in,
        program=program or "",
        state=state,
        changed_on=local_day(updated_at, zone),
        outcome=outcome,
        move=_move(json.loads(change) if isinstance(change, str) else change, zone),
    )


def _move(newest: Mapping[str, str] | None, zone: ZoneInfo) -> tuple[date, str] | None:
    """Return the newest change of a step if it was moved: what was done since moves it on by itself."""
    if newest is None or newest["kind"] != StepChangeKind.MOVED:
        return None
    return local_day(datetime.fromisoformat(newest["at"]), zone), newest["quote"]


def next_steps(facts: StepFacts) -> Section | None:
    """Show the nearest steps, and what became of some; None without any."""
    if not (facts.open or facts.closed):
        return None
    entries = [
        Entry(
            tag="step",
            attributes=_attributes(step, facts.today),
            text=_text(step, is_quoted=place < MAX_QUOTED),
            key=str(step.id),
        )
        for place, step in enumerate(facts.open)
    ]
    entries += [_closed_entry(step) for step in facts.closed]
    attributes = {"open": facts.total} if facts.total > len(facts.open) else {}
    return Section(name=NAME, attributes=attributes, entries=tuple(entries))


def _nearness(step: StepFact, *, today: date) -> tuple[bool, int, bool, time, int]:
    """Return by what steps are sorted: the client's, then days from today, what is ahead before what is past.

    Those without a date come last, the newest first.
    """
    is_own = not step.client
    if step.due_date is None:
        return is_own, timedelta.max.days, False, time.max, -step.id
    days = (step.due_date - today).days
    return is_own, abs(days), days < 0, step.due_time or time.max, step.id


def _attributes(step: StepFact, today: date | None) -> Mapping[str, object]:
    due = with_weekday(step.due_date) if step.due_date else ""
    at = f" {step.due_time:%H:%M}" if step.due_time else ""
    values = {
        "id": step.id,
        "due": f"{due}{at}",
        "is": _when(step, today),
        "repeats": step.repeats,
        "about": fence_value(step.client, 60),
    }
    return {name: value for name, value in values.items() if value}


def _when(step: StepFact, today: date | None) -> str:
    if step.due_date is None or today is None or step.due_date > today:
        return ""
    return "today" if step.due_date == today else "overdue"


def _closed_entry(step: StepFact) -> Entry:
    """Tell what became of a step; of a suggestion without its title, which may be a document's."""
    became = _CLOSED.get(step.state, "closed")
    day = f" {with_weekday(step.changed_on)}" if step.changed_on else ""
    attributes: dict[str, object] = {"id": step.id, "state": f"{became}{day}"}
    text = _UNTITLED.get(step.state, "It is no longer open.")
    if step.state in _TITLED:
        attributes["about"] = fence_value(step.client, 60)
        text = fence_value(step.title, TITLE)
        text += f"; how it went: {fence_value(step.outcome, QUOTE)}" if step.outcome else ""
    return Entry(tag="step", attributes=attributes, text=text, key=str(step.id))


def _text(step: StepFact, *, is_quoted: bool) -> str:
    title, noted = fence_value(step.title, TITLE), with_weekday(step.said_on)
    if is_quoted and step.quote:
        return f"{title}; they said on {noted}: “{fence_value(step.quote, QUOTE)}”{_moved(step)}"
    return title if step.due_date else f"{title}; noted {noted}"


def _moved(step: StepFact) -> str:
    """Tell when a step was moved: the first words name another day than it has now."""
    if step.move is None:
        return ""
    day, words = step.move
    return f"; moved on {with_weekday(day)}" + (f": “{fence_value(words, QUOTE)}”" if words else "")
