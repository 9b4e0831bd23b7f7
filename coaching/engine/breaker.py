"""A circuit breaker shared by all users of a model client: while upstream is down, requests fail at once.

Only failures of upstream itself count; one user's rejected request doesn't. It never retries.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from coaching.engine.errors import FailureReason, UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.metrics import UPSTREAM_ERRORS
from coaching.engine.ports import DEFAULT_TIMEOUTS, ModelClient, ReplyStream, StreamTimeouts

FAILURES_TO_OPEN = 5
SECONDS_TO_PROBE = 30.0

UPSTREAM_IS_DOWN: frozenset[FailureReason] = frozenset({"unavailable", "overloaded", "broken_stream"})


class BreakerClient:
    """Wraps a `ModelClient`: opens after five failures in a row, then admits one probe every 30 s.

    `is_down` are the failures that count. `clock` returns monotonic seconds.
    """

    def __init__(
        self,
        client: ModelClient,
        *,
        is_down: frozenset[FailureReason] = UPSTREAM_IS_DOWN,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._is_down = is_down
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._is_probing = False

    def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = DEFAULT_TIMEOUTS
    ) -> AbstractAsyncContextManager[ReplyStream]:
        """Open a stream, or raise `UpstreamError` at once while the breaker is open."""
        return self._stream(request, timeouts)

    @asynccontextmanager
    async def _stream(self, request: ModelRequest, timeouts: StreamTimeouts) -> AsyncIterator[ReplyStream]:
        is_probe = self._admit()
        try:
            async with self._client.stream(request, timeouts=timeouts) as stream:
                yield stream
        except UpstreamError as error:
            UPSTREAM_ERRORS.labels(error.reason).inc()
            if error.reason in self._is_down:
                self._note_failure()
            raise
        else:
            self._failures = 0
            self._opened_at = None
        finally:
            if is_probe:
                self._is_probing = False

    def _admit(self) -> bool:
        """Return whether the request is a probe. Raises `UpstreamError` while the breaker is open."""
        if self._opened_at is None:
            return False
        if self._is_probing or self._clock() - self._opened_at < SECONDS_TO_PROBE:
            UPSTREAM_ERRORS.labels("circuit_open").inc()
            raise UpstreamError("circuit_open", detail=f"{self._failures} failures in a row")
        self._is_probing = True
        return True

    def _note_failure(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES_TO_OPEN:
            self._opened_at = self._clock()
