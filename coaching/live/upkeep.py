"""What a process does beside its turns, so that none is ever lost: beats, takes over, looks elsewhere.

Loops around a runner. `beat` says that this process lives. `take_over` finds turns whose
process doesn't. `follow` shows this process's readers what other processes do: closely where there are
other web processes, now and then where only a worker or an operator may have changed something.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from django.db import DatabaseError

from coaching.live.following import Signature, read_signatures
from coaching.live.readers import tell_missed_end
from coaching.live.runner import Runner
from coaching.people.socket_access import open_sockets
from sessions_app import leases
from sessions_app.database import close_connection_beside, in_database, in_database_beside
from sessions_app.leases import BEAT_SECONDS, LEASE_SECONDS, LeaseWatch
from sessions_app.models import Session, Turn, TurnStatus
from sessions_app.turn_records import TurnKey

logger = structlog.get_logger(__name__)

TAKE_OVER_SECONDS = 1.0
LATE_BEAT_SECONDS = 1.0
FOLLOW_SECONDS = 0.25
FOLLOW_ALONE_SECONDS = 2.0


@dataclass(slots=True)
class Neighbours:
    """Whether other processes run turns on this database, as far as their beats have shown."""

    are_there: bool


@asynccontextmanager
async def kept_up(runner: Runner, *, is_alone: bool, has_doorbell: bool) -> AsyncIterator[None]:
    """Keep a runner up while the block runs. `is_alone`: no other web process uses this database now.

    Alone, whatever runs at the start was left by a process that is dead, and is taken over at once.
    `has_doorbell`: the processes can tell each other what they changed.
    """
    await in_database(leases.store_beat, runner.owner)
    neighbours = Neighbours(are_there=not is_alone)
    loops = [
        runner.warm(),
        _beat(runner),
        _take_over(runner, neighbours, is_alone=is_alone),
        _follow(runner, neighbours),
        open_sockets.watch(),
    ]
    if has_doorbell:
        loops.append(runner.doorbell.listen())
    tasks = [asyncio.create_task(loop) for loop in loops]
    for task in tasks:
        task.add_done_callback(_tell_end)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _leave(runner)


def _tell_end(task: "asyncio.Task[None]") -> None:
    """Tell operators of a loop that ended by a fault: turns of this process are no longer safe."""
    if not task.cancelled() and task.exception() is not None:
        logger.critical("upkeep_ended", exc_info=task.exception())


async def _leave(runner: Runner) -> None:
    """Say good-bye: what still runs is free for others at once."""
    await close_connection_beside()
    try:
        await in_database(leases.forget_process, runner.owner)
    except DatabaseError:
        logger.warning("runner_left_silently", owner=runner.owner)


async def resume_lost_turns(runner: Runner) -> int:
    """Take over, once, the turns whose process is dead, and wait until they have ended; return how many.

    Other processes may live: theirs is what beats within the `LEASE_SECONDS` for which this watches them.
    """
    await in_database(leases.store_beat, runner.owner)
    beating = asyncio.create_task(_beat(runner))
    try:
        lost = await _lost_leases(runner)
        claimed = [await _claim(runner, lease) for lease in lost]
        running = [turn.task for turn in runner.running.values() if turn.task is not None]
        if running:
            await asyncio.wait(running)
        return sum(claimed)
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        await _leave(runner)


async def _lost_leases(runner: Runner) -> list[leases.Lease]:
    """Watch all beats for as long as a lease lasts and return the leases that are dead by then."""
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
        await _through_outages(lambda: in_database_beside(leases.store_beat, runner.owner))
        if (late := now() - due) > LATE_BEAT_SECONDS:
            logger.warning("late_heartbeat", seconds=round(late, 1))
        due = now() + BEAT_SECONDS
        await asyncio.sleep(BEAT_SECONDS)


async def _take_over(runner: Runner, neighbours: Neighbours, *, is_alone: bool) -> None:
    watch = LeaseWatch()
    missed: set[uuid.UUID] = set()
    replaced: set[TurnKey] = set()
    is_first_look = True

    async def look() -> None:
        nonlocal missed, replaced, is_first_look
        beats, held = await in_database(_read_leases)
        others = {lease.owner for lease in held if lease.owner != runner.owner}
        now = asyncio.get_running_loop().time()
        silent = watch.observe(beats, others, now=now)
        # Alone, all that runs at the start was left by the dead. Later somebody may have come after all.
        dead = others if is_alone and is_first_look else silent
        is_first_look = False
        neighbours.are_there = bool(watch.living(now=now) - {runner.owner})
        # A turn of our own that no task runs was left open by an outage. Two looks: one may be starting.
        own = {
            lease.key.turn_id
            for lease in held
            if lease.owner == runner.owner and lease.session_id not in runner.running
        }
        if runner.readers.openings:
            own = set()
        for lease in held:
            if lease.owner in dead or lease.key.turn_id in own & missed:
                await _claim(runner, lease)
        missed = own
        replaced = _let_go_of_replaced(runner, held, before=replaced)
        if is_alone:  # else `follow` does it, sooner
            await _stop_where_asked(runner)
        for owner in watch.forgotten(beats, now=now) - {runner.owner}:
            await in_database(leases.forget_process, owner)

    while True:
        await _through_outages(look)
        await asyncio.sleep(TAKE_OVER_SECONDS)


def _let_go_of_replaced(
    runner: Runner, held: Collection[leases.Lease], *, before: Collection[TurnKey]
) -> set[TurnKey]:
    """Leave the turns that run here and, in two looks (`before`), aren't this process's any more; return all.

    Whoever froze and was replaced would only hear of it with its next write, and a model may be silent for
    long. Two looks: one may be beginning, or coming to its end.
    """
    ours = {lease.key for lease in held if lease.owner == runner.owner}
    replaced = {running.key: running for running in runner.running.values() if running.key not in ours}
    for key in replaced.keys() & before:
        logger.warning("runner_is_replaced", turn_id=str(key.turn_id))
        if (task := replaced[key].task) is not None:
            task.cancel()
    return set(replaced)


def _read_leases() -> tuple[dict[str, int], list[leases.Lease]]:
    held = list(leases.read_leases())  # before the beats: see `LeaseWatch.observe`
    return dict(leases.read_beats()), held


async def _claim(runner: Runner, lease: leases.Lease) -> bool:
    hub = runner.readers.hubs.get(lease.session_id)
    if hub is not None:  # its readers hear first what its lost runner did, and how an older turn ended
        if hub.live is not None and hub.live.turn_id != str(lease.key.turn_id):
            await tell_missed_end(hub)
        await _looked(runner, lease.session_id)
    key = await in_database(leases.claim_turn, lease.key, owner=runner.owner)
    if key is None:
        return False
    logger.info("turn_taken_over", turn_id=str(key.turn_id), session_id=str(lease.session_id))
    runner.resume(lease.session_id, key, last_number=lease.last_number)
    return True


async def _follow(runner: Runner, neighbours: Neighbours) -> None:
    shown: dict[uuid.UUID, Signature] = {}

    async def look() -> None:
        await _stop_where_asked(runner)
        elsewhere = [
            session_id
            for session_id, hub in runner.readers.hubs.items()
            if hub.subscriptions and not hub.live
        ]
        for session_id in set(shown) - set(elsewhere):
            del shown[session_id]
        signatures = await in_database(read_signatures, elsewhere) if elsewhere else {}
        for session_id, signature in signatures.items():
            if shown.get(session_id) != signature and await _looked(runner, session_id):
                shown[session_id] = signature

    while True:
        await _through_outages(look)
        await runner.doorbell.wait(FOLLOW_SECONDS if neighbours.are_there else FOLLOW_ALONE_SECONDS)


async def _looked(runner: Runner, session_id: uuid.UUID) -> bool:
    try:
        return await runner.readers.look(session_id)
    except Session.DoesNotExist:
        return False


async def _stop_where_asked(runner: Runner) -> None:
    """Stop the turns of this process that another process was asked to stop."""
    keys = {running.key.turn_id: running for running in runner.running.values()}
    if keys:
        for turn_id in await in_database(_stops_asked_for, list(keys)):
            keys[turn_id].stop.request()


def _stops_asked_for(turn_ids: list[uuid.UUID]) -> list[uuid.UUID]:
    asked = Turn.unscoped.filter(id__in=turn_ids, status=TurnStatus.RUNNING, is_stop_requested=True)
    return list(asked.values_list("id", flat=True))


async def _through_outages(look: Callable[[], Coroutine[None, None, object]]) -> None:
    """Run one look; without the database there is nothing to see until the next one."""
    try:
        await look()
    except DatabaseError as error:
        logger.warning("upkeep_without_database", error=type(error).__name__)
