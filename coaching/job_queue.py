"""The queue of background jobs as everybody but the worker sees it: a job is put in, within a transaction.

A job is a row that is committed with what it follows from, so neither can be without the other. Here
jobs are known by name only; what they do is in `jobs`.
"""

import uuid
from collections.abc import Collection
from typing import Any

from django.db import connection, transaction
from procrastinate import App
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.exceptions import AlreadyEnqueued

from sessions_app.arcs import unsummarised_arc
from sessions_app.database import in_database
from sessions_app.models import Session

SUMMARY_JOB = "summarise_session"


class DatabaseConnector(DjangoConnector):
    """Django's own connections, from async code too, through the one way to the database outside views."""

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        """Run a statement."""
        await in_database(self.execute_query, query, **arguments)

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        """Return the first row."""
        return await in_database(self.execute_query_one, query, **arguments)

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        """Return all rows."""
        return await in_database(self.execute_query_all, query, **arguments)


def use_our_threads(queue: App) -> None:
    """Give the queue our connector; Procrastinate calls this once its app is ready."""
    queue.connector = queue.job_manager.connector = DatabaseConnector()


def job_arguments() -> set[str]:
    """Return the names of all arguments that jobs in the queue have. Sync ORM code."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT jsonb_object_keys(args) FROM procrastinate_jobs")
        return {name for (name,) in cursor.fetchall()}


def forget_jobs(argument: str, values: Collection[str]) -> int:
    """Remove the jobs whose argument has one of these values, and return how many.

    One that is being worked on stays: it finds nothing left to do. Sync ORM code.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM procrastinate_jobs WHERE status <> 'doing' AND args->>%s = ANY(%s)",
            [argument, list(values)],
        )
        return int(cursor.rowcount)


def enqueue(name: str, *, key: str, **arguments: str | int) -> bool:
    """Put a job into the queue within the caller's transaction; return whether it wasn't there yet.

    Of jobs with one `key` one waits at most, and one runs at a time. Sync ORM code.
    """
    try:
        with transaction.atomic():  # a savepoint: the caller's transaction outlives a refusal
            app.configure_task(name, allow_unknown=False, lock=key, queueing_lock=key).defer(**arguments)
    except AlreadyEnqueued:
        return False
    return True


def enqueue_arc_summary(session: Session) -> bool:
    """Ask for the summary of the arc that a session has just completed, in the transaction that completes it.

    Returns False where it has one. Sync ORM code.
    """
    arc = unsummarised_arc(session)
    if arc is None:
        return False
    key = f"summary:{session.id}:{arc.number}"
    return enqueue(SUMMARY_JOB, key=key, session_id=str(session.id), arc=arc.number)


def enqueue_summary(session_id: uuid.UUID) -> bool:
    """Ask for the summary of a completed session, in the transaction that completes it.

    Returns False where a job for it waits already. Sync ORM code.
    """
    return enqueue(SUMMARY_JOB, key=f"summary:{session_id}", session_id=str(session_id))
