"""Removes a person: first access, then running turns, stored objects, and rows.

The user's own row is the last. Until then the removal can be restarted at any point, by its job or by hand,
with the same result.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import structlog
from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session as LoginSession
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from coaching.files.objects import erase_objects
from coaching.job_queue.names import REMOVAL_JOB
from coaching.job_queue.queue import enqueue, forget_jobs, job_arguments
from coaching.personal_data.departures import record_departure
from coaching.personal_data.ownership import owned_models, owner_of_argument
from sessions_app.database import in_database_unhurried, no_time_limits
from sessions_app.models import Session, Turn, TurnStatus

logger = structlog.get_logger(__name__)

STOP_SECONDS = 15.0
"""Longer than it takes another process to take over and stop the turns of a dead one."""
STOP_POLL_SECONDS = 0.25
ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalReport:
    """How many rows per model and how many stored objects were removed."""

    rows: Mapping[str, int]
    objects: int


@transaction.atomic
def begin_removal(*, user_id: int) -> None:
    """Close the account at once and queue the removal, in one transaction."""
    lock_out(user_id)
    enqueue(REMOVAL_JOB, key=f"removal:{user_id}", user_id=user_id)


@transaction.atomic
def lock_out(user_id: int) -> None:
    """Disable the account; open sockets and browser sessions end within seconds."""
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is not None:
        user.is_active = False
        user.set_unusable_password()
        user.save(update_fields=["is_active", "password"])


async def remove_person(user_id: int) -> RemovalReport:
    """Remove everything of a person; repeatable. Raises `ObjectsNotErased`, with the person locked out."""
    await in_database_unhurried(lock_out, user_id)
    await in_database_unhurried(end_browser_sessions, user_id)
    await _stop_turns(user_id)
    await in_database_unhurried(record_departure, user_id)
    objects = await erase_objects(user_id=user_id)
    rows = await in_database_unhurried(_remove_rows, user_id)
    # Objects written while the rows were removed. Later ones have no row and are collected as garbage.
    objects += await erase_objects(user_id=user_id)
    logger.info("person_removed", user_id=user_id, rows=sum(rows.values()), objects=objects)
    return RemovalReport(rows=rows, objects=objects)


def end_browser_sessions(user_id: int) -> int:
    """Delete the person's browser sessions; their owner is only in the session data."""
    keys = [
        stored.session_key
        for stored in LoginSession.objects.iterator(chunk_size=500)
        if stored.get_decoded().get(SESSION_KEY) == str(user_id)
    ]
    LoginSession.objects.filter(session_key__in=keys).delete()
    return len(keys)


async def _stop_turns(user_id: int) -> None:
    """Stop running turns in every process; one that doesn't stop finds its rows gone and writes nothing."""
    for _ in range(int(STOP_SECONDS / STOP_POLL_SECONDS)):
        if not await in_database_unhurried(_ask_to_stop, user_id):
            return
        await asyncio.sleep(STOP_POLL_SECONDS)
    logger.warning("turns_not_stopped", user_id=user_id)


def _ask_to_stop(user_id: int) -> int:
    running = Turn.of(user_id).filter(status=TurnStatus.RUNNING)
    return running.update(is_stop_requested=True)


def _remove_rows(user_id: int) -> Mapping[str, int]:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with no_time_limits():  # there may be many rows
                return remove_rows(user_id)
        except (IntegrityError, OperationalError):
            # Concurrent writes: a new row refers to a deleted one (the next attempt sees it), or a file write
            # deadlocked with the removal.
            if attempt == ATTEMPTS:
                raise
    return {}


@transaction.atomic
def remove_rows(user_id: int) -> Mapping[str, int]:
    """Remove all rows of a person in one transaction; return how many per model."""
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        return {}
    # Lock order: session, then turn.
    sessions = Session.stored_of(user_id)
    list(sessions.select_for_update().order_by("pk").values_list("pk"))
    _forget_what_operators_did(user_id)
    _forget_jobs(user_id)
    counts: dict[str, int] = {}
    for owned in sorted(owned_models(), key=lambda owned: -owned.path.count("__")):
        if owned.is_left_behind:
            counts[owned.label] = owned.rows_of(user_id).delete()[0]
    return counts | user.delete()[1]


def _forget_what_operators_did(user_id: int) -> None:
    """Remove the admin's log about the person; what they did as an operator goes with their own row."""
    about: dict[type, QuerySet[User] | QuerySet] = {User: User.objects.filter(pk=user_id)}  # type: ignore[type-arg]  # of several models
    about |= {owned.model: owned.rows_of(user_id) for owned in owned_models()}
    types = ContentType.objects.get_for_models(*about)
    for model, rows in about.items():
        ids = rows.annotate(id_text=Cast("pk", TextField())).values("id_text")
        LogEntry.objects.filter(content_type=types[model], object_id__in=ids).delete()


def _forget_jobs(user_id: int) -> None:
    forget_jobs("user_id", [str(user_id)])
    for name in job_arguments():
        if owned := owner_of_argument(name):
            forget_jobs(name, [str(pk) for pk in owned.rows_of(user_id).values_list("pk", flat=True)])
