"""The daily backup, and how many of them stay. A worker imports it if SAGE_BACKUP_DIR is set."""

import asyncio
import threading
from datetime import UTC, datetime
from pathlib import Path

import structlog
from django.conf import settings
from django.utils import timezone
from procrastinate.contrib.django import app

from coaching.belongings.departures import forget_departures
from coaching.job_queue import BULK_QUEUE, JobPriority
from coaching.jobs.tasks import AfterStop
from sage.backups.errors import Stopped
from sage.backups.taking import file_name, take_backup
from sessions_app.database import give_back_connections, in_database_unhurried

KEPT = 7
NAME = "back_up"
_PATTERNS = ("sage-%Y%m%dT%H%M%SZ.tar", "sage-%Y%m%dT%H%M%SZ.tar.enc")

logger = structlog.get_logger(__name__)


@app.periodic(cron="17 3 * * *")
@app.task(
    name=NAME, queue=BULK_QUEUE, lock=NAME, queueing_lock=NAME, retry=AfterStop(), priority=JobPriority.BULK
)
async def back_up(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Take a backup, and remove the oldest. A worker that stops breaks it off, and another one begins it."""
    stopping = threading.Event()
    try:
        await asyncio.to_thread(_back_up, stopping)
    except asyncio.CancelledError:
        stopping.set()
        raise
    await in_database_unhurried(forget_departures, now=timezone.now())


def _back_up(stopping: threading.Event) -> None:
    folder = settings.SAGE_BACKUP_DIR
    assert folder is not None  # else this module isn't imported
    try:
        taken = take_backup(folder / file_name(timezone.now()), is_stopping=stopping.is_set)
        removed = remove_old(folder)
        logger.info("backed_up", size=taken.size, damaged=len(taken.damaged), removed=removed)
    except Stopped:
        logger.info("backup_stopped")
    finally:
        give_back_connections()


def remove_old(folder: Path) -> int:
    """Remove all but the newest backups of a folder, and what killed ones left; return how many."""
    named = [(taken_at, path) for path in folder.iterdir() if (taken_at := _taken_at(path.name))]
    unfinished = [
        path for path in folder.iterdir() if path.name.endswith(".part") and _taken_at(path.name[1:-5])
    ]
    old = [path for _, path in sorted(named)[:-KEPT]]
    for path in [*old, *unfinished]:
        path.unlink(missing_ok=True)
    return len(old)


def _taken_at(name: str) -> datetime | None:
    """Return the time in the usual name of a backup; None for other files, which stay."""
    for pattern in _PATTERNS:
        try:
            return datetime.strptime(name, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
