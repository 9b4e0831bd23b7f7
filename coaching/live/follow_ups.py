"""Queues the jobs that follow a turn, apart from the turn: nobody waits for them."""

import asyncio
import uuid

import structlog
from django.db import DatabaseError

from coaching.job_queue.sessions import enqueue_follow_ups
from coaching.supervision import supervisor
from sessions_app.database import in_database

logger = structlog.get_logger(__name__)

COLLECT_SECONDS = 1.0


class FollowUps:
    """Queues titles and briefs for all sessions of this process together, about a second after their turns.

    If the process dies before, the job `enqueue_missing_briefs` finds its sessions.
    """

    def __init__(self) -> None:
        self._session_ids: set[uuid.UUID] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, session_id: uuid.UUID) -> None:
        """Queue what follows the turn that has just ended in a session, within some seconds."""
        self._session_ids.add(session_id)
        if self._task is None or self._task.done():
            self._task = supervisor.keep("follow_ups", self._enqueue_later, is_endless=False)

    async def finish(self) -> None:
        """Queue at once what is left, if the database can be reached."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._enqueue()

    async def _enqueue_later(self) -> None:
        while self._session_ids:
            await asyncio.sleep(COLLECT_SECONDS)
            await self._enqueue()

    async def _enqueue(self) -> None:
        session_ids = set(self._session_ids)
        try:
            if session_ids:
                await in_database(enqueue_follow_ups, session_ids)
        except DatabaseError as error:
            logger.warning("follow_ups_delayed", sessions=len(session_ids), error=type(error).__name__)
        else:
            self._session_ids -= session_ids
