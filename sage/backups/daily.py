"""The daily backup, and how long it stays. A worker imports it if SAGE_BACKUP_DIR is set."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from django.conf import settings
from django.utils import timezone
from procrastinate import RetryDecision
from procrastinate.contrib.django import app
from procrastinate.jobs import Job

from coaching.files.former_databases import BACKUP_LOCK
from coaching.files.objects import STORAGE_ERRORS
from coaching.job_queue.names import BULK_QUEUE, JobPriority
from coaching.jobs.retries import AfterStop
from coaching.models import Backup
from coaching.personal_data.departures import has_departed_between
from sage.backups.databases import connect, join_server, try_lock
from sage.backups.errors import Busy, Stopped
from sage.backups.taking import file_name, take_backup
from sessions_app.database import give_back_connections

KEPT = timedelta(days=7) - timedelta(hours=1)
"""A week, less the hour until the job runs again: people read that a copy of them lasts for seven days."""
LONGEST_REMOVAL = timedelta(days=1)
"""People are listed before their rows are removed, so a backup may have them still.

An attempt that fails is repeated, and each one lists them anew.
"""
GONE_FOR_LONG = "It was deleted, because somebody in it had left a week before."
NIGHT_HOUR, NIGHTLY_AGE, LATE_AGE = 3, timedelta(hours=12), timedelta(hours=24, minutes=30)
"""The nightly one is taken unless there is one of the evening; at other hours one that is late."""
NAME = "back_up"
STOP_SECONDS = 10.0
BUSY_SECONDS = 60
MAX_BUSY = 30
_PATTERNS = ("sage-%Y%m%dT%H%M%SZ.tar", "sage-%Y%m%dT%H%M%SZ.tar.enc")

logger = structlog.get_logger(__name__)


class AfterStopOrBusy(AfterStop):
    """As after a stop; in a minute while something else has the lock."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, Busy) and job.attempts < MAX_BUSY:
            return RetryDecision(retry_in={"seconds": BUSY_SECONDS})
        return super().get_retry_decision(exception=exception, job=job)


@app.periodic(cron="17 * * * *")
@app.task(
    name=NAME,
    queue=BULK_QUEUE,
    lock=NAME,
    queueing_lock=NAME,
    retry=AfterStopOrBusy(),
    priority=JobPriority.BULK,
)
async def back_up(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Take a backup if it is time. A worker that stops breaks it off, and another one begins it."""
    stopping = threading.Event()
    work = asyncio.ensure_future(asyncio.to_thread(_back_up, stopping))
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        stopping.set()
        await asyncio.wait([work], timeout=STOP_SECONDS)
        raise


def _back_up(stopping: threading.Event) -> None:
    folder = settings.SAGE_BACKUP_DIR
    assert folder is not None  # else this module isn't imported
    now = timezone.now()
    try:
        remove_old(folder, now=now)
        if is_due(folder, now=now):
            taken = take_backup(folder / file_name(now), is_stopping=stopping.is_set)
            logger.info("backed_up", size=taken.size, damaged=len(taken.damaged))
    except Stopped:
        logger.info("backup_stopped")
    finally:
        give_back_connections()


def is_due(folder: Path, *, now: datetime) -> bool:
    """Return whether a backup is to be taken now, by those that are in the folder.

    One of the future was taken while the clock was wrong, and mustn't keep others from being taken.
    """
    newest = max((taken_at for taken_at, _ in _backups(folder) if taken_at <= now), default=None)
    return newest is None or now - newest > (NIGHTLY_AGE if now.hour == NIGHT_HOUR else LATE_AGE)


def remove_old(folder: Path, *, now: datetime) -> int:
    """Remove backups that are a week old, and what killed ones left; return how many. Raises `Busy`.

    The newest whole one stays, unless somebody who may be in it left a week ago: theirs is the last copy.
    """
    join_server()
    with connect() as session:
        if not try_lock(session, BACKUP_LOCK):
            raise Busy("Another backup, or a restore, is running.")
        for path in _listed(folder):
            if path.name.endswith(".part") and _taken_at(path.name[1:-5]):
                path.unlink(missing_ok=True)
        backups = sorted(_backups(folder))
        staying = _staying([path.name for _, path in backups])
        old = [(taken_at, path) for taken_at, path in backups if now - taken_at > KEPT]
        removed = [
            path for taken_at, path in old if path.name != staying or _holds_who_left(taken_at, folder, now)
        ]
        for path in removed:
            path.unlink(missing_ok=True)
        if staying in {path.name for path in removed}:
            Backup.objects.filter(file=staying).update(reason=GONE_FOR_LONG)
            logger.warning("last_whole_backup_removed", file=staying)
    logger.info("old_backups_removed", count=len(removed))
    return len(removed)


def _staying(names: Sequence[str]) -> str:
    """Return which of the backups, by age, stays however old it is."""
    whole = set(Backup.objects.filter(is_whole=True, file__in=names).values_list("file", flat=True))
    return next((name for name in reversed(names) if name in whole), names[-1] if names else "")


def _holds_who_left(taken_at: datetime, folder: Path, now: datetime) -> bool:
    """Return whether somebody who may be in a backup left a week ago; False if the list can't be read."""
    try:
        return has_departed_between(taken_at - LONGEST_REMOVAL, now - KEPT, folder)
    except STORAGE_ERRORS as error:
        logger.warning("departures_not_read", error=type(error).__name__)
        return False


def _listed(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _backups(folder: Path) -> list[tuple[datetime, Path]]:
    return [(taken_at, path) for path in _listed(folder) if (taken_at := _taken_at(path.name))]


def _taken_at(name: str) -> datetime | None:
    """Return the time in the usual name of a backup; None for other files, which stay."""
    for pattern in _PATTERNS:
        try:
            return datetime.strptime(name, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
