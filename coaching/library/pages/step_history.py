"""What the page of a next step says of where it comes from, and of what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.urls import reverse

from coaching.clock.days import local_day
from coaching.library.decisions import UNDO_HOURS
from coaching.models import ActionItem, ActionState, EffectKind, LibraryEffect, StepChange, StepChangeKind
from coaching.programs.words import program_in_words
from coaching.transcript.rows import PAGE_MESSAGES
from coaching.views.hits import SHOWN_AFTER
from sessions_app.models import Session

CHANGES_SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEvent:
    """One change of a step: what it was, by whom, and the words that were said of it.

    `before` and `after` are the fields that it changed. `effect_id` is that of the audit row, unless it was
    undone; `can_undo` says so of the newest.
    """

    at: datetime
    what: str
    made_by: str = ""
    outcome: str = ""
    session_id: UUID | None = None
    message_number: int | None = None
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    effect_id: int | None = None
    undone_at: datetime | None = None
    can_undo: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSource:
    """The conversation that a step comes from, and the day on which it was written there."""

    address: str
    title: str
    said_on: date


def source_of(step: ActionItem, *, zone: ZoneInfo) -> StepSource | None:
    """Return the conversation that a step comes from; None if it comes from somewhere else, or was deleted.

    The address is that of the message with the quote, also where the page shows later ones alone.
    """
    session = Session.of(step.user_id).filter(id=step.session_id).first() if step.session_id else None
    if session is None:
        return None
    address, number = reverse("session", args=[session.id]), step.message_number
    is_long_ago = number is not None and session.last_message_number - number >= PAGE_MESSAGES
    before = f"?before={number + SHOWN_AFTER}" if number is not None and is_long_ago else ""
    return StepSource(
        address=f"{address}{before}#message-{number}" if number else address,
        title=session.title or session.get_kind_display(),
        said_on=local_day(step.created_at, zone),
    )


def history_of(step: ActionItem, *, now: datetime) -> Sequence[StepEvent]:
    """Return what became of a step, the newest first, in two queries."""
    effects = LibraryEffect.of(step.user_id).filter(action_item=step)[:CHANGES_SHOWN]
    changes = StepChange.of(step.user_id).filter(action_item=step)[:CHANGES_SHOWN]
    by_effect = {change.effect_id: change for change in changes if change.effect_id}
    events = [_event_of(effect, by_effect.get(effect.pk)) for effect in effects]
    events += [_event_without_effect(change) for change in changes if change.effect_id is None]
    events.sort(key=lambda event: event.at, reverse=True)
    newest = next((event for event in events if event.effect_id), None)
    if newest is None or now - newest.at > timedelta(hours=UNDO_HOURS):
        return events
    return [replace(event, can_undo=event is newest) for event in events]


def _event_of(effect: LibraryEffect, change: StepChange | None) -> StepEvent:
    return StepEvent(
        at=effect.created_at,
        what=_what(effect, change),
        made_by=program_in_words(effect.program) if effect.program else effect.get_made_by_display(),
        outcome=_words(change) if change else "",
        session_id=change.session_id if change else None,
        message_number=change.message_number if change else None,
        before=effect.before,
        after=effect.after if effect.before else {},
        effect_id=None if effect.undone_at else effect.pk,
        undone_at=effect.undone_at,
    )


def _event_without_effect(change: StepChange) -> StepEvent:
    return StepEvent(
        at=change.at,
        what=change.get_kind_display(),
        outcome=_words(change),
        session_id=change.session_id,
        message_number=change.message_number,
        before={},
        after={},
    )


def _what(effect: LibraryEffect, change: StepChange | None) -> str:
    """Return the word for a change: that of its history, else of the state that it led to."""
    if change is not None:
        return change.get_kind_display()
    state = effect.after.get("state")
    if effect.kind == EffectKind.ACTION_CREATED or state not in ActionState.values:
        return effect.get_kind_display()
    return str(ActionState(state).label)


def _words(change: StepChange) -> str:
    """Return what the person said: of how it went, else the sentence that a change rests on."""
    if change.kind in (StepChangeKind.DONE, StepChangeKind.DROPPED):
        return change.outcome or change.quote
    return change.quote
