"""Decides whether a failed round is requested again, and after which wait.

Before anything was shown the reader notices only a pause, so there are a few attempts. After visible
text a repeat replaces what was read, so there is one.
"""

import random
from dataclasses import dataclass

from coaching.engine.errors import UpstreamError

MAX_ATTEMPTS = 4
FIRST_WAIT_SECONDS = 0.5
MAX_WAIT_SECONDS = 8.0


@dataclass(slots=True)
class RoundRetries:
    first_wait_seconds: float = FIRST_WAIT_SECONDS
    attempts: int = 0
    restarts: int = 0

    def wait_before_retry(
        self, error: UpstreamError, *, has_shown: bool, remaining_seconds: float
    ) -> float | None:
        """Return the seconds to wait before the next attempt; None for no more attempts.

        There is none if the wait would exceed the deadline.
        """
        self.attempts += 1
        if not error.is_retryable or self.attempts >= MAX_ATTEMPTS or (has_shown and self.restarts):
            return None
        if has_shown:
            self.restarts += 1
        wait = self._backoff_seconds()
        if error.retry_after_seconds is not None:
            wait = max(error.retry_after_seconds, 0.0) + wait * 0.1
        return wait if wait < remaining_seconds else None

    def _backoff_seconds(self) -> float:
        ceiling: float = min(MAX_WAIT_SECONDS, self.first_wait_seconds * 2 ** (self.attempts - 1))
        return ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - jitter is no secret
