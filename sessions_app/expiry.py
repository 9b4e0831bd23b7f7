"""Ends idle sessions: sessions of an arc expire, open conversations leave their arc.

An open conversation itself never expires, and nothing happens while a turn runs. A session is idle while
there is no message, no answer to a call and no running turn.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from sessions_app.arcs import leave_arc
from sessions_app.models import Session, SessionKind, SessionStatus, ToolCallRecord, Turn, TurnStatus
from sessions_app.pending_calls import expire_pending_calls
from sessions_app.selectors import accessible_session
from sessions_app.session_services import move_out

Expiry = Literal["expired", "arc_left"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleSession:
    user_id: int
    session_id: uuid.UUID


def idle_sessions(*, idle_since: datetime) -> list[IdleSession]:
    """Return the sessions and arcs that have been idle since that time or longer."""
    rows = _idle(idle_since).order_by("last_active_at").values_list("user_id", "id")
    return [IdleSession(user_id=user_id, session_id=session_id) for user_id, session_id in rows]


@transaction.atomic
def expire_session(*, user_id: int, session_id: uuid.UUID, idle_since: datetime) -> Expiry | None:
    """Expire an idle session, or leave its arc where it is an open conversation; return which.

    Pending calls of a session that expires end as `expired`. Returns None, and changes nothing, where
    the session isn't idle any more. Raises `Session.DoesNotExist`.
    """
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    if not _idle(idle_since).filter(id=session.id).exists():
        return None
    if session.kind == SessionKind.OPEN_CONVERSATION:
        leave_arc(session, now=timezone.now())
        return "arc_left"
    expire_pending_calls(session)
    move_out(session, SessionStatus.EXPIRED)
    return "expired"


def _idle(idle_since: datetime) -> "QuerySet[Session]":
    turns = Turn.unscoped.filter(session=OuterRef("pk"))
    runs_or_ran = turns.filter(Q(status=TurnStatus.RUNNING) | Q(part_started_at__gt=idle_since))
    answered = ToolCallRecord.unscoped.filter(turn__session=OuterRef("pk"), finished_at__gt=idle_since)
    return Session.unscoped.filter(
        ~Q(kind=SessionKind.OPEN_CONVERSATION) | ~Q(active_arc=""),
        ~Exists(runs_or_ran),
        ~Exists(answered),
        status=SessionStatus.ACTIVE,
        last_active_at__lte=idle_since,
    )
