"""When a job that has failed is tried again."""

import asyncio

from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.jobs import Job

from coaching.engine.errors import UpstreamError
from coaching.model_client.patience import is_worth_repeating

MAX_ATTEMPTS = 5
FIRST_WAIT_SECONDS = 5
"""Five times as long each time: 5 s, 25 s, 2 min, 10 min."""


class Retries(BaseRetryStrategy):
    """Five attempts with growing waits, none if a retry can't help; at once after a worker's stop."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        if isinstance(exception, UpstreamError) and not is_worth_repeating(exception):
            return None
        if job.attempts + 1 >= MAX_ATTEMPTS:
            return None
        return RetryDecision(retry_in={"seconds": FIRST_WAIT_SECONDS * 5**job.attempts})


class AfterStop(BaseRetryStrategy):
    """One more attempt, at once, for a job that a worker's stop has cut off; none after an error."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        is_cut_off = isinstance(exception, asyncio.CancelledError)
        return RetryDecision(retry_in={"seconds": 0}) if is_cut_off else None


class UnlimitedRetries(BaseRetryStrategy):
    """Retries without limit, eventually once an hour."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        return RetryDecision(retry_in={"seconds": min(3600, FIRST_WAIT_SECONDS * 5 ** min(job.attempts, 5))})
