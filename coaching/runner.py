"""The tasks that outlive sockets: starts turns, lets readers attach, stops them, drains at the end.

One `Runner` a process. A turn belongs to it and not to a socket: whoever connects is shown all
that was said so far and then the rest. It knows no frame and no HTML.
"""

import asyncio
import json
import os
import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
from django.conf import settings
from django.db import DatabaseError

from coaching import turns
from coaching.engine.budget import StopSignal
from coaching.engine.errors import StaleRunnerError
from coaching.live import LiveTurn, SessionHub, Subscription
from coaching.model_client import ModelConnection
from coaching.turn_events import (
    CallPending,
    ErrorShown,
    MessageStored,
    RoundShown,
    Sync,
    TurnDone,
    TurnStarted,
)
from sessions_app import selectors, services, turn_records
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import CallState, Session, Turn, TurnStatus
from sessions_app.services import OpenedTurn, RateLimit
from sessions_app.turn_records import TurnKey

logger = structlog.get_logger(__name__)

SHOWN_INTERVAL_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What became of a message: its turn, and its session, another one where the old had ended."""

    session_id: uuid.UUID
    turn_id: uuid.UUID
    message_id: str
    number: int


@dataclass(slots=True, kw_only=True)
class _RunningTurn:
    key: TurnKey
    hub: SessionHub
    live: LiveTurn
    stop: StopSignal = field(default_factory=StopSignal)
    task: asyncio.Task[None] | None = None


class Runner:
    """Runs the turns of this process. Its methods belong to one event loop."""

    def __init__(self) -> None:
        self.owner = f"{socket.gethostname()[:32]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._connection = ModelConnection()
        self._hubs: dict[uuid.UUID, SessionHub] = {}
        self._running: dict[uuid.UUID, _RunningTurn] = {}
        self._shown_task: asyncio.Task[None] | None = None
        self._is_draining = False

    async def submit_message(
        self, *, user_id: int, session_id: uuid.UUID, text: object, client_id: object = None
    ) -> Submission:
        """Commit a user's message and start answering it; return as soon as it is committed.

        The same client id twice is one turn. Raises `Refused`, and `Session.DoesNotExist`.
        """
        return await self._start(
            services.open_turn, user_id=user_id, session_id=session_id, text=text, client_id=client_id
        )

    async def retry(self, *, user_id: int, session_id: uuid.UUID) -> Submission:
        """Answer the last message again, after its turn failed or was stopped. Raises `Refused`."""
        return await self._start(services.retry_turn, user_id=user_id, session_id=session_id)

    async def continue_answer(self, *, user_id: int, session_id: uuid.UUID) -> Submission:
        """Go on with an answer that was cut for its length. Raises `Refused`."""
        return await self._start(services.continue_turn, user_id=user_id, session_id=session_id)

    async def stop(self, *, user_id: int, session_id: uuid.UUID) -> bool:
        """Stop the session's running turn; return whether there was one. What came is kept."""
        await in_database(selectors.accessible_session, user_id=user_id, session_id=session_id)
        running = self._running.get(session_id)
        if running is None:
            return False
        running.stop.request()
        return True

    async def attach(self, *, user_id: int, session_id: uuid.UUID) -> Subscription:
        """Add a reader that begins with a snapshot of the open turn.

        Raises `Session.DoesNotExist` for a missing session and for another user's.
        """
        hub = self._hub(session_id)
        subscription = hub.subscribe()
        try:
            while True:
                turns_ended = hub.turns_ended
                sync = await in_database(_stored_sync, user_id=user_id, session_id=session_id)
                if turns_ended == hub.turns_ended:
                    break
        except BaseException:
            self.detach(session_id, subscription)
            raise
        subscription.begin(sync)
        return subscription

    def detach(self, session_id: uuid.UUID, subscription: Subscription) -> None:
        """Remove a reader; the turn goes on."""
        subscription.close()
        hub = self._hubs.get(session_id)
        if hub is not None and hub.is_unused:
            del self._hubs[session_id]

    async def wait_until_idle(self, session_id: uuid.UUID, *, seconds: float) -> bool:
        """Wait until no turn of the session runs here, at most `seconds`; return whether that is so."""
        running = self._running.get(session_id)
        if running is None or running.task is None:
            return True
        done, _ = await asyncio.wait([running.task], timeout=seconds)
        return bool(done)

    async def drain(self, seconds: float) -> None:
        """Take no new turns, let the running ones end for `seconds`, interrupt the rest, close the client."""
        self._is_draining = True
        tasks = [running.task for running in self._running.values() if running.task is not None]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=0.5)
                await in_database(turn_records.interrupt_turns, is_lost=lambda owner: owner == self.owner)
        if self._shown_task is not None:
            self._shown_task.cancel()
        await self._connection.close()

    async def interrupt_orphans(self) -> int:
        """Close the turns that earlier processes left running. Only where no other process may run."""
        return await in_database(turn_records.interrupt_turns, is_lost=lambda owner: owner != self.owner)

    async def _start(self, open_turn: Callable[..., OpenedTurn], **arguments: object) -> Submission:
        if self._is_draining:
            raise Refused("Sage is restarting. Please send it again in a few seconds.")
        limit = settings.SAGE_RATE_LIMIT
        opened = await in_database(
            open_turn,
            owner=self.owner,
            rate_limit=RateLimit(turns=limit.turns, seconds=limit.seconds),
            **arguments,
        )
        if opened.is_new:
            self._run(opened)
        return Submission(
            session_id=opened.session_id,
            turn_id=opened.turn.id,
            message_id=opened.message.client_id or "",
            number=opened.message.number,
        )

    def _run(self, opened: OpenedTurn) -> None:
        hub = self._hub(opened.session_id)
        turn_id = str(opened.turn.id)
        if not opened.message.metadata.get("is_hidden"):
            hub.publish(
                MessageStored(
                    id=opened.message.client_id or "",
                    number=opened.message.number,
                    text=opened.message.content,
                    turn_id=turn_id,
                )
            )
        hub.live = LiveTurn(turn_id)
        running = _RunningTurn(
            key=TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence), hub=hub, live=hub.live
        )
        self._running[opened.session_id] = running
        hub.publish(TurnStarted(turn_id=turn_id))
        running.task = asyncio.create_task(self._answer(opened.session_id, running), name=f"turn {turn_id}")
        if self._shown_task is None or self._shown_task.done():
            self._shown_task = asyncio.create_task(self._store_shown(), name="store shown text")

    async def _answer(self, session_id: uuid.UUID, running: _RunningTurn) -> None:
        hub = running.hub
        done: TurnDone | None = None
        try:
            with structlog.contextvars.bound_contextvars(
                session_id=str(session_id), turn_id=str(running.key.turn_id)
            ):
                client = await self._connection.client()
                done = await turns.answer(running.key, client=client, publish=hub.publish, stop=running.stop)
        except StaleRunnerError:
            logger.warning("runner_is_stale", turn_id=str(running.key.turn_id))
        except (DatabaseError, OSError):
            logger.exception("turn_not_closed", turn_id=str(running.key.turn_id))
            hub.publish(ErrorShown(message=turns.UNEXPECTED))
        finally:
            del self._running[session_id]
            hub.publish(
                done or TurnDone(turn_id=str(running.key.turn_id), stop_reason="error", status="interrupted")
            )
            hub.live = None
            hub.turns_ended += 1
            if hub.is_unused:
                self._hubs.pop(session_id, None)

    async def _store_shown(self) -> None:
        """Store what running rounds have shown, of all turns in one statement, while any turn runs."""
        while self._running:
            await asyncio.sleep(SHOWN_INTERVAL_SECONDS)
            shown = [
                (running.key, running.live.shown_json())
                for running in self._running.values()
                if running.live.is_dirty
            ]
            try:
                if shown:
                    await in_database(turn_records.store_shown, shown)
            except DatabaseError:
                logger.warning("shown_text_not_stored", turns=len(shown))

    def _hub(self, session_id: uuid.UUID) -> SessionHub:
        return self._hubs.setdefault(session_id, SessionHub())


def _stored_sync(*, user_id: int, session_id: uuid.UUID) -> Sync:
    """Read the session's open turn from the database as a snapshot."""
    session = selectors.accessible_session(user_id=user_id, session_id=session_id)
    turn = selectors.open_turn(session)
    if turn is None:
        return Sync(status="idle", running={}, last_number=session.last_message_number)
    return _sync_of_stored_turn(session, turn)


def _sync_of_stored_turn(session: Session, turn: Turn) -> Sync:
    rounds = [
        RoundShown(number=row.number, text=row.text, notes=row.notes, is_finished=True)
        for row in turn.rounds.all()
    ]
    shown = json.loads(turn.shown) if turn.shown else {}
    if shown.get("text") or shown.get("notes"):
        rounds.append(
            RoundShown(number=len(rounds) + 1, text=shown["text"], notes=shown["notes"], is_finished=False)
        )
    calls = list(turn.calls.all())
    return Sync(
        status="awaiting_user" if turn.status == TurnStatus.AWAITING_USER else "running",
        turn_id=str(turn.id),
        text="\n\n".join(row.text for row in rounds if row.text),
        notes=tuple(row.notes for row in rounds if row.notes),
        rounds=tuple(rounds),
        running={call.tool_use_id: call.name for call in calls if call.state == CallState.RUNNING},
        pending=tuple(
            CallPending(tool_use_id=call.tool_use_id, name=call.name, input=call.input)
            for call in calls
            if call.state == CallState.PENDING
        ),
        last_number=session.last_message_number,
    )


class _CurrentRunner:
    """The process's runner, made on first use: importing this module starts nothing."""

    def __init__(self) -> None:
        self._runner: Runner | None = None

    def get(self) -> Runner:
        if self._runner is None:
            self._runner = Runner()
        return self._runner


_current = _CurrentRunner()


def get_runner() -> Runner:
    """Return this process's runner."""
    return _current.get()
