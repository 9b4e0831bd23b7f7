"""What a person does with a next step, from a conversation or on a page: edit, done, drop, undo, restore.

Readers of the conversations that show the step are told, in the transaction that changes it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Literal
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from coaching.clock.days import local_day
from coaching.files.attributes import Line, StorableText
from coaching.library.decisions import DECISIONS, NOTHING_TO_UNDO, undo
from coaching.library.drafts import MAX_DESCRIPTION, MAX_OUTCOME, MAX_TITLE
from coaching.library.effects import CHANGED_SINCE
from coaching.library.resolutions import Becomes, Resolution, edit_step, resolve
from coaching.models import ActionItem, EffectKind, LibraryEffect, Profile, StepChange
from sessions_app.errors import OutOfDate, Refused
from sessions_app.models import Session, ToolCallRecord
from sessions_app.pending_calls import UNDONE
from sessions_app.session_events import StepTold, append

MAX_ID = 2**63 - 1
TOLD_SESSIONS = 3
"""Of the conversations in which a step was changed, how many are told: a daily step has one each day."""
NO_STEP = gettext_noop("That step no longer exists.")
WRONG_ACTION = "A step's action must be one of: %(actions)s."
WRONG_INPUT = "This isn't right in the input of a step: %(field)s."


def _without_zone(at: time) -> time:
    if at.tzinfo is not None:
        raise ValueError("a time of day has no time zone: it is on the person's clock")
    return at


ClockTime = Annotated[time, AfterValidator(_without_zone)]


class StepEdit(BaseModel):
    """The input of `edit`; what it leaves out stays, and null clears a field."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[Line, Field(max_length=MAX_TITLE)] = ""
    description: Annotated[StorableText, Field(max_length=MAX_DESCRIPTION)] | None = None
    due_date: date | None = None
    due_time: ClockTime | None = None
    repeats: Annotated[StorableText, Field(max_length=40)] | None = None


class StepOutcome(BaseModel):
    """The input of `drop`: what the person says of why not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: Annotated[StorableText, Field(max_length=MAX_OUTCOME)] = ""


class StepDone(StepOutcome):
    """The input of `done`: also the due date for which a repeating step is done."""

    occurrence: date | None = None


class StepUndo(BaseModel):
    """The input of `undo`: how the step was shown; what it leaves out may be anything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    state: Literal["open", "done", "dropped"] | None = None
    due_date: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """What a frame says: whose step, in which conversation, and when."""

    user_id: int
    session_id: UUID
    step_id: int
    now: datetime


def change_step(*, user_id: int, session_id: UUID, step_id: object, action: object, given: object) -> None:
    """Do with a step what a frame of a conversation says.

    Raises `Session.DoesNotExist`, and `Refused` for input that isn't right and for a step that the person
    doesn't have.
    """
    known = ACTIONS.get(action) if isinstance(action, str) else None
    if known is None:
        raise Refused(WRONG_ACTION, actions=", ".join(ACTIONS))
    model, act = known
    is_id = isinstance(step_id, int) and not isinstance(step_id, bool) and 0 < step_id <= MAX_ID
    frame = _Frame(
        user_id=user_id,
        session_id=session_id,
        step_id=step_id if is_id and isinstance(step_id, int) else 0,
        now=timezone.now(),
    )
    with telling(user_id=user_id, step_id=frame.step_id, session_id=session_id):
        try:
            act(frame, _parsed(model, given))
        except ActionItem.DoesNotExist:
            raise Refused(NO_STEP) from None


def _parsed(model: type[BaseModel], given: object) -> BaseModel:
    """Return the input of an action. Raises `Refused`."""
    try:
        return model.model_validate({} if given is None else given)
    except ValidationError as error:
        place = error.errors()[0]["loc"]
        name = str(place[0]) if place else "input"
        raise Refused(WRONG_INPUT, field=name) from None


def _edit(frame: _Frame, given: BaseModel) -> None:
    changes = given.model_dump(include=given.model_fields_set)
    texts = {name: changes[name] or "" for name in ("description", "repeats") if name in changes}
    edit_step(user_id=frame.user_id, step_id=frame.step_id, changes=changes | texts, now=frame.now)


def _becoming(becomes: Becomes) -> Callable[[_Frame, BaseModel], None]:
    def act(frame: _Frame, given: BaseModel) -> None:
        profile, _made = Profile.of(frame.user_id).get_or_create()
        resolution = Resolution(
            becomes=becomes,
            today=local_day(frame.now, profile.zone),
            now=frame.now,
            occurrence=given.occurrence if isinstance(given, StepDone) else None,
            outcome=given.outcome if isinstance(given, StepOutcome) else "",
            session_id=frame.session_id,
        )
        resolve(user_id=frame.user_id, step_id=frame.step_id, resolution=resolution)

    return act


def _undo(frame: _Frame, given: BaseModel) -> None:
    newest = LibraryEffect.of(frame.user_id).filter(action_item=frame.step_id, undone_at=None).first()
    step = ActionItem.of(frame.user_id).get(id=frame.step_id)
    if any(getattr(step, name) != value for name, value in given.model_dump(exclude_unset=True).items()):
        raise OutOfDate(CHANGED_SINCE)
    if newest is None:
        raise Refused(NOTHING_TO_UNDO)
    undo_step(user_id=frame.user_id, step_id=frame.step_id, now=frame.now, effect_id=newest.pk)


ACTIONS: Mapping[str, tuple[type[BaseModel], Callable[[_Frame, BaseModel], None]]] = {
    "edit": (StepEdit, _edit),
    "done": (StepDone, _becoming("done")),
    "drop": (StepOutcome, _becoming("dropped")),
    "undo": (StepUndo, _undo),
}
"""The input of each action, and what it does."""


def undo_step(*, user_id: int, step_id: int, now: datetime, effect_id: int | None = None) -> LibraryEffect:
    """Undo a step's newest change, for a day; a call that made it is marked. For use within `telling`.

    Raises `OutOfDate` if the newest change isn't `effect_id`, `Refused` and `ActionItem.DoesNotExist`.
    """
    effect = undo(user_id=user_id, model=ActionItem, row_id=step_id, now=now, effect_id=effect_id)
    if effect.tool_use_id:
        _mark(user_id, step_id, [effect.tool_use_id], is_undone=True)
    return effect


def decide_step(*, user_id: int, step_id: int, do: str) -> None:
    """Do with a step what a word of `DECISIONS` says; restored, the call that wrote it is no longer marked.

    Raises `Refused` and `ActionItem.DoesNotExist`.
    """
    with telling(user_id=user_id, step_id=step_id):
        effect = DECISIONS[do](user_id=user_id, model=ActionItem, row_id=step_id)
        if do == "restore" and effect is not None:
            written = LibraryEffect.of(user_id).filter(action_item=step_id, kind=EffectKind.ACTION_CREATED)
            calls = written.exclude(tool_use_id="").values_list("tool_use_id", flat=True)
            _mark(user_id, step_id, list(calls), is_undone=False)


def _mark(user_id: int, step_id: int, tool_use_ids: Collection[str], *, is_undone: bool) -> None:
    """Mark calls of the step's conversations as undone, or as no longer so."""
    for session in _sessions_of(user_id, step_id):
        for call in ToolCallRecord.within(session).filter(tool_use_id__in=tool_use_ids):
            call.metadata[UNDONE] = is_undone
            call.save(update_fields=["metadata"])


@contextmanager
def telling(*, user_id: int, step_id: int, session_id: UUID | None = None) -> Iterator[None]:
    """Open a transaction that changes a step, and tell the conversations that show it.

    Readers of the conversation `session_id` are told in any case. Raises `Session.DoesNotExist` for one that
    the user doesn't have. Conversations are locked before the step (docs/decisions/library-lock-order.md).
    """
    with transaction.atomic():
        sessions = _sessions_of(user_id, step_id, session_id)
        yield
        for session in sessions:
            calls = _calls_about(session, step_id) or ([""] if session.id == session_id else [])
            facts = [StepTold(step_id=step_id, tool_use_id=call, is_changed=True) for call in calls]
            if facts:
                append(session, *facts)


def _sessions_of(user_id: int, step_id: int, session_id: UUID | None = None) -> Sequence[Session]:
    """Return the conversations in which a step was written and changed last, locked, and `session_id`."""
    written = ActionItem.of(user_id).filter(id=step_id).values_list("session", flat=True)
    changed = StepChange.of(user_id).filter(action_item=step_id).values_list("session", flat=True)
    found_ids = (session_id, *written, *changed.exclude(session=None)[:TOLD_SESSIONS])
    ids = {each for each in found_ids if each is not None}
    sessions = Session.of(user_id).select_for_update(no_key=True).filter(id__in=ids).order_by("id")
    found = list(sessions)
    if session_id is not None and session_id not in [session.id for session in found]:
        raise Session.DoesNotExist
    return found


def _calls_about(session: Session, step_id: int) -> Sequence[str]:
    """Return the calls of a conversation that wrote or changed a step unasked."""
    effects = LibraryEffect.of(session.user_id).filter(action_item=step_id, program="")
    effects = effects.exclude(tool_use_id="")
    calls = ToolCallRecord.within(session).filter(
        tool_use_id__in=list(effects.values_list("tool_use_id", flat=True)[:TOLD_SESSIONS]),
        turn__is_withdrawn=False,
        value__isnull=True,
    )
    return list(calls.values_list("tool_use_id", flat=True))
