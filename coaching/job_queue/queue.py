"""The queue itself: adds jobs of any name, counts them, and forgets them. `worker` of `jobs` runs them."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
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

from sessions_app.database import in_database

ALIVE_SECONDS = 60
"""Workers say every five seconds that they are alive."""


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

    `options` are those of `describe_job`.
    """
    return enqueue_together([describe_job(name, key=key, **options)])


def describe_job(
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


def enqueue_together(jobs: list[Job]) -> bool:
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
