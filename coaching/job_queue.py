"""Enqueues background jobs within a transaction.

A job is a row that is committed together with its cause, so neither can exist without the other. This module
knows jobs by name only; `jobs` implements them.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from enum import IntEnum
from typing import Any

from django.db import transaction
from django.db.models import Count, Func, Max, Q, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Now
from django.utils import timezone
from procrastinate import App
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.models import ProcrastinateJob, ProcrastinateWorker
from procrastinate.exceptions import AlreadyEnqueued, UniqueViolation
from procrastinate.jobs import Job
from procrastinate.tasks import ConfigureTaskOptions

from coaching.model_client.patience import job_seconds
from coaching.models import Document, DocumentSource
from sessions_app.arcs import unsummarised_arc
from sessions_app.database import in_database
from sessions_app.models import Session, TitleSource

SUMMARY_JOB = "summarise_session"
BRIEF_JOB = "write_brief"

BRIEF_WAIT_SECONDS = 10
"""A brief waits for what may follow at once."""
SUMMARY_WAIT_SECONDS = 5 * 60
"""A summary of a session that is still open waits until its person is silent for so long."""
ALIVE_SECONDS = 60
"""Workers say every five seconds that they are alive."""
BRIEF_ATTEMPTS = 5
"""After as many failures, a brief is tried once an hour."""
_BRIEF_RETRY_SECONDS = (5, 25, 125, 625, 3600)
TITLE_JOB = "write_title"
DOCUMENT_JOB = "read_document"
ANALYSIS_JOB = "analyse_document"
DOCUMENTS_JOB = "read_documents"
HEARING_JOB = "hear_document"
MAIL_REMINDER_JOB = "mail_reminder"
PUSH_REMINDER_JOB = "push_reminder"
IMPORT_JOB = "import_upload"
REFRESH_JOB = "refresh_calendar"
ENCODING_JOB = "encode_new_passages"
REMOVAL_JOB = "remove_person"
LETTER_JOB = "write_letter"
RECORDING_JOB = "transcribe_recording"

REMOVAL_QUEUE = "removals"
BULK_QUEUE = "bulk"
"""The queue of jobs that may be many and long: a worker always keeps a slot for the others."""
DOCUMENTS_QUEUE = "documents"
"""The queue of documents that nobody waits for in a conversation: a worker has slots for it alone."""
REMINDERS_QUEUE = "reminders"
"""The queue of reminders, which wait for servers of others: a worker has slots for it alone."""
INBOX_QUEUE = "inbox"
"""The queue of the job that reads incoming mail, for minutes if its server is slow."""
VOICE_QUEUE = "voice"
"""The queue of recordings, for whose words somebody waits: a worker has slots for it alone."""
HEARING_QUEUE = "recordings"
"""The queue of recordings in the library, each of which takes minutes: a worker has slots for it alone."""
DOCUMENT_QUEUES = 6
"""In as many queues the documents of one user are read at once."""


class JobPriority(IntEnum):
    """Which of the due jobs runs first: the one with the highest priority."""

    REMOVAL = 40
    CHAT_UPLOAD = 30
    BRIEF = 20
    TITLE = 10
    ORDINARY = 0
    BULK = -10
    AFTERWARDS = -20


class DatabaseConnector(DjangoConnector):
    """Runs Procrastinate's queries on Django's connections, from async code through `in_database`."""

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        await in_database(self.execute_query, query, **arguments)

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        return await in_database(self.execute_query_one, query, **arguments)

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        return await in_database(self.execute_query_all, query, **arguments)


def use_our_threads(queue: App) -> None:
    """Use our connector. Procrastinate calls this once its app is ready."""
    queue.connector = queue.job_manager.connector = DatabaseConnector()


def job_arguments() -> set[str]:
    """Return the names of all arguments of queued jobs. Sync ORM code."""
    name = Func("args", function="jsonb_object_keys", output_field=TextField())
    return set(ProcrastinateJob.objects.values_list(name, flat=True).distinct())


def forget_jobs(argument: str, values: Collection[str]) -> None:
    """Delete queued jobs by an argument's values; running ones find nothing to do. Sync ORM code."""
    jobs = ProcrastinateJob.objects.annotate(value=KeyTextTransform(argument, "args")).exclude(status="doing")
    jobs.filter(value__in=values).delete()


def count_jobs() -> Mapping[str, int]:
    """Return how many jobs are due, are scheduled for later, and run now. Sync ORM code."""
    is_later = Q(status="todo", scheduled_at__gt=Now())
    return ProcrastinateJob.objects.filter(status__in=["todo", "doing"]).aggregate(
        due=Count("pk", filter=Q(status="todo") & ~is_later),
        later=Count("pk", filter=is_later),
        running=Count("pk", filter=Q(status="doing")),
    )


def count_failed_jobs() -> Mapping[str, int]:
    """Return how many jobs have failed, by name, until they are queued again or removed. Sync ORM code."""
    failed = ProcrastinateJob.objects.filter(status="failed").order_by()
    return dict(failed.values_list("task_name").annotate(count=Count("pk")))


def enqueue(name: str, *, key: str, **options: Any) -> bool:
    """Queue a job in the caller's transaction; False if one with this `key` is queued. Sync ORM code.

    `options` are those of `_job`.
    """
    return _enqueue([_job(name, key=key, **options)])


def _job(
    name: str,
    *,
    key: str,
    lock: str = "",
    priority: int | None = None,
    queue: str | None = None,
    wait_seconds: int = 0,
    **arguments: str | int,
) -> Job:
    """Describe a job. One with each `key` is queued at a time.

    Of the jobs with the same `lock`, which is the key unless it is given, one runs at a time.
    """
    options: ConfigureTaskOptions = {"lock": lock or key, "queueing_lock": key, "priority": priority}
    if queue:
        options["queue"] = queue
    if wait_seconds:
        options["schedule_in"] = {"seconds": wait_seconds}
    return app.configure_task(name, allow_unknown=False, **options).job.evolve(task_kwargs=arguments)


def _enqueue(jobs: list[Job]) -> bool:
    """Queue some jobs in one statement; False, and none, if one with the key of any is queued."""
    try:
        with transaction.atomic():  # a savepoint, so that a refusal doesn't break the caller's transaction
            app.job_manager.batch_defer_jobs(jobs)
    except AlreadyEnqueued:
        return False
    return True


def queue_again(job_id: int) -> bool:
    """Queue a failed or stalled job again; False if one with its key is queued. Sync ORM code."""
    try:
        with transaction.atomic():
            app.job_manager.retry_job_by_id(job_id, retry_at=timezone.now())
    except UniqueViolation:
        return False
    return True


def is_queued(key: str) -> bool:
    """Return whether a job with this key waits or runs. Sync ORM code."""
    jobs = ProcrastinateJob.objects.filter(queueing_lock=key, status__in=["todo", "doing"])
    return jobs.exists()


def is_running(key: str) -> bool:
    """Return whether a worker that is alive runs the job with this key. Sync ORM code."""
    running = ProcrastinateJob.objects.filter(queueing_lock=key, status="doing")
    return running.filter(worker__last_heartbeat__gt=Now() - timedelta(seconds=ALIVE_SECONDS)).exists()


def worker_seen_at() -> datetime | None:
    """Return when a worker last said that it is alive; None if all have ended. Sync ORM code."""
    seen_at: datetime | None = ProcrastinateWorker.objects.aggregate(at=Max("last_heartbeat"))["at"]
    return seen_at


def is_scheduled(key: str) -> bool:
    """Return whether a job with this key waits for a later time. Sync ORM code."""
    jobs = ProcrastinateJob.objects.filter(queueing_lock=key, status="todo", scheduled_at__gt=Now())
    return jobs.exists()


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
    return _enqueue([_open_summary_job(session_id)])


def _open_summary_job(session_id: uuid.UUID) -> Job:
    # Keys and locks of its own: the summary of a session that is completed waits for nothing.
    key = f"summary:{session_id}:open"
    return _job(
        SUMMARY_JOB, key=key, wait_seconds=SUMMARY_WAIT_SECONDS, session_id=str(session_id), is_open=True
    )


def enqueue_brief(session: Session, *, is_unable: bool = False) -> bool:
    """Queue the next version of a session's brief; False if it is queued already. Sync ORM code.

    It runs some seconds later, or after failed attempts once their wait is over: with a local server, ten
    times as long if the model answered and was unable to write one.
    """
    return _enqueue([_brief_job(session, is_unable=is_unable)])


def _brief_job(session: Session, *, is_unable: bool = False) -> Job:
    wait_seconds = _brief_wait(session, is_unable=is_unable) or BRIEF_WAIT_SECONDS
    key = f"brief:{session.id}"
    return _job(BRIEF_JOB, key=key, wait_seconds=wait_seconds, session_id=str(session.id))


def sessions_being_briefed() -> set[uuid.UUID]:
    """Return the sessions whose brief a job writes now. Sync ORM code."""
    running = ProcrastinateJob.objects.filter(task_name=BRIEF_JOB, status="doing")
    return set(map(uuid.UUID, running.values_list("args__session_id", flat=True)))


def enqueue_brief_anew(session: Session, *, is_bulk: bool = False, is_unable: bool = False) -> bool:
    """Queue a brief from all messages, as `enqueue_brief`; False if one is queued already. Sync ORM code."""
    return _enqueue([_brief_anew_job(session, is_bulk=is_bulk, is_unable=is_unable)])


def enqueue_bulk_briefs(sessions: Sequence[Session]) -> int:
    """Queue a brief of each session behind all other jobs; return how many weren't queued already."""
    jobs = [_brief_anew_job(session, is_bulk=True) for session in sessions]
    if not jobs or _enqueue(jobs):
        return len(jobs)
    return sum(_enqueue([job]) for job in jobs)


def _brief_anew_job(session: Session, *, is_bulk: bool, is_unable: bool = False) -> Job:
    key = f"brief:{session.id}"
    return _job(
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
    return _job(TITLE_JOB, key=f"title:{session.id}", session_id=str(session.id))


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
    if missing and not _enqueue(missing):  # another process has just queued one of them
        for job in missing:
            _enqueue([job])
    return {session_id for session_id, (brief, *_) in jobs.items() if brief.queueing_lock not in queued}


def enqueue_document(document: Document, *, wait_seconds: int = 0) -> bool:
    """Queue the reading of a document; False if nothing needs to be queued. Sync ORM code.

    One that comes from a conversation has a job of its own, and so has a recording. The others of a user are
    read in queues, eight at a time, and `manage.py classify` reads its own.
    """
    if document.is_unheard:
        return _enqueue_hearing(document, wait_seconds=wait_seconds)
    if document.source == DocumentSource.COMMAND:
        return False
    if document.source == DocumentSource.UPLOAD:
        return enqueue_documents(document.user_id, document.pk % DOCUMENT_QUEUES, wait_seconds=wait_seconds)
    return enqueue(
        DOCUMENT_JOB,
        key=f"document:{document.pk}",
        priority=JobPriority.CHAT_UPLOAD,
        wait_seconds=wait_seconds,
        document_id=document.pk,
    )


def _enqueue_hearing(document: Document, *, wait_seconds: int) -> bool:
    """Queue a recording; one of a user is heard at a time."""
    is_bulk = document.source != DocumentSource.CHAT
    return enqueue(
        HEARING_JOB,
        key=f"hearing:{document.pk}",
        lock=f"hearing:of:{document.user_id}",
        priority=JobPriority.BULK if is_bulk else JobPriority.CHAT_UPLOAD,
        queue=HEARING_QUEUE,
        wait_seconds=wait_seconds,
        document_id=document.pk,
    )


def enqueue_analysis(
    *,
    document_id: int,
    kind: str,
    session_id: uuid.UUID | None,
    key: str,
    wait_seconds: int = 0,
    waited_seconds: int = 0,
    run: str = "",
    is_bulk: bool = False,
) -> bool:
    """Queue a summary, an analysis or the search for facts; False if it is queued. Sync ORM code.

    `waited_seconds` is how long it will have waited for the document's text. `run` names one that was asked
    for anew. With `is_bulk` nobody waits for it; without, it takes the place of such a one that is queued.
    """
    if not is_bulk:
        waiting = ProcrastinateJob.objects.filter(queueing_lock=key, status="todo")
        waiting.filter(priority__lt=JobPriority.CHAT_UPLOAD).delete()
    # Workers of the version before don't know the last two.
    more: dict[str, Any] = {**({"run": run} if run else {}), **({"is_bulk": True} if is_bulk else {})}
    return enqueue(
        ANALYSIS_JOB,
        key=key,
        # First all are filed: where the day's budget doesn't last, that matters more.
        priority=JobPriority.AFTERWARDS if is_bulk else JobPriority.CHAT_UPLOAD,
        queue=DOCUMENTS_QUEUE if is_bulk else None,
        wait_seconds=wait_seconds,
        document_id=document_id,
        kind=kind,
        session_id=str(session_id or ""),
        waited_seconds=waited_seconds,
        **more,
    )


def enqueue_documents(user_id: int, number: int, *, wait_seconds: int = 0) -> bool:
    """Queue a call in one of the queues of a user's documents; False if it is queued. Sync ORM code.

    Each such job makes one call and queues the next, so that users take turns.
    """
    return enqueue(
        DOCUMENTS_JOB,
        key=f"documents:{user_id}:{number}",
        priority=JobPriority.BULK,
        queue=DOCUMENTS_QUEUE,
        wait_seconds=wait_seconds,
        user_id=user_id,
        lane=number,  # the name that jobs of earlier versions have
    )


def enqueue_letter(user_id: int, month: date) -> bool:
    """Queue a person's letter about a month; False if it is queued already. Sync ORM code."""
    return enqueue(
        LETTER_JOB,
        key=f"letter:{user_id}:{month}",
        priority=JobPriority.BULK,
        queue=BULK_QUEUE,
        user_id=user_id,
        month=month.isoformat(),
    )


def enqueue_reminders(
    *, kind: str, day: date, at: time | None, mail_to: Sequence[int], push_to: Sequence[tuple[int, int]]
) -> None:
    """Queue a reminder's mails to users and its messages to users' devices, each once. Sync ORM code.

    `at` is the time of steps. To the devices of one user, messages are sent one at a time: the servers behind
    them may all be slow.
    """
    given: dict[str, Any] = {"kind": kind, "day": day.isoformat(), **({"at": at.isoformat()} if at else {})}
    name = f"reminder:{':'.join(given.values())}"
    mails = [
        _job(
            MAIL_REMINDER_JOB,
            key=f"{name}:mail:{user_id}",
            queue=REMINDERS_QUEUE,
            user_id=user_id,
            **given,
        )
        for user_id in mail_to
    ]
    pushes = [
        _job(
            PUSH_REMINDER_JOB,
            key=f"{name}:push:{device_id}",
            lock=f"push:{user_id}",
            queue=REMINDERS_QUEUE,
            device_id=device_id,
            **given,
        )
        for user_id, device_id in push_to
    ]
    jobs = [*mails, *pushes]
    if jobs and not _enqueue(jobs):
        for job in jobs:
            _enqueue([job])
