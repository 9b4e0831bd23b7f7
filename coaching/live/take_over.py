"""Takes over turns whose process died or is frozen, and ends those that another process has taken over."""

import asyncio
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

import structlog
from django.db.models import Q

from coaching.live.runner import Runner
from coaching.supervision import Items
from sessions_app import leases
from sessions_app.database import OUTAGES, in_database, in_database_heartbeat
from sessions_app.leases import LeaseWatch
from sessions_app.models import Session, Turn, TurnStatus
from sessions_app.turn_locks import TurnKey

logger = structlog.get_logger(__name__)

TAKE_OVER_SECONDS = 1.0
IDLE_SECONDS = 10.0
"""Between two checks while no turn runs and nobody else is there; a heartbeat may begin one sooner."""
FROZEN_SECONDS = 4.0
"""After so long, the next check ends transactions of frozen workers, too."""


class TakeOver:
    """Takes over the turns of dead processes, and drops those that another process has taken over.

    `has_others`: other processes run turns on this database, judging by their heartbeats. While nothing runs
    and nobody else is there, this process's heartbeat reads whether that is still so, in its own round trip.
    """

    def __init__(self, runner: Runner, *, is_alone: bool) -> None:
        self.has_others = not is_alone
        self._runner = runner
        self._is_alone = is_alone
        self._is_first_check = True
        self._watch = LeaseWatch()
        self._without_task: set[uuid.UUID] = set()
        self._replaced: set[TurnKey] = set()
        self._lost = Items("take_over")
        self._frozen_checked_at = 0.0
        self._is_idle = False
        self._needs_check = asyncio.Event()

    async def beat(self) -> None:
        """Store this process's heartbeat; while idle, begin a check if there is anything to check."""
        if not self._is_idle:
            await store_beat(self._runner)
            return
        needs_check = True
        try:
            needs_check = await in_database_heartbeat(leases.store_idle_beat, self._runner.owner)
        finally:
            if needs_check or self._runner.running:
                self._needs_check.set()

    async def run(self) -> None:
        """Check every second until cancelled; while idle, when a heartbeat finds something to check."""
        while True:
            self._is_idle = False
            with outages_logged():
                held = await self._check()
                self._is_idle = not (held or self.has_others or self._runner.running)
            if self._is_idle:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._needs_check.wait(), IDLE_SECONDS)
                self._needs_check.clear()
            else:
                await asyncio.sleep(TAKE_OVER_SECONDS)

    async def _check(self) -> Collection[leases.Lease]:
        """Check once; return the leases that were held."""
        beats, held = await in_database(read_leases)
        now = asyncio.get_running_loop().time()
        dead = self._dead_owners(beats, held, now=now)
        if dead:
            await end_open_transactions(dead)
        if now - self._frozen_checked_at >= FROZEN_SECONDS:
            self._frozen_checked_at = now
            await _end_half_sent()
        left_open = self._left_open(held)
        for lease in held:
            if lease.owner in dead or lease.key.turn_id in left_open:
                await self._claim(lease)
        self._cancel_replaced(held)
        if self._is_alone:  # else `_follow` does it, sooner
            await stop_on_request(self._runner)
        for owner in self._watch.forgotten(beats, now=now) - {self._runner.owner}:
            await in_database(leases.forget_process, owner)
        return held

    async def _claim(self, lease: leases.Lease) -> None:
        """Claim a lost turn; one that fails is tried again later, with its readers told anew."""
        if not self._lost.is_due(lease.key.turn_id):
            return
        anew = partial(self._runner.readers.tell_anew, lease.session_id)
        with self._lost.apart(lease.key.turn_id, on_failure=anew, turn_id=str(lease.key.turn_id)):
            await claim_lost_turn(self._runner, lease)

    def _dead_owners(
        self, beats: Mapping[str, int], held: Collection[leases.Lease], *, now: float
    ) -> set[str]:
        others = {*beats, *(lease.owner for lease in held)} - {self._runner.owner}
        silent = self._watch.observe(beats, others, now=now)
        self.has_others = bool(self._watch.living(now=now) - {self._runner.owner})
        is_first, self._is_first_check = self._is_first_check, False
        # Only at its start: later another process may have joined after all.
        return others if self._is_alone and is_first else silent

    def _left_open(self, held: Collection[leases.Lease]) -> set[uuid.UUID]:
        """Return this process's turns without a task, in two checks: an outage left them open.

        In one check alone a turn may be starting.
        """
        runner, before = self._runner, self._without_task
        self._without_task = {
            lease.key.turn_id
            for lease in held
            if lease.owner == runner.owner and lease.session_id not in runner.running
        }
        if runner.readers.openings:
            self._without_task = set()
        return self._without_task & before

    def _cancel_replaced(self, held: Collection[leases.Lease]) -> None:
        """Cancel the turns that run here though they weren't this process's in two checks.

        A process that was frozen and replaced would notice only at its next write, and a model may be silent
        for long. In one check alone a turn may be starting or ending.
        """
        ours = {lease.key for lease in held if lease.owner == self._runner.owner}
        before = self._replaced
        replaced = {turn.key: turn for turn in self._runner.running.values() if turn.key not in ours}
        for key in replaced.keys() & before:
            logger.warning("turn_runs_elsewhere", turn_id=str(key.turn_id))
            if (task := replaced[key].task) is not None:
                task.cancel()
        self._replaced = set(replaced)


async def store_beat(runner: Runner) -> None:
    """Store this process's heartbeat, whatever else uses the database."""
    await in_database_heartbeat(leases.store_beat, runner.owner)


def read_leases() -> tuple[dict[str, int], list[leases.Lease]]:
    """Return the beats of all processes, and all running turns. Sync ORM code."""
    held = list(leases.read_leases())  # before the beats: see `LeaseWatch.observe`
    return dict(leases.read_beats()), held


async def end_open_transactions(dead: Collection[str]) -> None:
    """End what dead processes left open in the database, before their turns are claimed.

    It would keep their turns from being taken over, and their sessions from everybody. A database may forbid
    it: then only these turns wait.
    """
    with outages_logged():
        for name in await in_database(leases.end_transactions, dead):
            logger.warning("transaction_of_dead_process_ended", process=name)


async def _end_half_sent() -> None:
    """End what frozen workers left open: they have no lease, and may hold a session's lock."""
    with outages_logged():
        for name in await in_database(leases.end_half_sent_transactions):
            logger.warning("transaction_of_frozen_process_ended", process=name)


async def claim_lost_turn(runner: Runner, lease: leases.Lease, *, waits: bool = False) -> bool:
    """Claim a lost turn and resume it here; return whether nobody was faster.

    Readers first see what its lost runner did.
    """
    if lease.session_id in runner.readers.hubs:
        with suppress(Session.DoesNotExist):
            await runner.readers.catch_up(lease.session_id)
    key = await in_database(leases.claim_turn, lease.key, owner=runner.owner, waits=waits)
    if key is None:
        return False
    logger.info("turn_taken_over", turn_id=str(key.turn_id), session_id=str(lease.session_id))
    runner.resume(lease.session_id, key)
    turn = runner.running[lease.session_id].task
    runner.second_looks.begin(key.turn_id, turn=turn)  # its own was lost with its runner
    return True


async def stop_on_request(runner: Runner) -> None:
    """Stop the turns of this process that another process was asked to stop, or has withdrawn."""
    keys = {running.key.turn_id: running for running in runner.running.values()}
    if keys:
        for turn_id in await in_database(_read_stop_requests, list(keys)):
            keys[turn_id].stop.request()


def _read_stop_requests(turn_ids: list[uuid.UUID]) -> list[uuid.UUID]:
    asked = Q(status=TurnStatus.RUNNING, is_stop_requested=True) | Q(is_withdrawn=True)
    return list(Turn.unscoped.filter(asked, id__in=turn_ids).values_list("id", flat=True))


@contextmanager
def outages_logged() -> Iterator[None]:
    """Log that the database can't be reached, or refuses something; the next check tries again."""
    try:
        yield
    except OUTAGES as error:
        logger.warning("upkeep_without_database", error=type(error).__name__)
