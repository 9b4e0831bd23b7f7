"""Next steps for programs. What a program adds or changes has its name in the step's history, with Undo.

Suggestions aren't shown: they wait for the person alone.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any, cast

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from coaching.api.keys import client_id_of
from coaching.api.requests import caller_of, page, zone_of
from coaching.api.values import ChangedStep, Id, Limit, NewStep, Offset, Page, Step, StepEdit, StepState
from coaching.clock.days import local_day
from coaching.library.clients import own_client
from coaching.library.drafts import NewAction
from coaching.library.proposals import propose
from coaching.library.resolutions import Becomes, Resolution, check_occurrence, edit_step, resolve
from coaching.library.rows.proposals import for_models, next_steps_of
from coaching.models import (
    ActionItem,
    ActionOrigin,
    ActionPriority,
    ActionState,
    ClientType,
    LibraryEffect,
    MadeBy,
)
from coaching.programs.callers import Caller
from coaching.turns.step_changes import telling

SHOWN = (ActionState.OPEN, ActionState.DONE, ActionState.DROPPED)
BECOMES: dict[str, Becomes] = {"open": "open", "done": "done", "dropped": "dropped"}


def list_steps(
    request: HttpRequest, state: StepState = "open", limit: Limit = 50, offset: Offset = 0
) -> Page[Step]:
    """List next steps by due date: those that are open, done or dropped."""
    rows = _steps_of(caller_of(request)).filter(state=state)
    shown = rows[offset : offset + limit]
    return Page(items=[_step(request, item) for item in shown], total=rows.count())


def add_step(request: HttpRequest, given: NewStep) -> Step:
    """Add a next step of the person's own, with the name of the program; the person can undo it.

    Sent again with the same `Idempotency-Key`, it is added once; 404 once the person has undone it, or has
    deleted it.
    """
    caller = caller_of(request)
    new = NewAction(
        client_id=own_client(caller.user_id).pk,
        origin=ActionOrigin.PROGRAM,
        origin_key=client_id_of(request, caller) or "",
        **given.model_dump(),
    )
    made = propose(
        user_id=caller.user_id, new=new, made_by=MadeBy.USER, is_accepted=True, program=caller.name
    )
    step = _step(request, _steps_of(caller).get(pk=made.pk))
    # As it was sent: what the person has made of it since needs the scope `read`.
    sent = {name: value for name, value in new.values().items() if name in Step.model_fields}
    return step.model_copy(update=sent)


def get_step(request: HttpRequest, step_id: Id) -> Step:
    """Return a next step."""
    return _step(request, _steps_of(caller_of(request)).get(pk=step_id))


def change_step(request: HttpRequest, step_id: Id, given: StepEdit) -> ChangedStep:
    """Change what a next step says, or what became of it; the person can undo it.

    Sent again with the same `Idempotency-Key`, it is done once: a step that repeats moves on by one date.
    With `occurrence`, another `due_date` is the date to which a step that repeats moves on.
    """
    caller = caller_of(request)
    _steps_of(caller).get(pk=step_id)
    key = client_id_of(request, caller) or ""
    with telling(user_id=caller.user_id, step_id=step_id):
        if not _is_done(caller, step_id, key):
            _change(caller, step_id, given, key)
    item = _steps_of(caller).get(pk=step_id)
    return ChangedStep(
        id=item.pk,
        state=cast("StepState", item.state),
        updated_at=item.updated_at,
        page=page(request, "library_action", item.pk),
    )


def _is_done(caller: Caller, step_id: int, key: str) -> bool:
    """Return whether a request with a key was done before. Locks the step, so that the second one waits."""
    if not key:
        return False
    ActionItem.of(caller.user_id).select_for_update().get(pk=step_id)
    return LibraryEffect.of(caller.user_id).filter(action_item=step_id, tool_use_id=key).exists()


def _change(caller: Caller, step_id: int, given: StepEdit, key: str) -> None:
    changes = given.model_dump(exclude_unset=True, exclude={"state", "occurrence"})
    if given.state is None:
        _edit(caller, step_id, changes, key)
        return
    resolution = _resolution(caller, given.state, given.occurrence, key)
    step = ActionItem.of(caller.user_id).select_for_update().get(pk=step_id)
    check_occurrence(step, resolution)  # before its date changes
    moved = _next_date(step, changes, resolution)
    _edit(caller, step_id, {name: value for name, value in changes.items() if name not in moved}, key)
    resolve(user_id=caller.user_id, step_id=step_id, resolution=resolution)
    _edit(caller, step_id, moved, key)


def _next_date(step: ActionItem, changes: Mapping[str, Any], resolution: Resolution) -> Mapping[str, Any]:
    """Return those of the changes that say when a repeating step is due next, once it is done."""
    done_for = resolution.occurrence if resolution.becomes == "done" else None
    is_moved = changes.get("due_date", done_for) != done_for
    is_repeating = step.repeats or changes.get("repeats")
    if done_for is None or not is_moved or not is_repeating or step.state != ActionState.OPEN:
        return {}
    return {name: changes[name] for name in ("due_date", "due_time") if name in changes}


def _edit(caller: Caller, step_id: int, changes: Mapping[str, Any], key: str) -> None:
    if changes:
        edit_step(
            user_id=caller.user_id,
            step_id=step_id,
            changes=changes,
            now=timezone.now(),
            tool_use_id=key,
            program=caller.name,
        )


def _resolution(caller: Caller, state: StepState, occurrence: date | None, key: str) -> Resolution:
    now = timezone.now()
    return Resolution(
        becomes=BECOMES[state],
        occurrence=occurrence,
        today=local_day(now, zone_of(caller)),
        now=now,
        tool_use_id=key,
        program=caller.name,
    )


def _steps_of(caller: Caller) -> QuerySet[ActionItem]:
    return for_models(next_steps_of(user_id=caller.user_id)).filter(state__in=SHOWN)


def _step(request: HttpRequest, item: ActionItem) -> Step:
    values: dict[str, Any] = {
        name: getattr(item, name)
        for name in (
            "id", "title", "description", "state", "due_date", "due_time", "repeats", "origin", "updated_at"
        )
    }  # fmt: skip
    return Step(
        **values,
        priority=ActionPriority(item.priority),
        client="" if item.client.client_type == ClientType.SELF else item.client.name,
        page=page(request, "library_action", item.pk),
    )
