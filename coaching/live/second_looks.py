"""Takes a second look at what a person writes, without delaying anything: messages, answers, captures.

A look is a task of its own; at a message it begins when the turn's request has gone out and, for a moment,
when no other turn is starting; with a local server when the answer is there. It is bounded in time, stands
behind a breaker of its own, and whatever happens to it changes nothing else: then the rules' card is all.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from coaching.engine.breaker import BreakerClient
from coaching.engine.errors import UpstreamError
from coaching.engine.json_text import without_fence
from coaching.engine.messages import ModelRequest, with_format_in_words
from coaching.engine.metrics import SECOND_LOOKS
from coaching.engine.ports import ModelClient
from coaching.engine.reply import Reply
from coaching.engine.usage import TokenCounts
from coaching.life.capture_verdicts import claim_looks, due_look
from coaching.model_client.connection import ModelConnection
from coaching.model_client.patience import job_tokens, look_seconds
from coaching.model_client.requests import WELL_ENDED, read_reply, store_usage
from coaching.model_client.servers import is_local_server
from coaching.model_client.usage import usage_row
from coaching.people.turn_starts import turn_starts
from coaching.safety.danger import Danger
from coaching.safety.second_look import INSTRUCTIONS, SCHEMA, build_question, parse_answer
from coaching.turns.answer_second_looks import claim_answer_looks, due_answer_look
from coaching.turns.second_looks import (
    LookResult,
    LookSubject,
    read_answer,
    read_capture,
    read_words,
    store_looks,
)
from coaching.turns.upstream import note_failure
from sessions_app.database import OUTAGES, in_database
from sessions_app.models import LookOutcome, ModelUsage, UsagePurpose
from sessions_app.queries import run_queries

logger = structlog.get_logger(__name__)

HEAD_START_SECONDS = 0.05
"""The turn's own request goes out first; its first token must not wait for a look's work."""
STARTS_SECONDS = 0.25
"""How long a look waits for turns that are starting: a card has to appear a second after the message."""
LOST_SECONDS = 5.0
"""How often a process takes over what others have lost."""
STORE_SECONDS = 0.1
"""How long an end without danger waits for others, to be stored with them."""
MAX_ANSWER_TOKENS = 512  # thinking counts too


class SecondLooks:
    """The looks of this process, by what they look at. All but `begin_captures` belong to its event loop."""

    def __init__(self, connection: ModelConnection) -> None:
        self._connection = connection
        self._tasks: dict[Hashable, asyncio.Task[None]] = {}
        self._calm: list[tuple[LookSubject, LookResult]] = []
        self._storing: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def work_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the event loop for looks that begin in pages' threads; before it is set, none begin there."""
        self._loop = loop

    def begin(
        self, turn_id: uuid.UUID, looked: LookSubject | None = None, *, turn: asyncio.Task[None] | None = None
    ) -> None:
        """Begin a look at the message of a turn that has just begun here; one at an older message goes on.

        `looked` is what it needs, if its start has read that. `turn` is the task that answers the message.
        """
        self._begin(turn_id, partial(read_words, turn_id), looked, turn=turn)

    def begin_answer(self, call_id: int, *, turn: asyncio.Task[None] | None = None) -> None:
        """Begin a look at the words with which a person has just answered a question in a `turn`."""
        self._begin(f"answer {call_id}", partial(read_answer, call_id), turn=turn)

    def begin_captures(self, user_id: int) -> None:
        """Begin the looks at what a person has just captured. Thread-safe: for the threads of pages."""
        if self._loop is not None:
            for version_id in claim_looks(user_id=user_id, now=timezone.now()):
                self._loop.call_soon_threadsafe(self._begin_capture, version_id)

    async def take_lost(self) -> None:
        """Take the looks at captures and answers that processes have lost, until cancelled."""
        while True:
            try:
                await self._take_lost()
            except OUTAGES as error:
                logger.warning("lost_looks_without_database", error=type(error).__name__)
            await asyncio.sleep(LOST_SECONDS)

    async def _take_lost(self) -> None:
        if not settings.SAGE_SAFETY_MODEL or not await in_database(_are_looks_due):
            return
        for version_id in await in_database(claim_looks, now=timezone.now()):
            self._begin_capture(version_id)
        for call_id in await in_database(claim_answer_looks, now=timezone.now()):
            self.begin_answer(call_id)

    def _begin_capture(self, version_id: int) -> None:
        self._begin(f"capture {version_id}", partial(read_capture, version_id))

    def _begin(
        self,
        key: Hashable,
        read: Callable[[], LookSubject | None],
        looked: LookSubject | None = None,
        *,
        turn: asyncio.Task[None] | None = None,
    ) -> None:
        if not settings.SAGE_SAFETY_MODEL:
            return
        task = asyncio.create_task(self._look(read, looked, turn), name=f"second look {key}")
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key, None))

    def cancel(self, turn_ids: tuple[uuid.UUID, ...]) -> None:
        """Cancel the looks at messages that were withdrawn."""
        for turn_id in turn_ids:
            if task := self._tasks.get(turn_id):
                task.cancel()

    async def close(self) -> None:
        """Cancel all looks; what they have spent is stored."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=0.5)
        if self._storing is not None:
            await asyncio.wait([self._storing], timeout=0.5)

    async def _look(
        self,
        read: Callable[[], LookSubject | None],
        looked: LookSubject | None,
        turn: asyncio.Task[None] | None,
    ) -> None:
        if turn is not None and is_local_server():
            # It answers one request at a time: the answer first, then the look, then background work.
            await asyncio.wait([turn])
        else:
            await asyncio.sleep(HEAD_START_SECONDS)
            await turn_starts().wait_until_over(seconds=STARTS_SECONDS)
        try:
            looked = looked or await in_database(read)
        except DatabaseError as error:
            _note_outage(error)
            return
        if looked is None:
            return
        seen = await self._see(looked)
        if looked.of != "message" or seen.danger is not None:
            await _store([(looked, seen)])
            return
        self._calm.append((looked, seen))
        if self._storing is None:
            self._storing = asyncio.create_task(self._store_calm(), name="store second looks")

    async def _store_calm(self) -> None:
        await asyncio.sleep(STORE_SECONDS)
        calm, self._calm, self._storing = self._calm, [], None
        await _store(calm)

    async def _see(self, looked: LookSubject) -> LookResult:
        """Ask the model and return how that ended."""
        began = time.monotonic()
        spent: list[Reply] = []
        danger: Danger | None = None
        client: BreakerClient | None = None
        try:
            client = await self._connection.look_client()
            danger = await _ask(looked, client.of(looked.user_id), spent.append)
            outcome = LookOutcome(danger.level if danger else "none")
        except UpstreamError as error:
            if client is not None:
                await note_failure(client, error, user_id=looked.user_id)
            is_late = error.reason == "out_of_time"
            outcome = LookOutcome.GIVEN_UP if is_late else LookOutcome.FAILED
            logger.info("second_look_failed", reason=error.reason)
        except ValueError:
            outcome = LookOutcome.NONSENSE
            logger.info("second_look_not_understood")
        except asyncio.CancelledError:
            if spent:
                await in_database(store_usage, _usage_of(looked, spent))
            raise
        return LookResult(
            outcome=outcome,
            danger=danger,
            model=settings.SAGE_SAFETY_MODEL,
            milliseconds=round((time.monotonic() - began) * 1000),
            usage=_usage_of(looked, spent) if spent else None,
        )


def _are_looks_due() -> bool:
    """Read in one round trip whether any look may be claimed, which is rare."""
    now = timezone.now()
    return any(run_queries([due_look(now=now), due_answer_look(now=now)]))


async def _ask(looked: LookSubject, client: ModelClient, spent: Callable[[Reply], None]) -> Danger | None:
    """Return what the model saw; nonsense is asked for once more, in words.

    Raises `UpstreamError`, and `ValueError` for nonsense.
    """
    question = build_question(looked.words, looked.earlier, asked=looked.asked)
    request = ModelRequest(
        model=settings.SAGE_SAFETY_MODEL,
        max_tokens=job_tokens(MAX_ANSWER_TOKENS),
        system=[{"type": "text", "text": INSTRUCTIONS}],
        messages=[{"role": "user", "content": question}],
        output_format={"type": "json_schema", "schema": dict(SCHEMA)},
    )
    seconds = look_seconds()
    reply = await read_reply(client, request, seconds=seconds, spent=spent)
    try:
        return _danger_in(reply)
    except ValueError:
        if reply.stop_reason not in WELL_ENDED:
            raise
    left = max(0.0, seconds - reply.duration_ms / 1_000)
    return _danger_in(await read_reply(client, with_format_in_words(request), seconds=left, spent=spent))


def _usage_of(looked: LookSubject, replies: Sequence[Reply]) -> ModelUsage:
    """Return the usage of a look, which may have been asked twice."""
    usages = [reply.usage(settings.SAGE_SAFETY_MODEL) for reply in replies]
    row = usage_row(
        replace(
            usages[0],
            tokens=sum((usage.tokens for usage in usages), TokenCounts()),
            duration_ms=sum(usage.duration_ms for usage in usages),
        )
    )
    row.session_id, row.user_id, row.purpose = looked.session_id, looked.user_id, UsagePurpose.SAFETY
    return row


async def _store(ended: Sequence[tuple[LookSubject, LookResult]]) -> None:
    try:
        await in_database(store_looks, ended)
    except DatabaseError as error:
        _note_outage(error, looks=len(ended))
    else:
        for _, seen in ended:
            SECOND_LOOKS.labels(seen.outcome).inc()


def _note_outage(error: DatabaseError, *, looks: int = 1) -> None:
    SECOND_LOOKS.labels(LookOutcome.FAILED).inc(looks)
    logger.warning("second_look_without_database", error=type(error).__name__)


def _danger_in(reply: Reply) -> Danger | None:
    """Return what the model saw. Raises `ValueError` for nonsense."""
    if reply.stop_reason not in WELL_ENDED:
        raise ValueError("no answer")  # refused or cut
    return parse_answer(without_fence(reply.text))
