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
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from coaching.context.prompt import build_request
from coaching.engine.budget import PartLimits, StopSignal
from coaching.engine.errors import StaleRunnerError
from coaching.engine.loop import PartResult, run_part
from coaching.engine.messages import FinishedRound, ModelRequest, RoundUsage, canonical_json
from coaching.engine.ports import ModelClient
from coaching.engine.profiles import cost_micro_usd
from coaching.engine.tools import ToolCall, ToolResult
from coaching.models import FileSource, Profile
from coaching.tools import CHAT_TOOLS
from coaching.turn_events import ErrorShown, RoundClosed, TurnDone, TurnEvent
from sessions_app import selectors, turn_records
from sessions_app.database import in_database
from sessions_app.errors import StaleFence
from sessions_app.models import Message, ModelUsage, Turn, TurnStatus
from sessions_app.text import mended
from sessions_app.turn_records import CallResult, Ending, NewCall, TurnKey

logger = structlog.get_logger(__name__)

Publish = Callable[[TurnEvent], None]

UNEXPECTED = "Something went wrong on our side. Your message is safe; please try again."
CUT_FOR_LENGTH = "max_tokens"
_CLOSE_DELAYS_SECONDS = (0.2, 0.5, 1.0, 2.0, 4.0)
_STATUS_OF_OUTCOME = {
    "completed": TurnStatus.COMPLETED,
    "stopped": TurnStatus.STOPPED,
    "failed": TurnStatus.FAILED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSetup:
    """What a turn needs before its first finished."""

    key: TurnKey
    user_id: int
    session_id: uuid.UUID
    effective_kind: str
    timezone: ZoneInfo
    request: ModelRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatToolContext:
    """What a tool may know and do in a conversation: `coaching.tools.context.ToolContext` for chat."""

    key: TurnKey
    user_id: int
    session_id: uuid.UUID | None
    effective_kind: str
    tool_use_id: str
    source: FileSource
    now: datetime
    timezone: ZoneInfo

    async def commit(self, effect: Callable[[], ToolResult]) -> ToolResult:
        """Run `effect` in one transaction with the record of this call's result, at most once."""

        def effect_with_record() -> CallResult:
            result = effect()
            return CallResult(content=result.content, is_error=result.is_error)

        try:
            stored = await in_database(
                turn_records.run_effect, self.key, self.tool_use_id, effect_with_record
            )
        except StaleFence as error:
            raise StaleRunnerError(str(error)) from error
        return ToolResult(content=stored.content, is_error=stored.is_error)


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


def load_setup(key: TurnKey) -> TurnSetup:
    """Read what the turn needs and store the request that it begins with.

    Raises `StaleFence` where the turn is no longer this runner's.
    """
    turn = Turn.objects.select_related("session").get(id=key.turn_id)
    session = turn.session
    profile, _ = Profile.objects.get_or_create(user_id=session.user_id)
    request = build_request(selectors.history(session), tools=CHAT_TOOLS.definitions())
    turn_records.store_prefix(key, model=request.model, prefix=_prefix_json(request))
    return TurnSetup(
        key=key,
        user_id=session.user_id,
        session_id=session.id,
        effective_kind=session.effective_kind,
        timezone=profile.zone,
        request=request,
    )


def _prefix_json(request: ModelRequest) -> str:
    return canonical_json({"tools": request.tools, "system": request.system, "messages": request.messages})


async def answer(key: TurnKey, *, client: ModelClient, publish: Publish, stop: StopSignal) -> TurnDone:
    """Answer the turn to its end; return the event that says how it ended, not yet published.

    Raises `StaleRunnerError` when another runner has taken the turn over: nothing is written then.
    """
    try:
        setup = await in_database(load_setup, key)
        result = await _run(setup, client=client, publish=publish, stop=stop)
        if result.outcome == "awaiting_user":
            await in_database(turn_records.pause_turn, key, stop_reason=result.stop_reason)
            return TurnDone(
                turn_id=str(key.turn_id), stop_reason=result.stop_reason, status=TurnStatus.AWAITING_USER
            )
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
    def context_for(call: ToolCall) -> ChatToolContext:
        return ChatToolContext(
            key=setup.key,
            user_id=setup.user_id,
            session_id=setup.session_id,
            effective_kind=setup.effective_kind,
            tool_use_id=call.tool_use_id,
            source=FileSource.TOOL,
            now=timezone.now(),
            timezone=setup.timezone,
        )

    return await run_part(
        request=setup.request,
        client=client,
        toolset=CHAT_TOOLS,
        context_for=context_for,
        recorder=TurnRecorder(setup.key, publish),
        emit=publish,
        stop=stop,
        limits=PartLimits(
            max_rounds=settings.SAGE_MAX_ROUNDS,
            seconds=settings.SAGE_TURN_SECONDS,
            max_tool_calls=settings.SAGE_MAX_TOOL_CALLS,
        ),
    )


def _ending_of(result: PartResult) -> Ending:
    return Ending(
        status=_STATUS_OF_OUTCOME[result.outcome],
        stop_reason=result.stop_reason,
        failure=result.failure.reason if result.failure else "",
        user_notice=result.user_message or "",
    )


async def _close(key: TurnKey, ending: Ending, *, publish: Publish) -> TurnDone:
    """Close the turn, through a short outage of the database too."""
    message = await _stored_answer(key, ending)
    if ending.user_notice:
        publish(ErrorShown(message=ending.user_notice))
    return TurnDone(
        turn_id=str(key.turn_id),
        stop_reason=ending.stop_reason,
        status=ending.status,
        text=message.content if message else "",
        can_retry=ending.status in (TurnStatus.FAILED, TurnStatus.STOPPED),
        can_continue=ending.stop_reason == CUT_FOR_LENGTH,
    )


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
