"""The due steps that an arc asks about: each once for its date, in a conversation that looks back."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from coaching.clock.days import local_day, with_weekday
from coaching.context.fences import fence_value
from coaching.context.next_steps import QUOTE, TITLE, StepFacts
from coaching.context.statement import StatementPart
from coaching.models import ClientType, StepChange
from sessions_app.models import SessionKind

DUE = "steps_due"
WEEK = "steps_week"
WEEK_DAYS, MAX_OF_WEEK = 7, 10
ASKING_ARCS = frozenset({SessionKind.CLOSE_DAY, SessionKind.WEEKLY_CHECKIN})


def week_part(
    *, user_id: int, arc: str, now: datetime, zone: ZoneInfo, said: Mapping[str, str]
) -> StatementPart | None:
    """Return what became of the person's steps in the week of a check-in, unless that was sent. Sync ORM."""
    if arc != SessionKind.WEEKLY_CHECKIN or WEEK in said:
        return None
    changes = StepChange.of(user_id).filter(
        at__gte=now - timedelta(days=WEEK_DAYS), action_item__client__client_type=ClientType.SELF
    )
    lines = [
        f"- {change.kind} {with_weekday(local_day(change.at, zone))}: "
        f"{fence_value(change.action_item.title, TITLE)}"
        + (f"; their words: {fence_value(change.outcome or change.quote, QUOTE)}" if change.quote else "")
        for change in changes.select_related("action_item")[:MAX_OF_WEEK]
    ]
    if not lines:
        return None
    text = "\n".join([f"<{WEEK}>", "What became of their steps this week.", *reversed(lines), f"</{WEEK}>"])
    return StatementPart(key=WEEK, digest=str(len(lines)), text=text)


def due_part(
    facts: StepFacts, *, arc: str, today: date, session_id: UUID, said: Mapping[str, str]
) -> tuple[StatementPart | None, Sequence[int]]:
    """Return what an arc asks about, unless that was sent, and the ids of these steps."""
    if arc not in ASKING_ARCS:
        return None, ()
    due = [
        step
        for step in facts.open
        if step.due_date is not None
        and step.due_date <= today
        and (step.asked_for != step.due_date or step.asked_in == session_id)
    ]
    digest = ",".join(f"{step.id}:{step.due_date}" for step in due)
    if not due or said.get(DUE) == digest:
        return None, ()
    ids = ", ".join(str(step.id) for step in due)
    text = (
        f"<{DUE}>\nDue, and not asked about yet: {ids}. Ask about each of them once in this conversation, "
        f"where it fits: what happened?\n</{DUE}>"
    )
    return StatementPart(key=DUE, digest=digest, text=text), [step.id for step in due]
