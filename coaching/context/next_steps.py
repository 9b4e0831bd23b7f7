"""The person's next steps in a request: the nearest ones.

They stand in the opening. What changes during a session is told with the newest message, step by step, also
that one was done or taken back: those that were closed in the last day are shown, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from uuid import UUID
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day, with_weekday
from coaching.context.entries import Entry, Section
from coaching.context.fences import fence_value
from coaching.models import ActionState, ClientType
from sessions_app.queries import Rows

NAME = "next_steps"
TITLE, QUOTE = 90, 110
"""How many characters of each are shown."""
MAX_CLOSED = 5
MAX_QUOTED = 6
"""How many of the nearest steps are shown with their quote."""
_CLOSED: Mapping[str, str] = {
    ActionState.DONE: "done",
    ActionState.DROPPED: "dropped",
    ActionState.DISMISSED: "taken back by the person: don't write it down again unasked",
    ActionState.PROPOSED: "only a suggestion now",
}


@dataclass(frozen=True, slots=True)
class StepFact:
    """A next step as a request shows it; `client` is empty for the person's own.

    `program` names the program that wrote or changed it, if one did.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """The nearest open steps, and what became of those that were closed in the last day, by id."""

    open: Sequence[StepFact] = ()
    closed: Mapping[int, str] = field(default_factory=dict)


def steps_of(rows: Rows, zone: ZoneInfo) -> StepFacts:
    """Return the steps in the rows of `life_queries.next_steps`."""
    found: list[StepFact] = []
    closed: dict[int, str] = {}
    for pk, state, client, client_type, created_at, *values in rows:
        if state != ActionState.OPEN:
            closed[pk] = state
            continue
        title, due_date, due_time, repeats, quote, number, asked_for, asked_in, program = values
        found.append(
            StepFact(
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
            )
        )
    return StepFacts(open=sorted(found, key=_nearness), closed=closed)


def next_steps(facts: StepFacts) -> Section | None:
    """Show the nearest steps, and what became of some; None without any."""
    if not (facts.open or facts.closed):
        return None
    entries = [
        Entry(
            tag="step",
            attributes=_attributes(step),
            text=_text(step, is_quoted=place < MAX_QUOTED),
            key=str(step.id),
        )
        for place, step in enumerate(facts.open)
    ]
    entries += [
        Entry(tag="step", attributes={"id": pk}, text=_CLOSED.get(state, "no longer open"), key=str(pk))
        for pk, state in list(facts.closed.items())[:MAX_CLOSED]
    ]
    return Section(name=NAME, attributes={}, entries=tuple(entries))


def _nearness(step: StepFact) -> tuple[bool, date, time, int]:
    return step.due_date is None, step.due_date or date.max, step.due_time or time.max, step.id


def _attributes(step: StepFact) -> Mapping[str, object]:
    due = with_weekday(step.due_date) if step.due_date else ""
    at = f" {step.due_time:%H:%M}" if step.due_time else ""
    values = {
        "id": step.id,
        "due": f"{due}{at}",
        "repeats": step.repeats,
        "for": fence_value(step.client, 60),
    }
    return {name: value for name, value in values.items() if value}


def _text(step: StepFact, *, is_quoted: bool) -> str:
    title = fence_value(step.title, TITLE)
    if not (is_quoted and step.quote):
        return title
    return f"{title}; said {with_weekday(step.said_on)}: {fence_value(step.quote, QUOTE)}"
