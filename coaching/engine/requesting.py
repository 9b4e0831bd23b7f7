"""Requests one round from the model and shows its deltas, with retries, stop and deadline.

Runs no calls, records no rounds and doesn't interpret the reply.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from coaching.engine.budget import PartBudget
from coaching.engine.errors import UpstreamError
from coaching.engine.events import EngineEvent, NoteDelta, RoundBoundary, RoundRestarted, TextDelta
from coaching.engine.messages import ModelRequest
from coaching.engine.metrics import FIRST_TOKEN_SECONDS, UPSTREAM_ERRORS
from coaching.engine.ports import TextFilter
from coaching.engine.reply import MessageRestarted, Reply, ReplyDelta
from coaching.engine.retry import RoundRetries
from coaching.engine.setup import PartSetup
from coaching.engine.transitions import STOPPED, PartResult
from coaching.engine.usage import RoundUsage

_log = logging.getLogger(__name__)


class ShownText:
    """One kind of text of a round, as it is shown. The filter is made at the first bracket."""

    def __init__(self, make_filter: Callable[[], TextFilter] | None) -> None:
        self._make_filter = make_filter
        self._filter: TextFilter | None = None
        self._parts: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._parts)

    def __str__(self) -> str:
        return "".join(self._parts)

    def add(self, text: str) -> str:
        """Add streamed text; return what of it can be shown now."""
        if self._filter is None and self._make_filter is not None and "[" in text:
            self._filter = self._make_filter()
            self._filter.feed(str(self))
        return self._keep(text if self._filter is None else self._filter.feed(text))

    @property
    def has_claims(self) -> bool:
        return self._filter is not None and self._filter.has_claims

    async def check(self) -> str:
        """Check what the filter holds, and return what of it can be shown."""
        return self._keep(await self._filter.check()) if self._filter is not None else ""

    async def finish(self) -> str:
        """Return what the filter held."""
        if self._filter is None:
            return ""
        shown = self._keep(self._filter.close())
        shown += await self.check() if self.has_claims else ""
        self._filter = None
        return shown

    def clear(self) -> None:
        self._filter = None
        self._parts.clear()

    def _keep(self, text: str) -> str:
        if text:
            self._parts.append(text)
        return text


class RunningRound:
    """What the running round has shown, and the usage of its reply.

    `is_words_only`: the request forbids tools.
    """

    def __init__(
        self,
        number: int,
        emit: Callable[[EngineEvent], None],
        *,
        shows_notes: bool,
        is_words_only: bool,
        bracket_filter: Callable[[], TextFilter] | None = None,
    ) -> None:
        self.number = number
        self.is_words_only = is_words_only
        self._emit = emit
        self._shows_notes = shows_notes
        self._has_begun = number == 1
        self._text = ShownText(bracket_filter)
        self._notes = ShownText(bracket_filter)
        self._usage: RoundUsage | None = None

    @property
    def text(self) -> str:
        return str(self._text)

    @property
    def notes(self) -> str:
        return str(self._notes)

    @property
    def has_shown(self) -> bool:
        """Whether anything on the screen isn't recorded yet."""
        return bool(self._text or self._notes)

    def begin(self) -> None:
        """Emit the boundary, once: before the first output, or when the reply is complete and had none."""
        if not self._has_begun:
            self._has_begun = True
            self._emit(RoundBoundary())

    def show(self, delta: ReplyDelta) -> None:
        if isinstance(delta, TextDelta):
            self._show_text(self._text.add(delta.text))
        elif isinstance(delta, MessageRestarted):
            self.restart()
        elif self._shows_notes:
            self._show_note(self._notes.add(delta.text))

    @property
    def has_claims(self) -> bool:
        """Whether text is held that is to be checked."""
        return self._text.has_claims or self._notes.has_claims

    async def check(self) -> None:
        """Check what is held, and show what can be shown then."""
        self._show_note(await self._notes.check())
        self._show_text(await self._text.check())

    async def finish(self) -> None:
        """Show what was held: the reply has ended."""
        self._show_note(await self._notes.finish())
        self._show_text(await self._text.finish())

    def _show_text(self, text: str) -> None:
        if text:
            self.begin()
            self._emit(TextDelta(text))

    def _show_note(self, text: str) -> None:
        if text:
            self.begin()
            self._emit(NoteDelta(text))

    def restart(self) -> None:
        """Discard what was shown, and emit a restart if there was anything."""
        if self.has_shown:
            self._emit(RoundRestarted())
        self._text.clear()
        self._notes.clear()

    def charge(self, usage: RoundUsage) -> None:
        self._usage = usage

    def take_usage(self) -> RoundUsage | None:
        usage, self._usage = self._usage, None
        return usage

    def close(self) -> RoundUsage | None:
        """Mark everything shown as recorded, and return the usage to record with it."""
        self._text.clear()
        self._notes.clear()
        return self.take_usage()


class RoundRequester:
    def __init__(self, setup: PartSetup[Any], budget: PartBudget) -> None:
        self._setup = setup
        self._budget = budget

    async def request(self, request: ModelRequest, running: RunningRound) -> Reply | PartResult:
        """Return the complete reply, or `STOPPED` if the user stopped first.

        The usage of failed attempts is recorded here; that of the reply stays in `running`. Raises
        `UpstreamError` after the last attempt.
        """
        try:
            return await self._request(request, running)
        except _Stopped:
            return STOPPED

    async def _request(self, request: ModelRequest, running: RunningRound) -> Reply:
        retries = RoundRetries(first_wait_seconds=self._budget.limits.first_wait_seconds)
        failure = UpstreamError("unavailable", detail="no upstream requests left")
        while self._budget.admits_request():
            try:
                return await self._stream_reply(request, running)
            except UpstreamError as error:
                failure = error
            if failure.cause == "slow" and not self._setup.timeouts.repeats_slow:
                break
            wait = retries.wait_before_retry(
                failure, has_shown=running.has_shown, remaining_seconds=self._budget.remaining_seconds()
            )
            _log.warning(
                "upstream failed: %s; attempt %s, retry in %s s", str(failure), retries.attempts, wait
            )
            if wait is None:
                break
            running.restart()
            async with self._interruptible():
                await asyncio.sleep(wait)
        raise failure

    async def _stream_reply(self, request: ModelRequest, running: RunningRound) -> Reply:
        reply: Reply | None = None
        try:
            async with (
                self._interruptible(),
                self._setup.client.stream(request, timeouts=self._setup.timeouts) as stream,
            ):
                try:
                    async for deltas in stream:
                        for delta in deltas:
                            running.show(delta)
                        if running.has_claims:
                            await running.check()
                finally:
                    reply = stream.reply()
            # The stream is closed by now: nothing is stored while an upstream connection is open.
            checked = _checked(reply)
        except (UpstreamError, _Stopped):
            if reply is not None and reply.has_started:
                await self._setup.recorder.record_usage(reply.usage(request.model, running.number))
            raise
        if checked.first_token_ms is not None and running.number == 1:
            FIRST_TOKEN_SECONDS.observe(checked.first_token_ms / 1000)
        running.charge(checked.usage(request.model, running.number))
        return checked

    @asynccontextmanager
    async def _interruptible(self) -> AsyncIterator[None]:
        """Run the block, but no longer than until the deadline or the user's stop.

        Raises `_Stopped`, or `UpstreamError` with `out_of_time`. It cancels the block's own wait
        instead of creating a task, so it costs nothing per delta.
        """
        stop = self._setup.stop
        if stop.is_requested:
            raise _Stopped
        scope = asyncio.timeout_at(self._budget.deadline)

        def end_now() -> None:
            if not scope.expired():
                scope.reschedule(asyncio.get_running_loop().time())

        try:
            async with scope:
                with stop.watched_by(end_now):
                    yield
        except TimeoutError:
            if not scope.expired():
                raise
            if stop.is_requested:
                raise _Stopped from None
            UPSTREAM_ERRORS.labels("out_of_time").inc()
            raise UpstreamError("out_of_time", detail="inside a round") from None


class _Stopped(Exception):
    """Ends a wait because the user stopped the part. `RoundRequester.request` turns it into `STOPPED`."""


def _checked(reply: Reply | None) -> Reply:
    """Return the reply; raise a retryable `UpstreamError` if it is incomplete or contradicts itself."""
    fault = ""
    if reply is None:
        raise _broken("no reply")
    ids = [call.tool_use_id for call in reply.calls]
    if not reply.is_whole:
        fault = "no message_stop"
    elif reply.stop_reason is None:
        fault = "no stop reason"
    elif reply.stop_reason == "tool_use" and not reply.calls:
        fault = "tool_use without a call"
    elif reply.stop_reason == "tool_use" and not all(call.is_closed for call in reply.calls):
        fault = "tool_use with an unfinished call"
    elif len(set(ids)) < len(ids):
        fault = "two calls with one id"
    if fault:
        raise _broken(fault)
    return reply


def _broken(fault: str) -> UpstreamError:
    """Count and build the failure of a stream that the client took for whole."""
    UPSTREAM_ERRORS.labels("broken_stream").inc()
    return UpstreamError("broken_stream", detail=fault, is_retryable=True, cause="request")
