"""Background jobs: names and schedules. The modules they call do the work.

A job can run twice, because a worker can die at any moment: each first checks whether it is already done.
Only workers import this; to enqueue a job use `job_queue`.
"""

import asyncio
import uuid
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from procrastinate import JobContext
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from coaching.calendar.fetchers import get_fetcher
from coaching.calendar.refresh import attempt_refresh, begin_refresh, enqueue_due, finish_refresh
from coaching.engine.errors import UpstreamError
from coaching.files.former_clusters import remove_former_clusters
from coaching.files.former_databases import drop_former_databases
from coaching.files.garbage import collect_garbage
from coaching.files.organising import purge_deleted_files
from coaching.job_queue.names import (
    BRIEF_JOB,
    BULK_QUEUE,
    ENCODING_JOB,
    REFRESH_JOB,
    REMOVAL_JOB,
    REMOVAL_QUEUE,
    SUMMARY_JOB,
    TITLE_JOB,
    JobPriority,
)
from coaching.job_queue.queue import queue_again
from coaching.job_queue.sessions import (
    BRIEF_ATTEMPTS,
    SUMMARY_WAIT_SECONDS,
    enqueue_brief,
    enqueue_brief_anew,
    enqueue_follow_ups,
    enqueue_open_summary,
    sessions_being_briefed,
)
from coaching.jobs.briefs import StaleBriefError, write_briefs
from coaching.jobs.encoding import encode_what_is_new
from coaching.jobs.expiry import expire_idle_sessions
from coaching.jobs.retries import MAX_ATTEMPTS, AfterStop, Retries, UnlimitedRetries
from coaching.jobs.summaries import is_answering, write_summary
from coaching.jobs.titles import write_title
from coaching.legacy.imports import settle_all
from coaching.model_client.connection import ModelConnection
from coaching.model_client.patience import job_seconds
from coaching.personal_data.departures import forget_departures
from coaching.personal_data.removal import remove_person
from coaching.personal_data.unconfirmed import remove_unconfirmed
from coaching.voice.recordings import erase_old_recordings
from sessions_app.briefs import sessions_behind
from sessions_app.database import in_database, in_database_unhurried
from sessions_app.models import Session
from sessions_app.organising import purge_deleted_sessions
from sessions_app.session_events import prune

logger = structlog.get_logger(__name__)
TURN_WAIT_SECONDS = 90.0
"""Longer than any turn part including a take-over."""
TURN_POLL_SECONDS = 0.25
KEPT_SUCCEEDED_HOURS = 3 * 24
KEPT_HOURS = 90 * 24
MODELS = "models"
"""The worker's context key for its `ModelConnection`."""
BULK_CALLS = "bulk_calls"
"""The worker's context key for what limits its calls about documents in bulk."""


class TurnStillRunsError(Exception):
    """The turn that a job follows was still running after the wait."""


@app.task(name=SUMMARY_JOB, pass_context=True, retry=Retries(), priority=JobPriority.TITLE)
async def summarise_session(
    context: JobContext, *, session_id: str, arc: int | None = None, is_open: bool = False
) -> None:
    """Write the summary of a session, or of an `arc` of it, after its last answer.

    One that `is_open` waits as long as its person is still talking.
    """
    session = uuid.UUID(session_id)
    if is_open and await in_database(_wait_for_silence, session):
        return
    await _wait_for_turn(session)
    models: ModelConnection = context.additional_context[MODELS]
    await write_summary(session, client=await models.client(), arc=arc)


def _wait_for_silence(session_id: uuid.UUID) -> bool:
    """Queue the summary again if somebody has just spoken; return whether it waits."""
    since = timezone.now() - timedelta(seconds=SUMMARY_WAIT_SECONDS)
    is_talking = Session.unscoped.filter(id=session_id, last_active_at__gt=since).exists()
    return is_talking and enqueue_open_summary(session_id)


@app.task(name=BRIEF_JOB, pass_context=True, retry=AfterStop(), priority=JobPriority.BRIEF)
async def write_brief(context: JobContext, *, session_id: str, is_anew: bool = False) -> None:
    """Write the brief of a session up to its last finished turn.

    A failed attempt queues the next one itself: the queue can't put this job back while another waits. If the
    job is lost in any other way, `enqueue_missing_briefs` finds its session.
    """
    session = uuid.UUID(session_id)
    models: ModelConnection = context.additional_context[MODELS]
    try:
        await write_briefs(session, client=await models.client(), is_anew=is_anew)
    except (UpstreamError, StaleBriefError) as error:
        is_unable = isinstance(error, UpstreamError) and error.reason == "rejected"
        await in_database(_try_brief_again, session, is_anew=is_anew, reason=str(error), is_unable=is_unable)


def _try_brief_again(session_id: uuid.UUID, *, is_anew: bool, reason: str, is_unable: bool) -> None:
    session = Session.unscoped.filter(id=session_id).defer("opening").first()
    if session is None:
        return
    _log_failed_brief(session, reason)
    # A rewrite that keeps failing gives way: the next version of the usual kind waits for it.
    is_anew = is_anew and session.brief_attempts < BRIEF_ATTEMPTS
    (enqueue_brief_anew if is_anew else enqueue_brief)(session, is_unable=is_unable)


@app.periodic(cron="*/10 * * * *")
@app.task(name="enqueue_missing_briefs", queueing_lock="enqueue_missing_briefs")
async def enqueue_missing_briefs(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Queue the briefs of sessions whose job was lost, with a worker or by an error."""
    count = await in_database(_enqueue_briefs_behind)
    logger.info("briefs_behind", enqueued=count)


def _enqueue_briefs_behind() -> int:
    running = sessions_being_briefed()
    behind = [session for session in sessions_behind(now=timezone.now()) if session.id not in running]
    lost = enqueue_follow_ups([session.id for session in behind])
    for session in behind:
        if session.id in lost and session.brief_attempts:
            _log_failed_brief(session, "lost")
    return len(lost)


def _log_failed_brief(session: Session, reason: str) -> None:
    log = logger.error if session.brief_attempts >= BRIEF_ATTEMPTS else logger.warning
    log("brief_failed", session_id=str(session.id), attempts=session.brief_attempts, reason=reason)


@app.task(name=TITLE_JOB, pass_context=True, retry=Retries(), priority=JobPriority.TITLE)
async def give_title(context: JobContext, *, session_id: str) -> None:
    models: ModelConnection = context.additional_context[MODELS]
    await write_title(uuid.UUID(session_id), client=await models.client())


@app.task(name=REMOVAL_JOB, queue=REMOVAL_QUEUE, retry=UnlimitedRetries(), priority=JobPriority.REMOVAL)
async def remove_account(*, user_id: int) -> None:
    await remove_person(user_id)


@app.periodic(cron="*/10 * * * *")
@app.task(name="expire_sessions", queueing_lock="expire_sessions")
async def expire_sessions(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """End idle sessions and arcs, and delete the rows of deleted sessions and what nobody reads of logs."""
    report = await in_database(expire_idle_sessions, now=timezone.now())
    logger.info("sessions_expired", expired=len(report.expired), arcs_left=len(report.arcs_left))
    await in_database_unhurried(prune)
    purged = await in_database_unhurried(purge_deleted_sessions, now=timezone.now())
    logger.info("deleted_sessions_purged", count=len(purged))


@app.periodic(cron="*/5 * * * *")
@app.task(
    name=ENCODING_JOB,
    queue=BULK_QUEUE,
    lock=ENCODING_JOB,
    queueing_lock=ENCODING_JOB,
    retry=AfterStop(),
    priority=JobPriority.BULK,
)
async def encode_new_passages(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Encode what recall's index has got since the last time, if SAGE_EMBEDDING_MODEL is set."""
    count = await encode_what_is_new()
    if count:
        logger.info("passages_encoded", count=count)


@app.periodic(cron="*/5 * * * *")
@app.task(name="refresh_calendars", queueing_lock="refresh_calendars")
async def refresh_calendars(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Queue a job for each calendar that is due."""
    count = await in_database(enqueue_due, now=timezone.now())
    logger.info("calendars_due", count=count)


@app.task(name=REFRESH_JOB, queue=BULK_QUEUE, retry=Retries(), priority=JobPriority.BULK)
async def refresh_calendar(*, source_id: int) -> None:
    """Read one calendar, unless somebody did meanwhile. A server's failure is stored, not raised."""
    attempt = await in_database(begin_refresh, source_id=source_id, now=timezone.now(), is_due_only=True)
    if attempt is not None:
        outcome = await attempt_refresh(attempt, fetcher=get_fetcher())
        await in_database(finish_refresh, attempt, outcome)


@app.periodic(cron="17 */6 * * *")
@app.task(
    name="collect_garbage",
    queue=BULK_QUEUE,
    queueing_lock="collect_garbage",
    retry=Retries(),
    priority=JobPriority.BULK,
)
async def collect_file_garbage(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Delete what belongs to no file, lost imports’ uploads, old recordings, and files deleted long ago."""
    await in_database_unhurried(settle_all)
    await in_database_unhurried(erase_old_recordings, now=timezone.now())
    purged = await in_database_unhurried(purge_deleted_files, now=timezone.now())
    logger.info("deleted_files_purged", count=purged)
    await in_database_unhurried(forget_departures, now=timezone.now())
    await in_database_unhurried(remove_former_clusters, now=timezone.now())
    if await in_database_unhurried(drop_former_databases, now=timezone.now()):
        return  # their files are no garbage yet
    await in_database_unhurried(collect_garbage, now=timezone.now())


@app.periodic(cron="23 4 * * *")
@app.task(name="remove_unconfirmed", queueing_lock="remove_unconfirmed")
async def remove_unconfirmed_accounts(timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Remove old accounts that were never confirmed or used."""
    count = await in_database_unhurried(remove_unconfirmed, now=timezone.now())
    logger.info("unconfirmed_accounts_removed", count=count)


@app.periodic(cron="47 * * * *")
@app.task(name="remove_old_jobs", pass_context=True, queueing_lock="remove_old_jobs")
async def remove_old_jobs(context: JobContext, timestamp: int) -> None:  # noqa: ARG001 - every periodic job gets it
    """Delete succeeded jobs after three days, failed ones after three months, and removals at once."""
    manager = context.app.job_manager
    await manager.delete_old_jobs(nb_hours=0, queue=REMOVAL_QUEUE)
    await manager.delete_old_jobs(nb_hours=KEPT_SUCCEEDED_HOURS)
    await manager.delete_old_jobs(
        nb_hours=KEPT_HOURS, include_failed=True, include_cancelled=True, include_aborted=True
    )


@transaction.atomic
def free_stalled_jobs(*, silent_seconds: float) -> tuple[int, ...]:
    """Queue the jobs of dead workers again; return their ids.

    A worker is dead if its heartbeat is older than `silent_seconds` or if it is gone. A job with too many
    attempts fails, because it may be what kills its workers; so does one whose key is already queued.
    """
    silent = Q(worker__isnull=True) | Q(worker__last_heartbeat__lt=Now() - timedelta(seconds=silent_seconds))
    stalled = ProcrastinateJob.objects.filter(silent, status="doing")
    # Locked, so that only one of two concurrent workers handles a job.
    jobs = list(stalled.select_for_update(of=("self",), skip_locked=True))
    for job in jobs:
        is_given_up = job.attempts + 1 >= MAX_ATTEMPTS or not queue_again(job.id)
        if is_given_up:
            # Retrying a job that should abort makes it fail.
            app.job_manager.cancel_job_by_id(job.id, abort=True)
            queue_again(job.id)
        logger.warning("stalled_job_freed", job_id=job.id, job=job.task_name, is_given_up=is_given_up)
    return tuple(job.id for job in jobs)


async def _wait_for_turn(session_id: uuid.UUID) -> None:
    try:
        async with asyncio.timeout(job_seconds(TURN_WAIT_SECONDS)):
            while await in_database(is_answering, session_id):  # noqa: ASYNC110 - it may run elsewhere
                await asyncio.sleep(TURN_POLL_SECONDS)
    except TimeoutError:
        raise TurnStillRunsError(str(session_id)) from None
