"""Reads how far the reading of documents is, and what waits for the person."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q, QuerySet

from coaching.library.rows.folders import LONG_FIELDS, Place
from coaching.models import (
    UNFINISHED_STATES,
    ActionItem,
    ActionState,
    Document,
    DocumentState,
    EntryState,
    KnowledgeEntry,
)

NEWEST_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The newest documents, and of what is still being read how much is done.

    A client's or a project's page has its folders below, which come anew only once everything is read: there
    these are only documents that came with unread ones, or were decided `since` the folders came.
    """

    newest: Sequence[Document]
    unfinished: int
    done: int
    since: datetime

    @property
    def total(self) -> int:
        return self.unfinished + self.done


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDo:
    reviews: int
    proposed_entries: int
    proposed_actions: int
    open_actions: int


def read_progress(place: Place, *, now: datetime, since: datetime | None = None) -> Progress:
    """Return the newest documents, and how many of those that came with unread ones are read.

    `since` is from the progress that a page has, if it has one: without it, a document would go that was
    decided before the oldest unread one came, and that isn't in the page's folders yet.
    """
    rows = place.documents
    unfinished = rows.filter(state__in=UNFINISHED_STATES)
    came: dict[uuid.UUID, datetime] = dict(
        unfinished.order_by().values_list("batch").annotate(Min("created_at"))[:200]
    )
    counts = rows.filter(batch__in=came).aggregate(
        done=Count("id", filter=~Q(state__in=UNFINISHED_STATES)),
        unfinished=Count("id", filter=Q(state__in=UNFINISHED_STATES)),
    )
    since = min([now, *came.values(), *([since] if since and came else [])])
    if place.is_everything:
        shown = rows
    elif came:
        shown = rows.filter(Q(batch__in=came) | Q(decided_at__gte=since))
    else:
        shown = rows.none()
    newest = _with_names(shown.order_by("-created_at", "-id"))[:NEWEST_SHOWN]
    return Progress(newest=list(newest), unfinished=counts["unfinished"], done=counts["done"], since=since)


def read_to_do(user_id: int) -> ToDo:
    """Count what waits for the person in the library."""
    actions = ActionItem.of(user_id).aggregate(
        proposed=Count("id", filter=Q(state=ActionState.PROPOSED)),
        open=Count("id", filter=Q(state=ActionState.OPEN)),
    )
    return ToDo(
        reviews=Document.of(user_id).filter(state=DocumentState.REVIEW).count(),
        proposed_entries=KnowledgeEntry.of(user_id).filter(state=EntryState.PROPOSED).count(),
        proposed_actions=actions["proposed"],
        open_actions=actions["open"],
    )


def _with_names(rows: QuerySet[Document]) -> QuerySet[Document]:
    return rows.select_related("client", "project").defer(*LONG_FIELDS)
