"""Answers a turn: builds its request, runs the engine, keeps every round, closes the turn.

It knows no socket: what happens goes out through `publish`. Whatever goes wrong, the turn it was
given is closed at the end, with a sentence for the user.
"""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import structlog
from django.db import DatabaseError, transaction
from django.utils import timezone

from coaching.engine.budget import StopSignal
from coaching.engine.decisions import CUT_IN_WORDS
from coaching.engine.errors import StaleRunnerError
from coaching.engine.loop import PartResult, run_part
from coaching.engine.messages import FinishedRound, RoundUsage
from coaching.engine.ports import ModelClient
from coaching.engine.profiles import cost_micro_usd
from coaching.engine.tools import ToolCall, ToolResult
from coaching.models import FileSource
from coaching.summaries import enqueue_summary
from coaching.tools import CHAT_TOOLS
from coaching.turn_events import (
    ArcCompleted,
    CallAnswered,
    CallPending,
    ErrorShown,
    ModeChanged,
    RoundClosed,
    SessionCompleted,
    TurnDone,
    TurnEvent,
)
from coaching.turn_setup import SessionState, TurnSetup, load_setup, read_state
from sessions_app import pending_calls, turn_records
from sessions_app.database import in_database
from sessions_app.errors import StaleFence
from sessions_app.models import CallState, Message, ModelUsage, SessionStatus, TurnStatus
from sessions_app.text import mended
from sessions_app.turn_records import CallResult, Ending, NewCall, TurnKey

logger = structlog.get_logger(__name__)

Publish = Callable[[TurnEvent], None]

UNEXPECTED = "Something went wrong on our side. Your message is safe; please try again."
CUT_FOR_LENGTH = "max_tokens"
INTERRUPTED = Ending(
    status=TurnStatus.INTERRUPTED,
    stop_reason="interrupted",
    user_notice="Sage was interrupted. What it had said is kept; you can try again.",
)
_CLOSE_DELAYS_SECONDS = (0.2, 0.5, 1.0, 2.0, 4.0)
_STATUS_OF_OUTCOME = {
    "completed": TurnStatus.COMPLETED,
    "stopped": TurnStatus.STOPPED,
    "failed": TurnStatus.FAILED,
}


class HeldQuestions:
    """Keeps pending calls back until the turn waits for them: nobody can answer sooner than that counts."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._held: list[CallPending] = []

    def take(self, event: TurnEvent) -> None:
        """Pass an event on, unless it is a pending call."""
        if isinstance(event, CallPending):
            self._held.append(event)
        else:
            self._publish(event)

    def show(self) -> None:
        """Pass the pending calls on, in order."""
        for pending in self._held:
            self._publish(pending)


class ToolDesk:
    """What a turn's tools share: the turn, and what the session is at this moment."""

    def __init__(self, setup: TurnSetup, publish: Publish) -> None:
        self.setup = setup
        self.state = setup.state
        self._publish = publish

    def context_for(self, call: ToolCall) -> "ChatToolContext":
        """Return the context in which a call runs."""
        return ChatToolContext(
            desk=self,
            tool_use_id=call.tool_use_id,
            effective_kind=self.state.effective_kind,
            now=timezone.now(),
        )

    async def commit(self, tool_use_id: str, effect: Callable[[], ToolResult]) -> ToolResult:
        """Run an effect with the record of its call's result; say what it changed of the session."""

        def effect_with_record() -> CallResult:
            result = effect()
            return CallResult(content=result.content, is_error=result.is_error)

        @transaction.atomic
        def committed() -> tuple[CallResult, SessionState]:
            stored = turn_records.run_effect(self.setup.key, tool_use_id, effect_with_record)
            state = read_state(self.setup.session_id)
            if is_completed_now(self.state, state):
                enqueue_summary(self.setup.session_id)  # in this transaction: never one without the other
            return stored, state

        try:
            stored, state = await in_database(committed)
        except StaleFence as error:
            raise StaleRunnerError(str(error)) from error
        self._publish_change(state)
        return ToolResult(content=stored.content, is_error=stored.is_error)

    def _publish_change(self, state: SessionState) -> None:
        before, self.state = self.state, state
        if before.active_arc and before.active_arc != state.active_arc:
            self._publish(ArcCompleted(arc=before.active_arc))
        if state.active_arc and before.active_arc != state.active_arc:
            self._publish(ModeChanged(arc=state.active_arc))
        if is_completed_now(before, state):
            self._publish(SessionCompleted())


def is_completed_now(before: SessionState, state: SessionState) -> bool:
    """Say whether the session was completed between two looks at it."""
    return state.status == SessionStatus.COMPLETED != before.status


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatToolContext:
    """What a tool may know and do in a conversation: `coaching.tools.context.ToolContext` for chat."""

    desk: ToolDesk
    tool_use_id: str
    effective_kind: str
    now: datetime
    source: FileSource = FileSource.TOOL

    @property
    def user_id(self) -> int:
        """The user, whom every read and write is bound to."""
        return self.desk.setup.user_id

    @property
    def session_id(self) -> uuid.UUID:
        """The session."""
        return self.desk.setup.session_id

    @property
    def timezone(self) -> ZoneInfo:
        """The user's time zone."""
        return self.desk.setup.timezone

    async def commit(self, effect: Callable[[], ToolResult]) -> ToolResult:
        """Run `effect` in one transaction with the record of this call's result, at most once."""
        return await self.desk.commit(self.tool_use_id, effect)


class TurnRecorder:
    """Keeps a turn's rounds, results and usage under the turn's fencing number."""

    def __init__(self, key: TurnKey, publish: Publish) -> None:
        self._key = key
        self._publish = publish

    async def record_round(self, finished: FinishedRound) -> None:
        """Commit a round and its calls, then say that its text is final."""
        calls = [
            NewCall(
                tool_use_id=call.tool_use_id,
                name=call.name,
                position=call.position,
                input=_input_projection(finished, call),
                is_interactive=_is_interactive(call.name),
            )
            for call in finished.calls
        ]
        try:
            await in_database(
                turn_records.store_round,
                self._key,
                number=finished.number,
                blocks=finished.blocks_json,
                text=finished.text,
                notes=finished.notes,
                stop_reason=finished.stop_reason,
                is_partial=finished.is_partial,
                upstream_id=finished.message_id,
                model=finished.model,
                calls=calls,
            )
        except StaleFence as error:
            raise StaleRunnerError(str(error)) from error
        self._publish(
            RoundClosed(
                turn_id=str(self._key.turn_id),
                number=finished.number,
                text=mended(finished.text),
                notes=mended(finished.notes),
            )
        )

    async def record_result(self, call: ToolCall, result: ToolResult) -> None:
        """Commit a call's result, unless its effect did so already."""
        stored = CallResult(content=result.content, is_error=result.is_error)
        try:
            await in_database(turn_records.store_result, self._key, call.tool_use_id, stored)
        except StaleFence as error:
            raise StaleRunnerError(str(error)) from error

    async def record_usage(self, usage: RoundUsage) -> None:
        """Store what an answer cost."""
        row = ModelUsage(
            round_number=usage.round_number,
            model=usage.model,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_creation_5m_tokens=usage.cache_creation_5m_tokens,
            cache_creation_1h_tokens=usage.cache_creation_1h_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cost_micro_usd=cost_micro_usd(usage, on=timezone.now().date()),
            first_token_ms=usage.first_token_ms,
            duration_ms=usage.duration_ms,
        )
        await in_database(turn_records.store_usage, self._key, usage=row)


def _is_interactive(name: str) -> bool:
    tool = CHAT_TOOLS.get(name)
    return tool is not None and tool.kind in ("interactive", "confirm")


def _input_projection(finished: FinishedRound, call: ToolCall) -> object:
    """Return the call's input as the round's block has it: parsed where it could be parsed."""
    for block in finished.blocks:
        if block.get("type") == "tool_use" and block.get("id") == call.tool_use_id:
            return block.get("input", {})
    return {}


async def answer(
    key: TurnKey,
    *,
    client: ModelClient,
    publish: Publish,
    stop: StopSignal,
    on_setup: Callable[[TurnSetup], None],
) -> TurnDone:
    """Answer the turn, or go on where it was left; return the event that says how its part ended.

    That event is not yet published. `on_setup` is given what was read before the first round.
    Raises `StaleRunnerError` when another runner has taken the turn over: nothing is written then.
    """
    try:
        setup = await in_database(load_setup, key)
        on_setup(setup)
        is_too_late = setup.limits.seconds <= 0 and setup.closing_stop_reason is None
        if is_too_late or setup.is_cut:
            return await _close(key, INTERRUPTED, publish=publish)
        questions = HeldQuestions(publish)
        result = await _run(setup, client=client, publish=questions.take, stop=stop)
        if result.outcome == "awaiting_user":
            return await _wait_for_user(key, result.stop_reason, questions=questions, publish=publish)
        ending = _ending_of(result)
    except (StaleFence, StaleRunnerError) as error:
        raise StaleRunnerError(str(key.turn_id)) from error
    except Exception:  # isolates a turn: whatever broke, the turn is closed and the user told
        logger.exception("turn_failed", turn_id=str(key.turn_id))
        ending = Ending(
            status=TurnStatus.FAILED, stop_reason="error", failure="internal", user_notice=UNEXPECTED
        )
    return await _close(key, ending, publish=publish)


async def _run(setup: TurnSetup, *, client: ModelClient, publish: Publish, stop: StopSignal) -> PartResult:
    if setup.closing_stop_reason is not None:
        notice = CUT_IN_WORDS if setup.closing_stop_reason == CUT_FOR_LENGTH else None
        return PartResult(outcome="completed", stop_reason=setup.closing_stop_reason, user_message=notice)
    return await run_part(
        request=setup.request,
        client=client,
        toolset=CHAT_TOOLS,
        context_for=ToolDesk(setup, publish).context_for,
        recorder=TurnRecorder(setup.key, publish),
        emit=publish,
        stop=stop,
        limits=setup.limits,
        rounds_before=len(setup.rounds),
        resumed=setup.resumed,
        used_call_ids=setup.call_ids,
    )


def _ending_of(result: PartResult) -> Ending:
    return Ending(
        status=_STATUS_OF_OUTCOME[result.outcome],
        stop_reason=result.stop_reason,
        failure=result.failure.reason if result.failure else "",
        user_notice=result.user_message or "",
    )


async def _wait_for_user(
    key: TurnKey, stop_reason: str, *, questions: "HeldQuestions", publish: Publish
) -> TurnDone:
    """Let the turn wait; a tool may have ended the session that the answer would have belonged to."""
    expired = await in_database(pending_calls.await_user, key, stop_reason=stop_reason)
    for tool_use_id in expired:
        publish(
            CallAnswered(
                turn_id=str(key.turn_id), tool_use_id=tool_use_id, state=CallState.EXPIRED, value=None
            )
        )
    if not expired:
        questions.show()
    else:
        return turn_done(key.turn_id, status=TurnStatus.COMPLETED, stop_reason=CallState.EXPIRED, text="")
    return TurnDone(turn_id=str(key.turn_id), stop_reason=stop_reason, status=TurnStatus.AWAITING_USER)


async def _close(key: TurnKey, ending: Ending, *, publish: Publish) -> TurnDone:
    """Close the turn, through a short outage of the database too."""
    message = await _stored_answer(key, ending)
    if ending.user_notice:
        publish(ErrorShown(message=ending.user_notice))
    text = message.content if message else ""
    return turn_done(key.turn_id, status=ending.status, stop_reason=ending.stop_reason, text=text)


def turn_done(turn_id: uuid.UUID, *, status: str, stop_reason: str, text: str) -> TurnDone:
    """Build the event that ends a turn, with what the page may offer then."""
    return TurnDone(
        turn_id=str(turn_id),
        stop_reason=stop_reason,
        status=status,
        text=text,
        can_retry=status in (TurnStatus.FAILED, TurnStatus.STOPPED, TurnStatus.INTERRUPTED),
        can_continue=stop_reason == CUT_FOR_LENGTH,
    )


def lost(turn_id: str) -> TurnDone:
    """Build the event that ends a turn here because it is another runner's, or can't be closed now."""
    return TurnDone(turn_id=turn_id, stop_reason="interrupted", status=TurnStatus.INTERRUPTED)


async def _stored_answer(key: TurnKey, ending: Ending) -> Message | None:
    for delay_seconds in (*_CLOSE_DELAYS_SECONDS, None):
        try:
            return await in_database(turn_records.close_turn, key, ending)
        except StaleFence as error:
            raise StaleRunnerError(str(error)) from error
        except DatabaseError:
            if delay_seconds is None:
                raise
            logger.warning("turn_close_delayed", turn_id=str(key.turn_id), seconds=delay_seconds)
            await asyncio.sleep(delay_seconds)
    return None
