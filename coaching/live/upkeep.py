"""The supervised loops of a process: its heartbeat, the take-over of lost turns, and news of other processes.

`_follow` brings this process's readers what others changed: several times a second where there are other web
processes, every few seconds where only a worker or an operator may have changed something.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

import structlog
from django.db import DatabaseError

from coaching.live.following import read_positions
from coaching.live.readers import Readers
from coaching.live.runner import Runner
from coaching.live.take_over import (
    TAKE_OVER_SECONDS,
    TakeOver,
    claim_lost_turn,
    end_open_transactions,
    outages_logged,
    read_leases,
    stop_on_request,
    store_beat,
)
from coaching.people.socket_access import open_sockets
from coaching.supervision import Items, supervisor
from sessions_app import leases
from sessions_app.database import close_heartbeat_connection, in_database
from sessions_app.leases import BEAT_SECONDS, LEASE_SECONDS, LeaseWatch
from sessions_app.models import Session

logger = structlog.get_logger(__name__)

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
    tasks = [
        supervisor.keep("warm", runner.warm, is_endless=False),
        supervisor.keep("heartbeat", partial(_beat, take_over.beat)),
        supervisor.keep("take_over", take_over.run),
        supervisor.keep("follow", partial(_follow, runner, take_over, Items("follow"))),
        supervisor.keep("watch_sockets", open_sockets.watch),
        supervisor.keep("lost_looks", runner.second_looks.take_lost),
    ]
    if can_notify:
        tasks.append(supervisor.keep("notifications", runner.readers.notifier.listen))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _end(runner)


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
    beating = supervisor.keep("heartbeat", partial(_beat, partial(store_beat, runner)))
    try:
        lost = await _lost_leases(runner)
        await end_open_transactions({lease.owner for lease in lost})
        claimed = [await claim_lost_turn(runner, lease, waits=True) for lease in lost]
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
        beats, held = await in_database(read_leases)
        others = {lease.owner for lease in held if lease.owner != runner.owner}
        dead = watch.observe(beats, others, now=now())
        lost = [lease for lease in held if lease.owner in dead]
        if len(lost) == len(held) or now() >= ends:
            return lost
        await asyncio.sleep(TAKE_OVER_SECONDS)


async def _beat(store: Callable[[], Awaitable[None]]) -> None:
    now = asyncio.get_running_loop().time
    due = now()
    while True:
        with outages_logged():
            await store()
        if (late := now() - due) > LATE_BEAT_SECONDS:
            logger.warning("late_heartbeat", seconds=round(late, 1))
        due = now() + BEAT_SECONDS
        await asyncio.sleep(BEAT_SECONDS)


async def _follow(runner: Runner, take_over: TakeOver, sessions: Items) -> None:
    while True:
        with outages_logged():
            await stop_on_request(runner)
            await _show_changes(runner.readers, sessions)
        is_soon = take_over.has_others
        await runner.readers.notifier.wait(FOLLOW_SECONDS if is_soon else FOLLOW_ALONE_SECONDS)


async def _show_changes(readers: Readers, sessions: Items) -> None:
    """Catch up the readers of sessions that are further than what they have been shown."""
    read = [session_id for session_id, hub in readers.hubs.items() if hub.subscriptions]
    positions = await in_database(read_positions, read) if read else {}
    for session_id, position in positions.items():
        if readers.is_at(session_id, position) or not sessions.is_due(session_id):
            continue
        anew = partial(readers.tell_anew, session_id)
        apart = sessions.apart(session_id, on_failure=anew, session_id=str(session_id))
        with apart, suppress(Session.DoesNotExist):
            await readers.catch_up(session_id)
