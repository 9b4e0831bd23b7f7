"""Ends a worker's jobs and counts them, also if the queue changed while they ran.

The same job may have been queued meanwhile: then the waiting one does the work, and the failed one isn't
put back (the library would leave it `doing`). A worker that was taken for dead may find that another
has ended its job.
"""

from datetime import datetime

import structlog
from procrastinate.exceptions import ConnectorException, UniqueViolation
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from psycopg.errors import CheckViolation, RaiseException

from coaching.engine.metrics import JOB_RUNS

logger = structlog.get_logger(__name__)


class WorkersJobs(JobManager):
    """The library's manager, for jobs that this process runs."""

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put a job back, or end it as failed where the same one waits."""
        JOB_RUNS.labels(job.task_name, "retried").inc()
        try:
            await super().retry_job(job, retry_at=retry_at, priority=priority, queue=queue, lock=lock)
        except UniqueViolation:
            logger.warning("job_waits_already", job_id=job.id, job=job.task_name)
            await super().finish_job(job=job, status=Status.FAILED, delete_job=False)
        except ConnectorException as error:
            _pass_over(job, error)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End a job, unless it was ended elsewhere."""
        JOB_RUNS.labels(job.task_name, status.value).inc()
        try:
            await super().finish_job(job, status=status, delete_job=delete_job)
        except ConnectorException as error:
            _pass_over(job, error)


def _pass_over(job: Job, error: ConnectorException) -> None:
    """Log that the job isn't this worker's any more; raise any other error."""
    # The second is what the library's function runs into where a job was aborted.
    if not isinstance(error.__cause__, (RaiseException, CheckViolation)):
        raise error
    logger.warning("job_ended_elsewhere", job_id=job.id, job=job.task_name)
