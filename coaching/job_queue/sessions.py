"""Queues what is written about a session: its brief, its summaries and its title."""

import uuid
from collections.abc import Collection, Sequence

from django.db import transaction
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.jobs import Job

from coaching.job_queue.names import BRIEF_JOB, BULK_QUEUE, SUMMARY_JOB, TITLE_JOB, JobPriority
from coaching.job_queue.queue import describe_job, enqueue, enqueue_together
from coaching.model_client.patience import job_seconds
from sessions_app.arcs import unsummarised_arc
from sessions_app.models import Session, TitleSource

BRIEF_WAIT_SECONDS = 10
"""A brief waits for what may follow at once."""
SUMMARY_WAIT_SECONDS = 5 * 60
"""A summary of a session that is still open waits until its person is silent for so long."""
BRIEF_ATTEMPTS = 5
"""After as many failures, a brief is tried once an hour."""
_BRIEF_RETRY_SECONDS = (5, 25, 125, 625, 3600)


def enqueue_arc_summary(session: Session) -> bool:
    """Queue the summary of the arc that has just ended; False if it has one. Sync ORM code."""
    arc = unsummarised_arc(session)
    if arc is None:
        return False
    key = f"summary:{session.id}:{arc.number}"
    return enqueue(SUMMARY_JOB, key=key, session_id=str(session.id), arc=arc.number)


def enqueue_summary(session_id: uuid.UUID) -> bool:
    """Queue the summary of a completed session; False if it is queued already. Sync ORM code."""
    return enqueue(SUMMARY_JOB, key=f"summary:{session_id}", session_id=str(session_id))


def enqueue_open_summary(session_id: uuid.UUID) -> bool:
    """Queue the summary of a session that is still open, for later; False if it is queued. Sync ORM code."""
    return enqueue_together([_open_summary_job(session_id)])


def _open_summary_job(session_id: uuid.UUID) -> Job:
    # Keys and locks of its own: the summary of a session that is completed waits for nothing.
    key = f"summary:{session_id}:open"
    return describe_job(
        SUMMARY_JOB, key=key, wait_seconds=SUMMARY_WAIT_SECONDS, session_id=str(session_id), is_open=True
    )


def enqueue_brief(session: Session, *, is_unable: bool = False) -> bool:
    """Queue the next version of a session's brief; False if it is queued already. Sync ORM code.

    It runs some seconds later, or after failed attempts once their wait is over: with a local server, ten
    times as long if the model answered and was unable to write one.
    """
    return enqueue_together([_brief_job(session, is_unable=is_unable)])


def _brief_job(session: Session, *, is_unable: bool = False) -> Job:
    wait_seconds = _brief_wait(session, is_unable=is_unable) or BRIEF_WAIT_SECONDS
    key = f"brief:{session.id}"
    return describe_job(BRIEF_JOB, key=key, wait_seconds=wait_seconds, session_id=str(session.id))


def sessions_being_briefed() -> set[uuid.UUID]:
    """Return the sessions whose brief a job writes now. Sync ORM code."""
    running = ProcrastinateJob.objects.filter(task_name=BRIEF_JOB, status="doing")
    return set(map(uuid.UUID, running.values_list("args__session_id", flat=True)))


def enqueue_brief_anew(session: Session, *, is_bulk: bool = False, is_unable: bool = False) -> bool:
    """Queue a brief from all messages, as `enqueue_brief`; False if one is queued already. Sync ORM code."""
    return enqueue_together([_brief_anew_job(session, is_bulk=is_bulk, is_unable=is_unable)])


def enqueue_bulk_briefs(sessions: Sequence[Session]) -> int:
    """Queue a brief of each session behind all other jobs; return how many weren't queued already."""
    jobs = [_brief_anew_job(session, is_bulk=True) for session in sessions]
    if not jobs or enqueue_together(jobs):
        return len(jobs)
    return sum(enqueue_together([job]) for job in jobs)


def _brief_anew_job(session: Session, *, is_bulk: bool, is_unable: bool = False) -> Job:
    key = f"brief:{session.id}"
    return describe_job(
        BRIEF_JOB,
        key=f"{key}:anew",
        lock=key,
        # A job waits for the queued ones with its lock, also for those that are due much later.
        priority=JobPriority.BULK if is_bulk else JobPriority.BRIEF + 1,
        queue=BULK_QUEUE if is_bulk else None,
        wait_seconds=_brief_wait(session, is_unable=is_unable),
        session_id=str(session.id),
        is_anew=True,
    )


def _brief_wait(session: Session, *, is_unable: bool) -> int:
    failed = min(session.brief_attempts, BRIEF_ATTEMPTS)
    seconds = _BRIEF_RETRY_SECONDS[failed - 1] if failed else 0
    return int(job_seconds(seconds)) if is_unable else seconds


def _title_job(session: Session) -> Job:
    return describe_job(TITLE_JOB, key=f"title:{session.id}", session_id=str(session.id))


@transaction.atomic
def enqueue_follow_ups(session_ids: Collection[uuid.UUID]) -> Collection[uuid.UUID]:
    """Queue what follows turns in some sessions: brief, summary, and the title after the first answer.

    Nothing follows where only Sage has spoken. Returns the sessions whose brief wasn't queued already.
    Sync ORM code.
    """
    used = Session.unscoped.filter(id__in=session_ids, is_only_opened=False)
    # The lock keeps jobs from being queued for a session that is being removed. Whoever else holds one starts
    # or ends a turn, which is followed itself, or is found by `enqueue_missing_briefs`.
    unlocked = used.select_for_update(no_key=True, skip_locked=True)
    sessions = unlocked.only("title_source", "brief_attempts")
    jobs = {session.id: [_brief_job(session), _open_summary_job(session.id)] for session in sessions}
    for session in sessions:
        if session.title_source == TitleSource.WORDS:
            jobs[session.id].append(_title_job(session))
    keys = [job.queueing_lock for each in jobs.values() for job in each]
    waiting = ProcrastinateJob.objects.filter(status="todo", queueing_lock__in=keys)
    queued = set(waiting.values_list("queueing_lock", flat=True))
    missing = [job for each in jobs.values() for job in each if job.queueing_lock not in queued]
    if missing and not enqueue_together(missing):  # another process has just queued one of them
        for job in missing:
            enqueue_together([job])
    return {session_id for session_id, (brief, *_) in jobs.items() if brief.queueing_lock not in queued}
