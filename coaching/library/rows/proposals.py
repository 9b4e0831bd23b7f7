"""Reads knowledge entries, next steps and what was changed. Another user's look missing; lists are lazy."""

from collections.abc import Sequence
from typing import TypeVar

from django.db.models import Case, F, OuterRef, QuerySet, Subquery, TextField, Value, When

from coaching.models import (
    ActionItem,
    ActionState,
    ClientType,
    EntryState,
    KnowledgeEntry,
    LibraryEffect,
    StepChange,
    StepChangeKind,
)

RowT = TypeVar("RowT", KnowledgeEntry, ActionItem)


def entries_of(
    *,
    user_id: int,
    client_id: int | None = None,
    project_id: int | None = None,
    document_id: int | None = None,
    state: EntryState | None = None,
    with_dismissed: bool = False,
) -> QuerySet[KnowledgeEntry]:
    """Return knowledge entries, the newest first; the dismissed ones only if they are asked for."""
    rows = KnowledgeEntry.of(user_id).select_related("client", "project", "document")
    rows = rows.filter(client_id=client_id) if client_id else rows
    rows = rows.filter(project_id=project_id) if project_id else rows
    rows = rows.filter(document_id=document_id) if document_id else rows
    rows = rows.filter(state=state) if state else rows
    return rows if state or with_dismissed else rows.exclude(state=EntryState.DISMISSED)


def next_steps_of(
    *,
    user_id: int,
    client_id: int | None = None,
    project_id: int | None = None,
    document_id: int | None = None,
    state: ActionState | None = None,
    with_dismissed: bool = False,
) -> QuerySet[ActionItem]:
    """Return next steps by due date; the dismissed ones only if they are asked for.

    `moved_words` are what the person said when a step was moved, if that is its newest change.
    """
    changes = StepChange.of(user_id).filter(action_item=OuterRef("pk")).order_by("-at", "-id")
    words = Case(
        When(kind=StepChangeKind.MOVED, then=F("quote")), default=Value(""), output_field=TextField()
    )
    moved_words = Subquery(changes.values(words=words)[:1])
    rows = ActionItem.of(user_id).select_related("client", "project", "document")
    rows = rows.filter(client_id=client_id) if client_id else rows
    rows = rows.filter(project_id=project_id) if project_id else rows
    rows = rows.filter(document_id=document_id) if document_id else rows
    rows = rows.filter(state=state) if state else rows
    rows = rows.annotate(moved_words=moved_words)
    return rows if state or with_dismissed else rows.exclude(state=ActionState.DISMISSED)


def dismissed_of(rows: "QuerySet[RowT]", *, limit: int = 20) -> Sequence[RowT]:
    """Return those that were dismissed last, or whose adding was undone."""
    return list(rows.filter(state=EntryState.DISMISSED).order_by("-updated_at", "-id")[:limit])


def steps_of_home(*, user_id: int, limit: int) -> Sequence[ActionItem]:
    """Return the person's own open steps, due and overdue ones first, and those without a date last."""
    own = next_steps_of(user_id=user_id, state=ActionState.OPEN).filter(client__client_type=ClientType.SELF)
    nearest = own.order_by(F("due_date").asc(nulls_last=True), F("due_time").asc(nulls_last=True), "id")
    return list(nearest[:limit])


def for_models(rows: "QuerySet[RowT]") -> "QuerySet[RowT]":
    """Return entries or next steps without those of documents that a model never gets."""
    return rows.exclude(document__is_withheld=True)


def effects_of(*, user_id: int, document_id: int | None = None) -> QuerySet[LibraryEffect]:
    """Return what was changed in the library, or in one document, the newest first."""
    rows = LibraryEffect.of(user_id).select_related("document", "entry", "action_item")
    return rows.filter(document_id=document_id) if document_id else rows


def newest_effect(step: ActionItem) -> LibraryEffect | None:
    """Return the newest change of a step that wasn't undone."""
    return LibraryEffect.of(step.user_id).filter(action_item=step, undone_at=None).first()
