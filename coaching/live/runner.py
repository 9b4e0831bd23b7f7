"""Runs the turns of this process: every user action on a turn is here.

There is one `Runner` per process. A turn belongs to the runner, not to a socket, so it outlives the socket.
This module knows no frame and no HTML. Leases and turns of other processes are in `take_over`.

Over 300 lines, because all actions of a user share the turns that run.
"""

import asyncio
import uuid
from dataclasses import replace
from functools import cache, partial
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from coaching.engine.errors import StaleRunnerError
from coaching.engine.metrics import TURNS
from coaching.engine.spans import span
from coaching.events import ErrorShown, TurnDone
from coaching.live.follow_ups import FollowUps
from coaching.live.openings import WAIT_SECONDS, Openings
from coaching.live.readers import Readers, publish_lost_end
from coaching.live.running import RunningTurn, apply_setup, store_shown
from coaching.live.second_looks import SecondLooks
from coaching.model_client.connection import ModelConnection
from coaching.people.danger_scans import is_long, scan_before_opening
from coaching.people.help_lines import count_card
from coaching.people.languages import in_model_language
from coaching.people.turn_starts import turn_starts
from coaching.safety.card import kept_danger
from coaching.safety.danger import read_words
from coaching.supervision import supervisor
from coaching.turns import answering, answers
from coaching.turns.request import TurnRequest
from coaching.turns.setup import TurnSetup
from coaching.turns.start import StartedTurn, start_turn
from coaching.turns.words import FAILURES
from sessions_app import alternatives, leases, pending_calls, selectors, session_services
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.limits import RateLimit
from sessions_app.models import TurnStatus
from sessions_app.opened_turns import OpenedTurn
from sessions_app.pending_calls import EndedCall
from sessions_app.turn_locks import TurnKey

logger = structlog.get_logger(__name__)

RESTARTING = _("Sage is restarting. Please send that again in a few seconds.")


class RestartingError(Refused):
    """This process takes nothing on any more; another one would, or it itself in a few seconds."""


class Runner:
    """Runs the turns of this process. Its methods belong to one event loop."""

    def __init__(self, *, opening_seconds: float = WAIT_SECONDS) -> None:
        self.owner = leases.new_owner()
        self.readers = Readers()
        self.running: dict[uuid.UUID, RunningTurn] = {}
        self.follow_ups = FollowUps()
        self._connection = ModelConnection()
        self._openings = Openings(wait_seconds=opening_seconds)
        self._withdrawn: set[asyncio.Task[None]] = set()
        self.second_looks = SecondLooks(self._connection)
        self._shown_task: asyncio.Task[None] | None = None
        self._is_draining = False

    async def warm(self) -> None:
        """Load the danger rules and open the model's client, so that the first turn doesn't wait for them."""
        self.listen()
        self.second_looks.work_in(asyncio.get_running_loop())
        await asyncio.to_thread(read_words)
        await self._connection.client()

    def listen(self) -> None:
        """Show readers of this process, and notify other processes of, what is committed in this one."""
        self.readers.work_in(asyncio.get_running_loop())

    async def open_turn(self, request: TurnRequest) -> StartedTurn:
        """Open the requested turn and start answering it; return as soon as it is committed.

        A client id that was sent before opens no second turn. Raises `Refused`, `Session.DoesNotExist`, and
        what the request's `access` raises.
        """
        self._refuse_while_draining()
        metadata = await _scan(request) if is_long(request.text) else None
        one = self._openings.one(user_id=request.user_id, session_id=request.session_id)
        async with one, turn_starts().slot(is_of_program=bool(request.program)):
            self._refuse_while_draining()  # it may have begun meanwhile
            return await self._open_turn(request, metadata)

    async def _open_turn(self, request: TurnRequest, metadata: dict[str, Any] | None) -> StartedTurn:
        with self.readers.opening():
            started = await in_database(
                start_turn, request, owner=self.owner, rate_limit=rate_limit(), metadata=metadata
            )
            opened = started.opened
            if opened.is_new:
                self._stop_withdrawn(opened)
                await self.readers.settle(opened.session_id, ends_live=True)
                key = TurnKey(turn_id=opened.turn.id, fence=opened.turn.fence)
                self._run(opened.session_id, key, is_resumed=False, setup=started.setup)
                self.second_looks.cancel(opened.withdrawn)
                turn = self.running[opened.session_id].task
                self.second_looks.begin(opened.turn.id, started.look_subject, turn=turn)
        return started

    async def answer_call(
        self, *, user_id: int, session_id: uuid.UUID, tool_use_id: object, value: object
    ) -> EndedCall:
        """Answer a pending call; after the last one its turn resumes here. Raises `Refused`."""
        self._refuse_while_draining()
        build_answer = answers.builder_for(user_id=user_id, value=value)
        async with turn_starts().slot():
            self._refuse_while_draining()
            with self.readers.opening():
                ended = await in_database(
                    pending_calls.answer_call,
                    user_id=user_id,
                    session_id=session_id,
                    tool_use_id=tool_use_id,
                    owner=self.owner,
                    rate_limit=rate_limit(),
                    build_answer=build_answer,
                )
                await self._go_on(session_id, ended)
        if danger := kept_danger(ended.call.metadata):
            await in_database(count_card, danger.level, now=timezone.now())
        running = self.running.get(session_id)
        self.second_looks.begin_answer(ended.call.pk, turn=running.task if running else None)
        return ended

    async def choose_answer(self, *, user_id: int, session_id: uuid.UUID, turn_id: object) -> None:
        """Choose among the answers to a session's last message. Raises `Refused`, `Session.DoesNotExist`."""
        await in_database(alternatives.choose_answer, user_id=user_id, session_id=session_id, turn_id=turn_id)
        await self.readers.settle(session_id)
        self.follow_ups.add(session_id)

    async def dismiss_call(self, *, user_id: int, session_id: uuid.UUID, tool_use_id: object) -> uuid.UUID:
        """End a pending call without an answer. Returns its turn's id. Raises `Refused`."""
        self._refuse_while_draining()
        with self.readers.opening():
            ended = await in_database(
                pending_calls.dismiss_call,
                user_id=user_id,
                session_id=session_id,
                tool_use_id=tool_use_id,
                owner=self.owner,
                rate_limit=rate_limit(),
            )
            await self._go_on(session_id, ended)
        return ended.turn.id

    async def stop(self, *, user_id: int, session_id: uuid.UUID) -> bool:
        """Stop the session's running turn, in whichever process it runs; return whether there was one."""
        running = self.running.get(session_id)
        if running is None:
            asked = await in_database(_ask_to_stop, user_id=user_id, session_id=session_id)
            self.readers.notifier.announce(session_id)
            return asked
        await in_database(selectors.accessible_session, user_id=user_id, session_id=session_id)
        running.stop.request()
        return True

    async def end_session(self, *, user_id: int, session_id: uuid.UUID) -> None:
        """End a session without completing it, for its user; a running turn stops first.

        Raises `Refused` where it has ended already.
        """
        await in_database(session_services.abandon_session, user_id=user_id, session_id=session_id)
        if (running := self.running.get(session_id)) is not None:
            running.stop.request()
        await self.readers.settle(session_id)

    async def wait_until_idle(self, session_id: uuid.UUID, *, seconds: float) -> bool:
        """Wait until no turn of the session runs here, at most `seconds`; return whether that is so."""
        running = self.running.get(session_id)
        if running is None or running.task is None:
            return True
        done, _ = await asyncio.wait([running.task], timeout=seconds)
        return bool(done)

    async def drain(self, seconds: float) -> None:
        """Refuse new turns and wait `seconds` for the running ones; other processes take over the rest."""
        self._is_draining = True
        tasks = [running.task for running in self.running.values() if running.task is not None]
        tasks += self._withdrawn
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=0.5)
        if self._shown_task is not None:
            self._shown_task.cancel()
        await self.follow_ups.finish()
        await self.second_looks.close()
        await self._connection.close()

    def resume(self, session_id: uuid.UUID, key: TurnKey) -> None:
        """Resume a turn that this runner has just claimed: it waited for the user, or its runner was lost."""
        self._run(session_id, key, is_resumed=True)

    async def _go_on(self, session_id: uuid.UUID, ended: EndedCall) -> None:
        """Resume the turn of a pending call that has ended, where it was the last one."""
        await self.readers.settle(session_id, ends_live=True)
        if ended.resumed is not None:
            self.resume(session_id, ended.resumed)
        elif ended.is_over:
            self.follow_ups.add(session_id)

    def _stop_withdrawn(self, opened: OpenedTurn) -> None:
        """Stop the turn that the opened one has withdrawn, if it runs here; it still stores what it cost."""
        running = self.running.get(opened.session_id)
        if running is None or running.task is None or running.key.turn_id not in opened.withdrawn:
            return
        del self.running[opened.session_id]
        self._withdrawn.add(running.task)
        running.task.add_done_callback(self._withdrawn.discard)
        running.stop.request()

    def _run(
        self, session_id: uuid.UUID, key: TurnKey, *, is_resumed: bool, setup: TurnSetup | None = None
    ) -> None:
        hub = self.readers.hub(session_id)
        running = RunningTurn(key=key, live=hub.begin(str(key.turn_id)))
        replaced = self.running.get(session_id)
        if replaced is not None and replaced.task is not None:
            replaced.task.cancel()  # its turn, or its part of this turn, is over in the database
        self.running[session_id] = running
        answering = self._answer(session_id, running, is_resumed=is_resumed, setup=setup)
        running.task = asyncio.create_task(answering, name=f"turn {key.turn_id}")
        if self._shown_task is None or self._shown_task.done():
            storing = partial(store_shown, self.running)
            self._shown_task = supervisor.keep("store_shown", storing, is_endless=False)

    async def _answer(
        self, session_id: uuid.UUID, running: RunningTurn, *, is_resumed: bool, setup: TurnSetup | None
    ) -> None:
        hub = running.live.hub
        turn_id = str(running.key.turn_id)
        done: TurnDone | None = None
        is_lost = False
        try:
            ids = {"session_id": str(session_id), "turn_id": turn_id}
            # The task began in the language of whoever caused it, which the model's texts mustn't be in.
            with structlog.contextvars.bound_contextvars(**ids), span("turn", **ids), in_model_language():
                done = await self._run_part(running, is_resumed=is_resumed, setup=setup)
        except StaleRunnerError:
            logger.warning("runner_is_stale", turn_id=turn_id)
        except (DatabaseError, OSError):
            logger.exception("turn_not_closed", turn_id=turn_id)
            running.live.publish(ErrorShown(message=FAILURES["internal"]))
            is_lost = True
        finally:
            if done is not None or is_lost:
                self._record_end(session_id, done)
            if self.running.get(session_id) is running:
                del self.running[session_id]
            is_untold = running.live.is_shown  # else readers were told its end when that was committed
            if is_untold:
                if is_lost:
                    publish_lost_end(hub, turn_id)
                else:
                    hub.drop_live()
            self.readers.forget_unused(session_id)
        await self.readers.settle(session_id, is_unsure=is_untold and not is_lost)

    async def _run_part(self, running: RunningTurn, *, is_resumed: bool, setup: TurnSetup | None) -> TurnDone:
        began = asyncio.get_running_loop().time()
        client = await self._connection.client()
        if setup is not None:  # the first turn of a process may have waited for the client
            setup = setup.after(asyncio.get_running_loop().time() - began)
        return await answering.answer(
            running.key,
            client=client,
            publish=running.live.publish,
            stop=running.stop,
            setup=setup,
            on_setup=partial(apply_setup, running, is_resumed=is_resumed),
        )

    def _record_end(self, session_id: uuid.UUID, done: TurnDone | None) -> None:
        """Count how a part ended, and queue what follows a turn; `done` is None where it is lost."""
        TURNS.labels(done.status if done else "lost").inc()
        if done is not None and done.status != TurnStatus.AWAITING_USER:
            self.follow_ups.add(session_id)

    def _refuse_while_draining(self) -> None:
        if self._is_draining:
            raise RestartingError(RESTARTING)


def rate_limit() -> RateLimit:
    """Return how much each user may ask for."""
    return replace(settings.SAGE_RATE_LIMIT, daily_tokens=settings.SAGE_DAILY_TOKENS)


async def _scan(request: TurnRequest) -> dict[str, Any]:
    """Look for danger in a long text; return the metadata to keep. Raises what opening would."""
    return await scan_before_opening(
        user_id=request.user_id,
        session_id=request.session_id,
        text=request.text,
        client_id=request.client_id,
        rate_limit=rate_limit(),
        access=request.access,
    )


def _ask_to_stop(*, user_id: int, session_id: uuid.UUID) -> bool:
    session = selectors.accessible_session(user_id=user_id, session_id=session_id)
    return bool(session.turns.filter(status=TurnStatus.RUNNING).update(is_stop_requested=True))


@cache
def get_runner() -> Runner:
    """Return this process's runner, made on first use: importing this module starts nothing."""
    return Runner()
