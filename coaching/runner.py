"""The tasks that outlive sockets: starts turns, lets readers attach, stops them, drains at the end.

One `Runner` a process. A turn belongs to a process's runner and not to a socket: whoever connects
is shown all that was said so far and then the rest. It knows no frame and no HTML. What keeps
turns alive beyond this process (leases, turns of other processes) is in `upkeep`.
"""

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError

from coaching import answers, turns
from coaching.doorbell import Doorbell
from coaching.engine.budget import StopSignal
from coaching.engine.errors import StaleRunnerError
from coaching.following import read_changes
from coaching.live import LiveTurn, SessionHub, Subscription
from coaching.model_client import ModelConnection
from coaching.stored_view import kept_writes
from coaching.turn_events import (
    CallAnswered,
    CallPending,
    ErrorShown,
    HistoryChanged,
    MessageStored,
    Sync,
    TurnDone,
    TurnStarted,
)
from coaching.turn_setup import TurnSetup
from sessions_app import pending_calls, selectors, services, turn_records
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.limits import RateLimit
from sessions_app.models import Session, ToolCallRecord, TurnStatus
from sessions_app.pending_calls import EndedCall
from sessions_app.services import OpenedTurn
from sessions_app.turn_records import TurnKey

logger = structlog.get_logger(__name__)

SHOWN_INTERVAL_SECONDS = 0.25
RESTARTING = "Sage is restarting. Please send it again in a few seconds."


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What became of a message: its turn, and its session, another one where the old had ended.

    `kept` are the files that stay written though the turns that wrote them were withdrawn.
    """

    session_id: uuid.UUID
    turn_id: uuid.UUID
    message_id: str
    number: int
    kept: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class RunningTurn:
    """A turn that runs in this process."""

    key: TurnKey
    hub: SessionHub
    live: LiveTurn
    stop: StopSignal = field(default_factory=StopSignal)
    task: asyncio.Task[None] | None = None


class Runner:
    """Runs the turns of this process. Its methods belong to one event loop."""

    def __init__(self) -> None:
        self.owner = f"{socket.gethostname()[:32]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.hubs: dict[uuid.UUID, SessionHub] = {}
        self.running: dict[uuid.UUID, RunningTurn] = {}
        self.doorbell = Doorbell()
        self.openings = 0
        self._connection = ModelConnection()
        self._shown_task: asyncio.Task[None] | None = None
        self._is_draining = False

    async def submit_message(
        self, *, user_id: int, session_id: uuid.UUID, text: object, client_id: object = None
    ) -> Submission:
        """Commit a user's message and start answering it; return as soon as it is committed.

        The same client id twice is one turn. Raises `Refused`, and `Session.DoesNotExist`.
        """
        return await self._open(
            services.open_turn, user_id=user_id, session_id=session_id, text=text, client_id=client_id
        )

    async def edit_message(
        self, *, user_id: int, session_id: uuid.UUID, text: object, client_id: object = None
    ) -> Submission:
        """Put a new message in the place of the user's last one and answer it. Raises `Refused`."""
        return await self._open(
            services.edit_message, user_id=user_id, session_id=session_id, text=text, client_id=client_id
        )

    async def retry(self, *, user_id: int, session_id: uuid.UUID) -> Submission:
        """Answer the last message again, after its turn failed or was stopped. Raises `Refused`."""
        return await self._open(services.retry_turn, user_id=user_id, session_id=session_id)

    async def continue_answer(self, *, user_id: int, session_id: uuid.UUID) -> Submission:
        """Go on with an answer that was cut for its length. Raises `Refused`."""
        return await self._open(services.continue_turn, user_id=user_id, session_id=session_id)

    async def answer_call(
        self, *, user_id: int, session_id: uuid.UUID, tool_use_id: object, value: object
    ) -> uuid.UUID:
        """Answer a pending call; after the last one its turn goes on here. Raises `Refused`.

        Returns the turn's id.
        """
        self._refuse_while_draining()
        build_answer = answers.builder_for(user_id=user_id, value=value)
        async with self._opening(session_id):
            ended = await in_database(
                pending_calls.answer_call,
                user_id=user_id,
                session_id=session_id,
                tool_use_id=tool_use_id,
                owner=self.owner,
                rate_limit=rate_limit(),
                build_answer=build_answer,
            )
            self._follow_up(session_id, ended)
        await self.doorbell.ring(session_id)
        return ended.turn.id

    async def dismiss_call(self, *, user_id: int, session_id: uuid.UUID, tool_use_id: object) -> uuid.UUID:
        """End a pending call without an answer. Returns its turn's id. Raises `Refused`."""
        self._refuse_while_draining()
        async with self._opening(session_id):
            ended = await in_database(
                pending_calls.dismiss_call,
                user_id=user_id,
                session_id=session_id,
                tool_use_id=tool_use_id,
                owner=self.owner,
                rate_limit=rate_limit(),
            )
            self._follow_up(session_id, ended)
        await self.doorbell.ring(session_id)
        return ended.turn.id

    async def stop(self, *, user_id: int, session_id: uuid.UUID) -> bool:
        """Stop the session's running turn, wherever it runs; return whether there was one."""
        running = self.running.get(session_id)
        if running is None:
            asked = await in_database(_ask_to_stop, user_id=user_id, session_id=session_id)
            await self.doorbell.ring(session_id)
            return asked
        await in_database(selectors.accessible_session, user_id=user_id, session_id=session_id)
        running.stop.request()
        return True

    async def attach(self, *, user_id: int, session_id: uuid.UUID) -> Subscription:
        """Add a reader that begins with a snapshot of the open turn.

        Raises `Session.DoesNotExist` for a missing session and for another user's.
        """
        await in_database(selectors.accessible_session, user_id=user_id, session_id=session_id)
        try:
            while True:
                hub = self._hub(session_id)
                is_up_to_date = hub.live is not None or await self.look(session_id)
                if is_up_to_date and self.hubs.get(session_id) is hub:
                    return hub.subscribe()
        finally:
            self._forget_unused(session_id)

    async def look(self, session_id: uuid.UUID) -> bool:
        """Bring this process's readers to what the database says, while no turn runs here.

        Returns whether they are there; a turn that began or ended here meanwhile knows better.
        """
        hub = self._hub(session_id)
        async with hub.looking:
            turns_ended, before = hub.turns_ended, hub.at_rest
            shown = before and replace(before, facts=hub.facts)
            sync, events = await in_database(read_changes, session_id, shown, ended=hub.last_ended)
            if hub.live is not None or turns_ended != hub.turns_ended or before is not hub.at_rest:
                return hub.live is not None
            for event in events:
                hub.publish(event)
            hub.rest(sync)
            return True

    def detach(self, session_id: uuid.UUID, subscription: Subscription) -> None:
        """Remove a reader; the turn goes on."""
        subscription.close()
        self._forget_unused(session_id)

    def _forget_unused(self, session_id: uuid.UUID) -> None:
        hub = self.hubs.get(session_id)
        if hub is not None and hub.is_unused:
            del self.hubs[session_id]

    async def wait_until_idle(self, session_id: uuid.UUID, *, seconds: float) -> bool:
        """Wait until no turn of the session runs here, at most `seconds`; return whether that is so."""
        running = self.running.get(session_id)
        if running is None or running.task is None:
            return True
        done, _ = await asyncio.wait([running.task], timeout=seconds)
        return bool(done)

    async def drain(self, seconds: float) -> None:
        """Take no new turns and let the running ones end for `seconds`; others take over the rest."""
        self._is_draining = True
        tasks = [running.task for running in self.running.values() if running.task is not None]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=0.5)
        if self._shown_task is not None:
            self._shown_task.cancel()
        await self._connection.close()

    def resume(self, session_id: uuid.UUID, key: TurnKey, *, last_number: int) -> None:
        """Go on with a turn that this runner has just claimed: it waited, or its runner was lost.

        `last_number` is the session's newest message's: where nobody has looked yet, what readers see when
        the turn is over would else seem to lack all that came before.
        """
        hub = self._hub(session_id)
        if hub.at_rest is None:
            hub.last_number = max(hub.last_number, last_number)
        self._run(session_id, key, is_resumed=True)

    async def _open(self, open_turn: Callable[..., OpenedTurn], **arguments: Any) -> Submission:
        self._refuse_while_draining()
        kept: tuple[str, ...] = ()
        async with self._opening(arguments["session_id"]):
            opened = await in_database(open_turn, owner=self.owner, rate_limit=rate_limit(), **arguments)
            if opened.is_new:
                kept = await in_database(kept_writes, opened.withdrawn) if opened.withdrawn else ()
                self._show_opening(opened, kept)
                key = TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence)
                self._run(opened.session_id, key, is_resumed=False)
        if opened.is_new:
            await self.doorbell.ring(opened.session_id)
        return Submission(
            session_id=opened.session_id,
            turn_id=opened.turn.id,
            message_id=opened.message.client_id or "",
            number=opened.message.number,
            kept=kept,
        )

    @asynccontextmanager
    async def _opening(self, session_id: uuid.UUID) -> AsyncIterator[None]:
        """Keep others from finding a turn of this process before it runs here.

        A look would tell its beginning a second time, and the take-over would think it lost.
        """
        self.openings += 1
        try:
            async with self._hub(session_id).looking:
                yield
        finally:
            self.openings -= 1
            self._forget_unused(session_id)

    def _show_opening(self, opened: OpenedTurn, kept: tuple[str, ...]) -> None:
        hub = self._hub(opened.session_id)
        for superseded in opened.superseded:
            hub.publish(_answered(superseded))
        if opened.withdrawn:
            withdrawn = tuple(str(turn_id) for turn_id in opened.withdrawn)
            hub.publish(HistoryChanged(withdrawn=withdrawn, kept=kept))
        hub.last_number = max(hub.last_number, opened.message.number)
        if not opened.message.metadata.get("is_hidden"):
            hub.publish(
                MessageStored(
                    id=opened.message.client_id or "",
                    number=opened.message.number,
                    text=opened.message.content,
                    turn_id=str(opened.turn.id),
                )
            )

    def _follow_up(self, session_id: uuid.UUID, ended: EndedCall) -> None:
        """Show how a pending call ended, then what comes next: another one, the model, or the end."""
        hub = self._hub(session_id)
        call = ended.call
        hub.publish(_answered(call))
        if ended.resumed is not None:
            self.resume(session_id, ended.resumed, last_number=ended.last_number)
        elif ended.next_pending is not None:
            following = ended.next_pending
            pending = CallPending(
                tool_use_id=following.tool_use_id, name=following.name, input=following.input
            )
            hub.publish(pending)
            if hub.at_rest is not None:
                hub.rest(replace(hub.at_rest, pending=(pending,)))
        else:
            turn = ended.turn
            self._end(
                session_id,
                hub,
                turns.turn_done(turn.id, status=turn.status, stop_reason=turn.stop_reason, text=""),
            )

    def _run(self, session_id: uuid.UUID, key: TurnKey, *, is_resumed: bool) -> None:
        hub = self._hub(session_id)
        hub.live = LiveTurn(str(key.turn_id))
        running = RunningTurn(key=key, hub=hub, live=hub.live)
        self.running[session_id] = running
        if not is_resumed:
            hub.publish(TurnStarted(turn_id=str(key.turn_id)))
        answering = self._answer(session_id, running, is_resumed=is_resumed)
        running.task = asyncio.create_task(answering, name=f"turn {key.turn_id}")
        if self._shown_task is None or self._shown_task.done():
            self._shown_task = asyncio.create_task(self._store_shown(), name="store shown text")

    async def _answer(self, session_id: uuid.UUID, running: RunningTurn, *, is_resumed: bool) -> None:
        hub = running.hub
        turn_id = str(running.key.turn_id)
        done: TurnDone | None = None

        def on_setup(setup: TurnSetup) -> None:
            if is_resumed:
                running.live.begin_with(setup.rounds)
                hub.publish(running.live.sync(hub.last_number))
            if setup.is_stop_requested:
                running.stop.request()

        try:
            with structlog.contextvars.bound_contextvars(session_id=str(session_id), turn_id=turn_id):
                client = await self._connection.client()
                done = await turns.answer(
                    running.key, client=client, publish=hub.publish, stop=running.stop, on_setup=on_setup
                )
        except StaleRunnerError:
            logger.warning("runner_is_stale", turn_id=turn_id)
        except (DatabaseError, OSError):
            logger.exception("turn_not_closed", turn_id=turn_id)
            hub.publish(ErrorShown(message=turns.UNEXPECTED))
            done = turns.lost(turn_id)
        finally:
            if self.running.get(session_id) is running:
                del self.running[session_id]
            if done is None:
                self._let_go(session_id, hub)
            else:
                self._end(session_id, hub, done)
        if done is None:
            await self._look_after(session_id)
        await self.doorbell.ring(session_id)

    def _let_go(self, session_id: uuid.UUID, hub: SessionHub) -> None:
        """Leave a turn that goes on elsewhere: its readers are not told that it ended, since it didn't."""
        hub.rest(hub.snapshot())
        hub.turns_ended += 1
        self._forget_unused(session_id)

    async def _look_after(self, session_id: uuid.UUID) -> None:
        try:
            if session_id in self.hubs:
                await self.look(session_id)
        except (DatabaseError, Session.DoesNotExist) as error:
            logger.warning("turn_not_followed", session_id=str(session_id), error=type(error).__name__)

    def _end(self, session_id: uuid.UUID, hub: SessionHub, done: TurnDone) -> None:
        snapshot = Sync(status="idle", running={}, last_number=hub.last_number)
        if done.status == TurnStatus.AWAITING_USER and hub.live is not None:
            snapshot = hub.live.sync(hub.last_number)
        hub.publish(done)
        hub.rest(snapshot)
        hub.turns_ended += 1
        self._forget_unused(session_id)

    async def _store_shown(self) -> None:
        """Store what running rounds have shown, of all turns in one statement, while any turn runs."""
        while self.running:
            await asyncio.sleep(SHOWN_INTERVAL_SECONDS)
            dirty = [running for running in self.running.values() if running.live.is_dirty]
            stored: Collection[uuid.UUID] = ()
            try:
                if dirty:
                    shown = [(running.key, running.live.shown_json()) for running in dirty]
                    stored = await in_database(turn_records.store_shown, shown)
            except DatabaseError:
                logger.warning("shown_text_not_stored", turns=len(dirty))
            for running in dirty:
                if running.key.turn_id not in stored:
                    running.live.is_dirty = True

    def _hub(self, session_id: uuid.UUID) -> SessionHub:
        return self.hubs.setdefault(session_id, SessionHub())

    def _refuse_while_draining(self) -> None:
        if self._is_draining:
            raise Refused(RESTARTING)


def _answered(call: ToolCallRecord) -> CallAnswered:
    return CallAnswered(
        turn_id=str(call.turn_id), tool_use_id=call.tool_use_id, state=call.state, value=call.value
    )


def rate_limit() -> RateLimit:
    """Return how much each user may ask for."""
    limit = settings.SAGE_RATE_LIMIT
    return RateLimit(turns=limit.turns, seconds=limit.seconds, daily_tokens=settings.SAGE_DAILY_TOKENS)


def _ask_to_stop(*, user_id: int, session_id: uuid.UUID) -> bool:
    session = selectors.accessible_session(user_id=user_id, session_id=session_id)
    return bool(session.turns.filter(status=TurnStatus.RUNNING).update(is_stop_requested=True))


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
