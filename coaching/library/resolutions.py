"""What becomes of a next step: done, dropped, moved, opened again. Each change is kept in its history.

What a person did by themselves and what Sage wrote on their words are the same here. A change has an audit
row, with which `decisions.undo` takes it back, history included.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_noop

from coaching.library.decisions import edit
from coaching.library.drafts import LAST_DUE, MAX_OUTCOME, MAX_QUOTE, check_due
from coaching.library.effects import change
from coaching.library.effects import undo as undo_effect
from coaching.library.kinds import NOT_OPEN
from coaching.models import (
    ActionItem,
    ActionState,
    EffectKind,
    LibraryEffect,
    MadeBy,
    StepChange,
    StepChangeKind,
)
from coaching.steps.repeats import meant_day, next_date
from sessions_app.errors import OutOfDate, Refused

Becomes = Literal["done", "dropped", "open"]

MAX_CHANGES = 20_000
"""Of each person. The oldest go over it: what became of steps is kept as far back as their audit rows."""
COUNTED_EVERY = 100
"""Counting takes milliseconds, so it is done after about every hundredth change of all people."""

NOT_ACCEPTED = gettext_noop("This is only a suggestion. Accept it first.")
DONE_BEFORE = gettext_noop(
    "You’ve already marked this as done for that date, so nothing was changed. It’s open for its next date."
)
DONE_FOR_DATE = gettext_noop("You’ve already marked this as done for that date, so nothing was changed.")
MOVED_SINCE = gettext_noop("This step has another date now, so it wasn’t marked as done. Check it first.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What becomes of a step, on which day and at which moment, and the words that it rests on.

    With `due_date` an open step moves. `occurrence` is the due date for which a repeating step is done; its
    present one if there is none. `made_by`, `tool_use_id` and `program` are those of the audit row.
    """

    becomes: Becomes
    today: date
    now: datetime
    due_date: date | None = None
    occurrence: date | None = None
    outcome: str = ""
    quote: str = ""
    session_id: uuid.UUID | None = None
    message_number: int | None = None
    made_by: MadeBy = MadeBy.USER
    tool_use_id: str = ""
    program: str = ""


@transaction.atomic
def resolve(*, user_id: int, step_id: int, resolution: Resolution) -> LibraryEffect | None:
    """Change a step as a resolution says; None if it is so already.

    Done, a repeating step moves to its next date and stays open, until its last date. Raises `OutOfDate` for
    another occurrence than its present one, `Refused` and `DoesNotExist`.
    """
    step = ActionItem.of(user_id).select_for_update().get(id=step_id)
    if step.state == ActionState.DISMISSED:
        raise Refused(NOT_OPEN)
    if step.state == ActionState.PROPOSED:
        raise Refused(NOT_ACCEPTED)
    check_occurrence(step, resolution)
    check_due(resolution.due_date)
    due_before = step.due_date
    kind, values = _becomes(step, resolution)
    if resolution.outcome:
        values["outcome"] = resolution.outcome.strip()[:MAX_OUTCOME]
    effect = change(
        step,
        kind=EffectKind.ACTION_CHANGED,
        made_by=resolution.made_by,
        values=values,
        tool_use_id=resolution.tool_use_id,
        program=resolution.program,
    )
    if effect is not None and kind is not None:
        _keep(
            step,
            effect=effect,
            session_id=resolution.session_id,
            kind=kind,
            due_date=due_before,
            outcome=values.get("outcome", ""),
            quote=resolution.quote[:MAX_QUOTE],
            message_number=resolution.message_number,
            at=resolution.now,
        )
    return effect


def check_occurrence(step: ActionItem, resolution: Resolution) -> None:
    """Raise `OutOfDate` for what was done before, or has moved since. The caller has locked the step."""
    occurrence = resolution.occurrence
    if resolution.becomes != "done" or occurrence is None or occurrence == step.due_date:
        return
    if step.state != ActionState.OPEN:
        return
    done = StepChange.of(step.user_id).filter(action_item=step, kind=StepChangeKind.DONE)
    if done.filter(due_date=occurrence).exists():
        raise OutOfDate(DONE_BEFORE if step.repeats else DONE_FOR_DATE)
    if step.repeats:
        raise OutOfDate(MOVED_SINCE)


def _keep(step: ActionItem, **values: Any) -> None:
    """Add a change to the history, and delete the oldest over the limit now and then."""
    changes = StepChange.of(step.user_id)
    kept = changes.create(action_item=step, **values)
    if kept.pk % COUNTED_EVERY == 0:
        oldest = changes.order_by("-id").values_list("id", flat=True)[MAX_CHANGES:]
        changes.filter(id__in=list(oldest)).delete()


def _becomes(step: ActionItem, resolution: Resolution) -> tuple[StepChangeKind | None, dict[str, Any]]:
    """Return what happens to a step, None for a mere change of its words, and its new values."""
    if resolution.becomes == "done":
        if step.state == ActionState.OPEN and (coming := _next_occurrence(step, resolution.today)):
            return StepChangeKind.DONE, coming
        if step.state == ActionState.DONE:
            return None, {}
        return StepChangeKind.DONE, {"state": ActionState.DONE, "done_at": resolution.now}
    if resolution.becomes == "dropped":
        if step.state == ActionState.DROPPED:
            return None, {}
        return StepChangeKind.DROPPED, {"state": ActionState.DROPPED, "done_at": None}
    values: dict[str, Any] = {"state": ActionState.OPEN, "done_at": None}
    if resolution.due_date is not None and resolution.due_date != step.due_date:
        values |= {"due_date": resolution.due_date, "due_words": "", "month_day": None}
    if step.state != ActionState.OPEN:
        return StepChangeKind.REOPENED, values
    return (StepChangeKind.MOVED if "due_date" in values else None), values


def _next_occurrence(step: ActionItem, today: date) -> dict[str, Any]:
    """Return the values of a repeating step's next date; none after the last date that a step may have."""
    if step.due_date is None:
        return {}
    coming = next_date(step.repeats, step.due_date, done_on=today, month_day=step.month_day)
    if coming is None or coming > LAST_DUE:
        return {}
    meant = meant_day(step.repeats, coming, before=step.due_date, month_day=step.month_day)
    return {"due_date": coming, "due_words": "", "month_day": meant}


@transaction.atomic
def edit_step(
    *,
    user_id: int,
    step_id: int,
    changes: Mapping[str, Any],
    now: datetime,
    seen: Mapping[str, Any] | None = None,
    tool_use_id: str = "",
    program: str = "",
) -> LibraryEffect | None:
    """Change what a step says; another date of an open one is a move in its history.

    With the values that were `seen`, only what differs from them is changed. A `program`, by its name,
    changes no suggestion. Raises `EditConflict`, `Refused` and `ActionItem.DoesNotExist`.
    """
    step = ActionItem.of(user_id).select_for_update().get(id=step_id)
    if step.state == ActionState.DISMISSED:
        raise Refused(NOT_OPEN)
    if program and step.state == ActionState.PROPOSED:
        raise Refused(NOT_ACCEPTED)
    by: dict[str, Any] = {"tool_use_id": tool_use_id, "program": program}
    effect = edit(user_id=user_id, model=ActionItem, row_id=step_id, changes=changes, seen=seen, **by)
    is_moved = effect is not None and step.due_date is not None and "due_date" in effect.after
    if is_moved and step.state == ActionState.OPEN:
        _keep(step, effect=effect, kind=StepChangeKind.MOVED, due_date=step.due_date, at=now)
    return effect


def note_asked(*, user_id: int, session_id: uuid.UUID, step_ids: Collection[int]) -> None:
    """Note that a conversation asks what became of steps: each is asked about once for its due date."""
    if step_ids:
        steps = ActionItem.of(user_id).filter(id__in=step_ids)
        steps.update(asked_for=F("due_date"), asked_in=session_id)


@transaction.atomic
def take_back_unasked(
    *, user_id: int, session_id: uuid.UUID, tool_use_ids: Collection[str]
) -> Sequence[tuple[int, str]]:
    """Take back what calls of a turn wrote unasked: a new step becomes a suggestion, a change is undone.

    For a turn whose words turn out to speak of danger. What has been changed since stays. Returns the ids of
    the steps, each with its call. The caller has locked the session.
    """
    effects = LibraryEffect.of(user_id).filter(tool_use_id__in=tool_use_ids, undone_at=None)
    own = effects.filter(action_item__isnull=False)
    touched: list[tuple[int, str]] = []
    for effect in own.order_by("-id"):
        step = ActionItem.of(user_id).select_for_update().get(id=effect.action_item_id or 0)
        is_new = effect.kind == EffectKind.ACTION_CREATED
        if is_new and step.session_id == session_id and step.state == ActionState.OPEN:
            values = {"state": ActionState.PROPOSED}
            change(step, kind=EffectKind.ACTION_CHANGED, made_by=MadeBy.CHAT, values=values)
            touched.append((step.pk, effect.tool_use_id))
        elif not is_new and StepChange.of(user_id).filter(effect=effect, session_id=session_id).exists():
            try:
                undo_effect(user_id=user_id, effect_id=effect.pk)
            except Refused:  # it has been changed since
                continue
            touched.append((step.pk, effect.tool_use_id))
    return touched
