"""The list of a user's conversations in pages, each beginning where the one before ended.

Keyset pages: the last one costs as much as the first, and none is missed when another moves up meanwhile.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from django.db.models import Q, QuerySet

from sessions_app.models import Session, listed

SHOWN = ("id", "user_id", "kind", "title", "last_active_at", "pinned_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPlace:
    """The row that a page of the list ended with."""

    is_pinned: bool
    at: datetime
    session_id: uuid.UUID

    @classmethod
    def of(cls, session: Session) -> Self:
        return cls(
            is_pinned=session.pinned_at is not None,
            at=session.pinned_at or session.last_active_at,
            session_id=session.id,
        )


def list_sessions(
    *, user_id: int, after: ListPlace | None, limit: int
) -> tuple[Sequence[Session], ListPlace | None]:
    """Return sessions after a place, and the place where the next page begins; None after the last page.

    Pinned ones first, the newest pin on top, then the last active, without the archived ones.
    """
    rows = Session.of(user_id).filter(listed(), archived_at=None).only(*SHOWN)
    found: list[Session] = []
    if after is None or after.is_pinned:
        found += _after(rows.filter(pinned_at__isnull=False), "pinned_at", after)[: limit + 1]
        after = None
    if len(found) <= limit:
        rest = _after(rows.filter(pinned_at=None), "last_active_at", after)
        found += rest[: limit + 1 - len(found)]
    page = found[:limit]
    return page, ListPlace.of(page[-1]) if len(found) > limit else None


def _after(rows: QuerySet[Session], time: str, place: ListPlace | None) -> QuerySet[Session]:
    if place is not None:
        earlier, same = {f"{time}__lt": place.at}, {time: place.at, "id__lt": place.session_id}
        rows = rows.filter(Q(**earlier) | Q(**same))
    return rows.order_by(f"-{time}", "-id")
