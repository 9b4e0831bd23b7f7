"""How a user keeps their sessions in order: pins, the archive, and deleting with time to undo it.

A deleted session looks missing at once, and its rows go some minutes later. What it cost stays in the usage.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from sessions_app.import_metadata import NO_BRANCH
from sessions_app.imports import branches_of
from sessions_app.models import Session, TurnStatus
from sessions_app.selectors import accessible_session

UNDO_TIME = timedelta(minutes=10)
PURGED_AT_ONCE = 200


@transaction.atomic
def pin_session(*, user_id: int, session_id: uuid.UUID, is_pinned: bool) -> Session:
    """Pin a session to the top of the list, or unpin it; a pinned one isn't archived.

    Raises `Session.DoesNotExist`.
    """
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    session.pinned_at = (session.pinned_at or timezone.now()) if is_pinned else None
    session.archived_at = None if is_pinned else session.archived_at
    session.save(update_fields=["pinned_at", "archived_at"])
    return session


@transaction.atomic
def archive_session(*, user_id: int, session_id: uuid.UUID, is_archived: bool) -> Session:
    """Put a session into the archive, without its pin, or back. Raises `Session.DoesNotExist`."""
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    session.archived_at = (session.archived_at or timezone.now()) if is_archived else None
    session.pinned_at = None if is_archived else session.pinned_at
    session.save(update_fields=["pinned_at", "archived_at"])
    return session


@transaction.atomic
def remove_if_empty(*, user_id: int, session_id: uuid.UUID) -> bool:
    """Remove a session that nobody has said anything in, such as one whose first message was refused.

    Returns whether it is gone.
    """
    sessions = Session.of(user_id).select_for_update().defer("opening")
    session = sessions.filter(id=session_id).first()
    if session is None or session.last_message_number:
        return session is None
    session.delete()
    return True


@transaction.atomic
def delete_session(*, user_id: int, session_id: uuid.UUID) -> Session:
    """Hide a session and stop its running turn. Raises `Session.DoesNotExist`.

    Other branches of an imported one go with it, unless something was said in them here.
    """
    branches = _lock_with_branches(user_id, session_id)
    session = accessible_session(user_id=user_id, session_id=session_id, is_locked=True)
    session.deleted_at = timezone.now()
    session.save(update_fields=["deleted_at"])
    Session.of(user_id).filter(pk__in=branches).update(deleted_at=session.deleted_at)
    session.turns.filter(status=TurnStatus.RUNNING).update(is_stop_requested=True)
    return session


@transaction.atomic
def restore_session(*, user_id: int, session_id: uuid.UUID) -> Session:
    """Undo a deletion. Raises `Session.DoesNotExist`, also where its rows are gone."""
    deleted = Session.deleted_of(user_id).select_for_update(no_key=True)
    session: Session = deleted.get(id=session_id)
    if imported_id := session.metadata.get("imported_id"):
        together = Session.deleted_of(user_id).filter(branches_of(imported_id), deleted_at=session.deleted_at)
        together.update(deleted_at=None)
    session.deleted_at = None
    session.save(update_fields=["deleted_at"])
    return session


def _lock_with_branches(user_id: int, session_id: uuid.UUID) -> Sequence[uuid.UUID]:
    """Lock a session and its other branches, in order; return the keys of these."""
    named = Session.of(user_id).filter(pk=session_id, metadata__has_key="imported_id")
    imported_id = named.values_list("metadata__imported_id", flat=True).first()
    if imported_id is None:
        return ()
    branches = Session.of(user_id).filter(branches_of(imported_id)).exclude(NO_BRANCH)
    ids = list(branches.values_list("pk", flat=True))
    locked = Session.of(user_id).filter(pk__in=[session_id, *ids]).select_for_update(no_key=True)
    list(locked.order_by("pk").values_list("pk"))
    return ids


def purge_deleted_sessions(*, now: datetime) -> Sequence[uuid.UUID]:
    """Delete the rows of sessions that were deleted long enough ago, each in its own transaction.

    One with a turn that still runs is left for the next time.
    """
    due = Session.unscoped.filter(deleted_at__lt=now - UNDO_TIME).order_by("deleted_at")
    found = list(due.values_list("id", flat=True)[:PURGED_AT_ONCE])
    return [session_id for session_id in found if _purge(session_id, deleted_before=now - UNDO_TIME)]


@transaction.atomic
def _purge(session_id: uuid.UUID, *, deleted_before: datetime) -> bool:
    due = Session.unscoped.select_for_update().filter(id=session_id, deleted_at__lt=deleted_before)
    session = due.defer("opening").first()
    if session is None or session.turns.filter(status=TurnStatus.RUNNING).exists():
        return False
    session.delete()
    return True
