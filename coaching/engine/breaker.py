"""A circuit breaker shared by all users of a model client: while upstream is down, requests fail at once.

It counts failed turns, not requests, and only those that say something about everybody: of two people, where
there are two, because one person's turns may all fail on their own words. It never retries.
"""

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from coaching.engine.errors import FailureReason, UpstreamError
from coaching.engine.messages import ModelRequest
from coaching.engine.metrics import UPSTREAM_ERRORS
from coaching.engine.ports import DEFAULT_TIMEOUTS, ModelClient, ReplyStream, StreamTimeouts

FAILURES_TO_OPEN = 5
FAILURES_ALONE = 2
"""Failed turns in a row of one person, while others get answers, that can't be chance any more."""
SECONDS_TO_PROBE = 30.0
SECONDS_OF_PROBE = 5.0
"""How long somebody is told to wait for a probe of another."""
MAX_PEOPLE = 1000

UPSTREAM_IS_DOWN: frozenset[FailureReason] = frozenset({"unavailable", "overloaded", "broken_stream"})


@dataclass(slots=True)
class _Failing:
    """Somebody's failed turns since their last answer, and whether others got answers meanwhile."""

    turns: int = 0
    others_answered: bool = False


class BreakerClient:
    """Wraps a `ModelClient`: opens after five failed turns in a row, then admits one probe every 30 s.

    `is_down` are the failures that count, slow ones only if `counts_slow`. `clock` returns monotonic seconds.
    """

    def __init__(
        self,
        client: ModelClient,
        *,
        is_down: frozenset[FailureReason] = UPSTREAM_IS_DOWN,
        counts_slow: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._is_down = is_down
        self._counts_slow = counts_slow
        self._clock = clock
        self._failed: Counter[int] = Counter()  # by person, since anybody's last answer
        self._failed_of_server = 0
        self._failing: dict[int, _Failing] = {}
        self._opened_at: float | None = None
        self._is_probing = False
        self._last_prober: int | None = None

    def of(self, person: int) -> ModelClient:
        """Return the client for a person's requests."""
        return _PersonsClient(breaker=self, person=person)

    def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = DEFAULT_TIMEOUTS
    ) -> AbstractAsyncContextManager[ReplyStream]:
        """Open a stream, or raise `UpstreamError` at once while the breaker is open."""
        return self.stream_of(None, request, timeouts)

    @asynccontextmanager
    async def stream_of(
        self, person: int | None, request: ModelRequest, timeouts: StreamTimeouts
    ) -> AsyncIterator[ReplyStream]:
        """Open a stream for a person, or raise `UpstreamError` at once while the breaker is open."""
        is_probe = self._admit(person)
        try:
            async with self._client.stream(request, timeouts=timeouts) as stream:
                yield stream
        except UpstreamError as error:
            UPSTREAM_ERRORS.labels(error.reason).inc()
            if is_probe and error.reason in self._is_down:
                self._opened_at, self._last_prober = self._clock(), person
            raise
        else:
            self._close()
        finally:
            if is_probe:
                self._is_probing = False

    def note_answered(self, person: int) -> None:
        """Note that a turn of a person got its answer."""
        self._close()
        self._failing.pop(person, None)
        for failing in self._failing.values():
            failing.others_answered = True

    def note_failed(self, person: int, failure: UpstreamError, *, is_only_person: bool) -> bool:
        """Note that a turn of a person failed after its last attempt; return whether theirs alone fail.

        `is_only_person`: Sage has no other account. Then failures count that can't be due to the request.
        """
        if failure.reason not in self._is_down or (failure.cause == "slow" and not self._counts_slow):
            return False
        self._failed[person] += 1
        self._failed_of_server += failure.cause != "request"
        failing = self._failing.setdefault(person, _Failing())
        failing.turns += 1
        if len(self._failing) > MAX_PEOPLE:
            del self._failing[next(iter(self._failing))]
        is_of_all = len(self._failed) > 1
        if is_of_all or is_only_person:
            count = self._failed.total() if is_of_all else self._failed_of_server
            if count >= FAILURES_TO_OPEN and self._opened_at is None:
                self._opened_at, self._last_prober = self._clock(), None
            return failing.turns >= FAILURES_ALONE and failing.others_answered
        return failing.turns >= (FAILURES_ALONE if failing.others_answered else FAILURES_TO_OPEN)

    def _close(self) -> None:
        self._failed.clear()
        self._failed_of_server = 0
        self._opened_at = None

    def _admit(self, person: int | None) -> bool:
        """Return whether the request is a probe. Raises `UpstreamError` while the breaker is open."""
        if self._opened_at is None:
            return False
        # Whoever's probe has failed lets the others try first: it may have failed on their own words.
        waits = 2 if person == self._last_prober is not None and len(self._failed) > 1 else 1
        left = self._opened_at + waits * SECONDS_TO_PROBE - self._clock()
        if self._is_probing or left > 0:
            UPSTREAM_ERRORS.labels("circuit_open").inc()
            wait = max(left, SECONDS_OF_PROBE if self._is_probing else 1.0)
            count = self._failed.total()
            raise UpstreamError("circuit_open", detail=f"{count} failed turns", retry_after_seconds=wait)
        self._is_probing = True
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _PersonsClient:
    breaker: BreakerClient
    person: int

    def stream(
        self, request: ModelRequest, *, timeouts: StreamTimeouts = DEFAULT_TIMEOUTS
    ) -> AbstractAsyncContextManager[ReplyStream]:
        """Open a stream, or raise `UpstreamError` at once while the breaker is open."""
        return self.breaker.stream_of(self.person, request, timeouts)
