"""Answers a turn: reads its setup, runs the engine, closes the turn.

It knows no socket: events go out through `publish`. Whatever goes wrong, the turn is closed at the end, with
a sentence for the user.
"""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import structlog
from django.db import DatabaseError
from django.utils.translation import gettext_noop as _

from coaching.engine.breaker import BreakerClient
from coaching.engine.budget import StopSignal
from coaching.engine.decisions import ended_before
from coaching.engine.errors import StaleRunnerError
from coaching.engine.loop import run_part
from coaching.engine.messages import ModelRequest
from coaching.engine.setup import PartSetup
from coaching.engine.transitions import PartResult
from coaching.events import Publish, TurnDone
from coaching.model_client.patience import timeouts_within
from coaching.people.turn_starts import turn_starts
from coaching.tools import CHAT_TOOLS
from coaching.tools.tiers import CHAT
from coaching.turns.citations import Citation, CitationFilter
from coaching.turns.cited import CitedTexts
from coaching.turns.reading import tell_reading
from coaching.turns.recorder import TurnRecorder
from coaching.turns.resume import load_setup, shrink_turn
from coaching.turns.setup import TurnSetup
from coaching.turns.tool_session import ToolSession
from coaching.turns.upstream import note_end
from coaching.turns.words import FAILURES, OPENING_CUT, WORDS
from sessions_app import pending_calls, turn_endings, turn_records
from sessions_app.database import in_database
from sessions_app.errors import StaleFence
from sessions_app.models import Message, ToolCallState, TurnStatus
from sessions_app.turn_endings import Ending, LastRound
from sessions_app.turn_locks import TurnKey

logger = structlog.get_logger(__name__)

INTERRUPTED = Ending(
    status=TurnStatus.INTERRUPTED,
    stop_reason="interrupted",
    user_notice=_("Sage was interrupted. Its answer so far is saved, and you can try again."),
)
STARTS_SECONDS = 0.5
"""How long the end of an answer that was shown waits for turns that are starting."""
_CLOSE_DELAYS_SECONDS = (0.2, 0.5, 1.0, 2.0, 4.0)
_STATUS_OF_OUTCOME = {
    "completed": TurnStatus.COMPLETED,
    "stopped": TurnStatus.STOPPED,
    "failed": TurnStatus.FAILED,
}


async def answer(
    key: TurnKey,
    *,
    client: BreakerClient,
    publish: Publish,
    stop: StopSignal,
    setup: TurnSetup | None = None,
    on_setup: Callable[[TurnSetup], None],
) -> TurnDone:
    """Answer or resume the turn; return how its part ended, which readers hear from the log.

    `setup` is given for a turn that was just opened. Otherwise it is read and passed to `on_setup` before the
    first round. Raises `StaleRunnerError`, with nothing written, if another runner has taken the turn over.
    """
    try:
        if setup is None:
            setup = await in_database(load_setup, key)
            on_setup(setup)
        if setup.is_too_late or setup.is_cut:
            return await _close(key, INTERRUPTED, stop=stop, is_opening=setup.is_opening)
        result, last = await _run(setup, client=client, publish=publish, stop=stop)
        if result.outcome == "awaiting_user":
            return await _wait_for_user(key, result)
        ending = _ending_of(result)
    except (StaleFence, StaleRunnerError) as error:
        raise StaleRunnerError(str(key.turn_id)) from error
    except Exception:  # isolates a turn: it is closed and the user gets a sentence
        logger.exception("turn_failed", turn_id=str(key.turn_id))
        ending = Ending(
            status=TurnStatus.FAILED,
            stop_reason="error",
            failure="internal",
            user_notice=FAILURES["internal"],
        )
        last = None
    is_opening = setup is not None and setup.is_opening
    return await _close(key, ending, stop=stop, last=last, is_opening=is_opening)


async def _run(
    setup: TurnSetup, *, client: BreakerClient, publish: Publish, stop: StopSignal
) -> tuple[PartResult, LastRound | None]:
    """Run the engine; return how the part ended, and the round that is still to be committed."""
    if setup.closing_stop_reason is not None:
        return ended_before(setup.closing_stop_reason, WORDS), None
    await tell_reading(setup, publish)
    tool_session = ToolSession(setup)
    recorder = TurnRecorder(tool_session, publish)
    cited = CitedTexts(user_id=setup.user_id, session_id=setup.session_id)
    part = PartSetup(
        request=setup.request,
        client=client.of(setup.user_id),
        toolset=CHAT_TOOLS.only(setup.offered),
        waiting_kinds=CHAT.waiting_kinds,
        words=WORDS,
        context_for=tool_session.context_for,
        recorder=recorder,
        emit=publish,
        stop=stop,
        limits=setup.limits,
        timeouts=timeouts_within(setup.limits.seconds),
        shrink=partial(_shrink, setup.key),
        rounds_before=len(setup.rounds),
        resumed=setup.resumed,
        used_call_ids=setup.call_ids,
        bracket_filter=lambda: CitationFilter(partial(_citations_held, cited)),
        is_held=tool_session.is_held,
        has_to_ask=tool_session.has_to_ask,
        runs_written=lambda: not tool_session.sources,
    )
    result = await note_end(client, await run_part(part), user_id=setup.user_id)
    return replace(result, pending=tuple(map(tool_session.with_sources, result.pending))), recorder.last_round


async def _citations_held(cited: CitedTexts, citations: Sequence[Citation]) -> Sequence[bool]:
    """Say which citations hold: none where that can't be read."""
    try:
        return await in_database(cited.held, citations)
    except DatabaseError as error:
        logger.warning("citations_not_checked", count=len(citations), error=type(error).__name__)
        return [False] * len(citations)


async def _shrink(key: TurnKey, request: ModelRequest) -> ModelRequest | None:
    try:
        smaller = await in_database(shrink_turn, key)
    except StaleFence as error:
        raise StaleRunnerError(str(error)) from error
    return smaller and replace(smaller, max_tokens=request.max_tokens)


def _ending_of(result: PartResult) -> Ending:
    return Ending(
        status=_STATUS_OF_OUTCOME[result.outcome],
        stop_reason=result.stop_reason,
        failure=result.failure.reason if result.failure else "",
        user_notice=result.user_message or "",
    )


async def _wait_for_user(key: TurnKey, result: PartResult) -> TurnDone:
    """Commit that the turn waits, with its questions: nobody could answer them sooner.

    Where a tool has ended the session they have expired instead.
    """
    details = {pending.tool_use_id: pending.details for pending in result.pending if pending.details}
    expired = await in_database(
        pending_calls.await_user, key, stop_reason=result.stop_reason, details=details
    )
    if expired:
        return turn_done(key.turn_id, status=TurnStatus.COMPLETED, stop_reason=ToolCallState.EXPIRED)
    return turn_done(key.turn_id, status=TurnStatus.AWAITING_USER, stop_reason=result.stop_reason)


async def _close(
    key: TurnKey,
    ending: Ending,
    *,
    stop: StopSignal,
    last: LastRound | None = None,
    is_opening: bool = False,
) -> TurnDone:
    """Close the turn, even during a short outage of the database."""
    if is_opening and ending.status in (TurnStatus.FAILED, TurnStatus.INTERRUPTED):
        ending = replace(ending, user_notice=OPENING_CUT)
    if ending.status == TurnStatus.COMPLETED:
        await _wait_for_starts(stop)
    answer = await _stored_answer(key, ending, last)
    return turn_done(key.turn_id, status=ending.status, stop_reason=ending.stop_reason, answer=answer)


async def _wait_for_starts(stop: StopSignal) -> None:
    """Wait briefly for turns that are starting, which have nothing to show yet; a stop ends that."""
    if turn_starts().are_over or stop.is_requested:
        return
    may_end = asyncio.Event()
    over = asyncio.create_task(turn_starts().wait_until_over(seconds=STARTS_SECONDS))
    over.add_done_callback(lambda _: may_end.set())
    with stop.watched_by(may_end.set):
        await may_end.wait()


def turn_done(
    turn_id: uuid.UUID, *, status: str, stop_reason: str, answer: Message | None = None
) -> TurnDone:
    """Build the event that ends a turn."""
    text, number = (answer.content, answer.number) if answer else ("", 0)
    return TurnDone(turn_id=str(turn_id), stop_reason=stop_reason, status=status, text=text, number=number)


def lost(turn_id: str) -> TurnDone:
    """Build the event that ends a turn here because another runner has it, or it can't be closed now."""
    return TurnDone(turn_id=turn_id, stop_reason="interrupted", status=TurnStatus.INTERRUPTED)


async def _stored_answer(key: TurnKey, ending: Ending, last: LastRound | None) -> Message | None:
    for delay_seconds in (*_CLOSE_DELAYS_SECONDS, None):
        try:
            return await in_database(turn_endings.close_turn, key, ending, last=last)
        except StaleFence as error:
            await _store_spent_tokens(key, last)
            raise StaleRunnerError(str(error)) from error
        except DatabaseError:
            if delay_seconds is None:
                raise
            logger.warning("turn_close_delayed", turn_id=str(key.turn_id), seconds=delay_seconds)
            await asyncio.sleep(delay_seconds)
    return None


async def _store_spent_tokens(key: TurnKey, last: LastRound | None) -> None:
    """Store the usage of a last round that wasn't stored."""
    if last is None or last.usage is None:
        return
    try:
        # Perhaps an earlier attempt was committed and only the reply to it was lost.
        await in_database(turn_records.store_usage, key, usage=last.usage, of=last.round)
    except DatabaseError as error:
        logger.warning("usage_not_stored", turn_id=str(key.turn_id), error=type(error).__name__)
