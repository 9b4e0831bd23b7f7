"""The background loops of a process: its heartbeat, the take-over of lost turns, and news of other processes.

`_follow` brings this process's readers what others changed: several times a second where there are other web
processes, every few seconds where only a worker or an operator may have changed something.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress

import structlog
from django.db import DatabaseError
from django.db.models import Q

from coaching.live.following import read_positions
from coaching.live.readers import Readers
from coaching.live.runner import Runner
from coaching.people.socket_access import open_sockets
from sessions_app import leases
from sessions_app.database import close_heartbeat_connection, in_database, in_database_heartbeat
from sessions_app.leases import BEAT_SECONDS, LEASE_SECONDS, LeaseWatch
from sessions_app.models import Session, Turn, TurnStatus
from sessions_app.turn_records import TurnKey

logger = structlog.get_logger(__name__)

TAKE_OVER_SECONDS = 1.0
IDLE_SECONDS = 2.0
"""Between two checks while no turn runs anywhere and no other web process is there."""
FROZEN_SECONDS = 4.0
"""After so long, the next check ends transactions of frozen workers, too."""
LATE_BEAT_SECONDS = 1.0
FOLLOW_SECONDS = 0.25
FOLLOW_ALONE_SECONDS = 2.0


@asynccontextmanager
async def kept_up(runner: Runner, *, is_alone: bool, can_notify: bool) -> AsyncIterator[None]:
    """Run a runner's background loops until the block ends.

    `is_alone`: no other web process uses this database now, so every turn that runs at the start belongs to a
    dead process and is taken over at once. `can_notify`: the processes can notify each other.
    """
    await in_database(leases.store_beat, runner.owner)
    take_over = TakeOver(runner, is_alone=is_alone)
    loops = [runner.warm(), _beat(runner), take_over.run(), _follow(runner, take_over), open_sockets.watch()]
    loops.append(runner.second_looks.take_lost())
    if can_notify:
        loops.append(runner.readers.notifier.listen())
    tasks = [asyncio.create_task(loop) for loop in loops]
    for task in tasks:
        task.add_done_callback(_log_failure)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _end(runner)


def _log_failure(task: "asyncio.Task[None]") -> None:
    """Log a loop that failed: turns of this process are no longer safe."""
    if not task.cancelled() and task.exception() is not None:
        logger.critical("upkeep_loop_failed", exc_info=task.exception())


async def _end(runner: Runner) -> None:
    """Delete this process's heartbeat, so that others take over at once what it still runs."""
    await close_heartbeat_connection()
    try:
        await in_database(leases.forget_process, runner.owner)
    except DatabaseError:
        logger.warning("heartbeat_not_deleted", owner=runner.owner)


async def resume_lost_turns(runner: Runner) -> int:
    """Take over the turns of dead processes once, wait until they have ended, and return how many there were.

    A process counts as dead if it has no heartbeat within `LEASE_SECONDS`.
    """
    await in_database(leases.store_beat, runner.owner)
    beating = asyncio.create_task(_beat(runner))
    try:
        lost = await _lost_leases(runner)
        await _end_transactions({lease.owner for lease in lost})
        claimed = [await _claim_turn(runner, lease, waits=True) for lease in lost]
        running = [turn.task for turn in runner.running.values() if turn.task is not None]
        if running:
            await asyncio.wait(running)
        return sum(claimed)
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        await runner.follow_ups.finish()
        await _end(runner)


async def _lost_leases(runner: Runner) -> list[leases.Lease]:
    """Watch the heartbeats for the length of a lease and return the leases that have expired by then."""
    watch = LeaseWatch()
    now = asyncio.get_running_loop().time
    ends = now() + LEASE_SECONDS + BEAT_SECONDS
    while True:
        beats, held = await in_database(_read_leases)
        others = {lease.owner for lease in held if lease.owner != runner.owner}
        dead = watch.observe(beats, others, now=now())
        lost = [lease for lease in held if lease.owner in dead]
        if len(lost) == len(held) or now() >= ends:
            return lost
        await asyncio.sleep(TAKE_OVER_SECONDS)


async def _beat(runner: Runner) -> None:
    now = asyncio.get_running_loop().time
    due = now()
    while True:
        with _outages_logged():
            await in_database_heartbeat(leases.store_beat, runner.owner)
        if (late := now() - due) > LATE_BEAT_SECONDS:
            logger.warning("late_heartbeat", seconds=round(late, 1))
        due = now() + BEAT_SECONDS
        await asyncio.sleep(BEAT_SECONDS)


class TakeOver:
    """Takes over the turns of dead processes, and drops those that another process has taken over.

    `has_others`: other processes run turns on this database, judging by their heartbeats.
    """

    def __init__(self, runner: Runner, *, is_alone: bool) -> None:
        self.has_others = not is_alone
        self._runner = runner
        self._is_alone = is_alone
        self._is_first_check = True
        self._watch = LeaseWatch()
        self._without_task: set[uuid.UUID] = set()
        self._replaced: set[TurnKey] = set()
        self._frozen_checked_at = 0.0

    async def run(self) -> None:
        """Check every second until cancelled, or every other second while nothing could be lost."""
        while True:
            is_idle = False
            with _outages_logged():
                held = await self._check()
                is_idle = not (held or self.has_others or self._runner.running)
            await asyncio.sleep(IDLE_SECONDS if is_idle else TAKE_OVER_SECONDS)

    async def _check(self) -> Collection[leases.Lease]:
        """Check once; return the leases that were held."""
        beats, held = await in_database(_read_leases)
        now = asyncio.get_running_loop().time()
        dead = self._dead_owners(beats, held, now=now)
        if dead:
            await _end_transactions(dead)
        if now - self._frozen_checked_at >= FROZEN_SECONDS:
            self._frozen_checked_at = now
            await _end_half_sent()
        left_open = self._left_open(held)
        for lease in held:
            if lease.owner in dead or lease.key.turn_id in left_open:
                await _claim_turn(self._runner, lease)
        self._cancel_replaced(held)
        if self._is_alone:  # else `_follow` does it, sooner
            await _stop_on_request(self._runner)
        for owner in self._watch.forgotten(beats, now=now) - {self._runner.owner}:
            await in_database(leases.forget_process, owner)
        return held

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


def _read_leases() -> tuple[dict[str, int], list[leases.Lease]]:
    held = list(leases.read_leases())  # before the beats: see `LeaseWatch.observe`
    return dict(leases.read_beats()), held


async def _end_transactions(dead: Collection[str]) -> None:
    """End what dead processes left open in the database, before their turns are claimed.

    It would keep their turns from being taken over, and their sessions from everybody. A database may forbid
    it: then only these turns wait.
    """
    with _outages_logged():
        for name in await in_database(leases.end_transactions, dead):
            logger.warning("transaction_of_dead_process_ended", process=name)


async def _end_half_sent() -> None:
    """End what frozen workers left open: they have no lease, and may hold a session's lock."""
    with _outages_logged():
        for name in await in_database(leases.end_half_sent_transactions):
            logger.warning("transaction_of_frozen_process_ended", process=name)


async def _claim_turn(runner: Runner, lease: leases.Lease, *, waits: bool = False) -> bool:
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


async def _follow(runner: Runner, take_over: TakeOver) -> None:
    while True:
        with _outages_logged():
            await _stop_on_request(runner)
            await _show_changes(runner.readers)
        is_soon = take_over.has_others
        await runner.readers.notifier.wait(FOLLOW_SECONDS if is_soon else FOLLOW_ALONE_SECONDS)


async def _show_changes(readers: Readers) -> None:
    """Catch up the readers of sessions that are further than what they have been shown."""
    read = [session_id for session_id, hub in readers.hubs.items() if hub.subscriptions]
    positions = await in_database(read_positions, read) if read else {}
    for session_id, position in positions.items():
        if not readers.is_at(session_id, position):
            with suppress(Session.DoesNotExist):
                await readers.catch_up(session_id)


async def _stop_on_request(runner: Runner) -> None:
    """Stop the turns of this process that another process was asked to stop, or has withdrawn."""
    keys = {running.key.turn_id: running for running in runner.running.values()}
    if keys:
        for turn_id in await in_database(_read_stop_requests, list(keys)):
            keys[turn_id].stop.request()


def _read_stop_requests(turn_ids: list[uuid.UUID]) -> list[uuid.UUID]:
    asked = Q(status=TurnStatus.RUNNING, is_stop_requested=True) | Q(is_withdrawn=True)
    return list(Turn.unscoped.filter(asked, id__in=turn_ids).values_list("id", flat=True))


@contextmanager
def _outages_logged() -> Iterator[None]:
    """Log that the database can't be reached, or refuses something; the next check tries again."""
    try:
        yield
    except DatabaseError as error:
        logger.warning("upkeep_without_database", error=type(error).__name__)
