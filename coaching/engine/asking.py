"""Asks the model for one round and shows it as it comes, through retries, stop and deadline.

It returns a reply that is whole, or raises. It runs no call and decides nothing about what the
reply means; what was shown of a round that didn't end is kept by `unfinished`.
"""

import asyncio
import logging
from collections.abc import Callable

from coaching.engine.budget import PartBudget, PartStoppedError, StopSignal
from coaching.engine.errors import UpstreamError
from coaching.engine.events import EngineEvent, NoteDelta, RoundBoundary, RoundRestarted, TextDelta
from coaching.engine.messages import FinishedRound, ModelRequest, canonical_json
from coaching.engine.ports import ModelClient, Recorder, StreamTimeouts
from coaching.engine.profiles import profile_for
from coaching.engine.reply import MessageRestarted, Reply, ReplyDelta
from coaching.engine.retry import RoundRetries
from coaching.engine.usage import RoundUsage

_log = logging.getLogger(__name__)

CUT = "cut"
"""The stop reason of an answer that never ended."""


class ShownRound:
    """What the reader has seen of the running round."""

    def __init__(self, number: int, emit: Callable[[EngineEvent], None], *, shows_notes: bool) -> None:
        self.number = number
        self._emit = emit
        self._shows_notes = shows_notes
        self._has_begun = number == 1
        self._text: list[str] = []
        self._notes: list[str] = []

    @property
    def text(self) -> str:
        """The text shown since the round was last begun."""
        return "".join(self._text)

    @property
    def notes(self) -> str:
        """The notes shown since the round was last begun."""
        return "".join(self._notes)

    @property
    def has_shown(self) -> bool:
        """Whether there is anything on the screen that a restart must take back."""
        return bool(self._text or self._notes)

    def begin(self) -> None:
        """Say that the round has begun: before its first output, or when it is whole and had none; once."""
        if not self._has_begun:
            self._has_begun = True
            self._emit(RoundBoundary())

    def show(self, delta: ReplyDelta) -> None:
        """Pass on what a reader may see of a delta."""
        if isinstance(delta, TextDelta):
            self.begin()
            self._text.append(delta.text)
            self._emit(delta)
        elif isinstance(delta, MessageRestarted):
            self.restart()
        elif self._shows_notes:
            self.begin()
            self._notes.append(delta.text)
            self._emit(NoteDelta(delta.text))

    def restart(self) -> None:
        """Take back what was shown, if anything was."""
        if self.has_shown:
            self._emit(RoundRestarted())
        self._text.clear()
        self._notes.clear()

    def unfinished(self, model: str) -> FinishedRound | None:
        """Return the round as it is kept when it never ended; None if nothing was shown."""
        if not self.has_shown:
            return None
        return text_round(self, reply=None, model=model, is_partial=True)


class Asker:
    """Asks for the rounds of one part."""

    def __init__(
        self,
        *,
        client: ModelClient,
        recorder: Recorder,
        budget: PartBudget,
        stop: StopSignal,
        timeouts: StreamTimeouts,
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._budget = budget
        self._stop = stop
        self._timeouts = timeouts

    async def ask(self, request: ModelRequest, shown: ShownRound) -> tuple[Reply, RoundUsage]:
        """Return the whole reply to a request, and what it cost: that is recorded with its round.

        What failed attempts cost is recorded here. Raises `UpstreamError` after the last attempt and
        `PartStoppedError` on stop.
        """
        retries = RoundRetries()
        last_error: UpstreamError | None = None
        while True:
            if not self._budget.admits_request():
                raise last_error or UpstreamError("unavailable", detail="no upstream requests left")
            try:
                return await self._listen(request, shown)
            except UpstreamError as error:
                last_error = error
                wait = retries.wait_before_retry(
                    error,
                    has_shown=shown.has_shown,
                    remaining_seconds=self._budget.remaining_seconds(),
                )
                _log.warning(
                    "upstream failed: %s; attempt %s, retry in %s s", str(error), retries.attempts, wait
                )
                if wait is None:
                    raise
            shown.restart()
            async with self._budget.interruptible(self._stop):
                await asyncio.sleep(wait)

    async def _listen(self, request: ModelRequest, shown: ShownRound) -> tuple[Reply, RoundUsage]:
        reply: Reply | None = None
        try:
            async with (
                self._budget.interruptible(self._stop),
                self._client.stream(request, timeouts=self._timeouts) as stream,
            ):
                try:
                    async for deltas in stream:
                        for delta in deltas:
                            shown.show(delta)
                finally:
                    reply = stream.reply()
            # Outside the stream's block: the upstream is closed before anything is stored.
            checked = _checked(reply)
        except (UpstreamError, PartStoppedError):
            if reply is not None and reply.has_started:
                await self._recorder.record_usage(reply.usage(request.model, shown.number))
            raise
        return checked, checked.usage(request.model, shown.number)


def _checked(reply: Reply | None) -> Reply:
    """Refuse a reply that contradicts itself: it is asked for again, never run or accepted."""
    fault = ""
    if reply is None:
        raise UpstreamError("broken_stream", detail="no reply", is_retryable=True)
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
        raise UpstreamError("broken_stream", detail=fault, is_retryable=True)
    return reply


def text_round(shown: ShownRound, *, reply: Reply | None, model: str, is_partial: bool) -> FinishedRound:
    """Build a round that keeps its words alone: no thinking and no call of it goes on."""
    words = shown.text
    blocks = ({"type": "text", "text": words},) if words.strip() else ()
    return FinishedRound(
        number=shown.number,
        blocks=blocks,
        blocks_json=canonical_json(blocks),
        text=words,
        notes=shown.notes,
        calls=(),
        stop_reason=(reply and reply.stop_reason) or CUT,
        message_id=reply.message_id if reply else "",
        model=(reply and reply.model) or model,
        is_partial=is_partial,
    )


def shows_notes(request: ModelRequest, *, is_first_round: bool) -> bool:
    """Say whether the thinking of this request's reply is shown as notes."""
    return profile_for(request.model).shows_notes(is_first_round=is_first_round)
