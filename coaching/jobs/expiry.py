"""Ends idle arcs, for the periodic job and `manage.py expire_sessions`."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from coaching.job_queue.sessions import enqueue_arc_summary
from sessions_app.expiry import Expiry, IdleSession, expire_session, idle_sessions
from sessions_app.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryReport:
    """The sessions that expired, and the open conversations that left their arc."""

    expired: tuple[uuid.UUID, ...]
    arcs_left: tuple[uuid.UUID, ...]


def expire_idle_sessions(*, now: datetime) -> ExpiryReport:
    """End each session and arc that was idle for `SAGE_SESSION_TTL_HOURS`, each in its own transaction.

    An arc that an open conversation left gets a summary.
    """
    idle_since = now - timedelta(hours=settings.SAGE_SESSION_TTL_HOURS)
    found: dict[str | None, list[uuid.UUID]] = {"expired": [], "arc_left": [], None: []}
    for idle in idle_sessions(idle_since=idle_since):
        try:
            ended = _expire(idle, idle_since=idle_since)
        except Session.DoesNotExist:  # deleted meanwhile with its user
            continue
        found[ended].append(idle.session_id)
    return ExpiryReport(expired=tuple(found["expired"]), arcs_left=tuple(found["arc_left"]))


@transaction.atomic
def _expire(idle: IdleSession, *, idle_since: datetime) -> Expiry | None:
    ended = expire_session(user_id=idle.user_id, session_id=idle.session_id, idle_since=idle_since)
    if ended == "arc_left":
        enqueue_arc_summary(Session.of(idle.user_id).get(id=idle.session_id))
    return ended
