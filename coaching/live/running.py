"""The turns that run in this process, and the storing of what they have shown so far."""

import asyncio
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import structlog
from django.db import DatabaseError

from coaching.engine.budget import StopSignal
from coaching.live.hub import LiveTurn
from coaching.turns.setup import TurnSetup
from sessions_app import turn_records
from sessions_app.database import in_database
from sessions_app.turn_locks import TurnKey

logger = structlog.get_logger(__name__)

SHOWN_INTERVAL_SECONDS = 0.25


@dataclass(slots=True, kw_only=True)
class RunningTurn:
    """A turn that runs in this process."""

    key: TurnKey
    live: LiveTurn
    stop: StopSignal = field(default_factory=StopSignal)
    task: asyncio.Task[None] | None = None


def apply_setup(running: RunningTurn, setup: TurnSetup, *, is_resumed: bool) -> None:
    """Show readers a resumed turn's earlier rounds; stop a turn whose stop was requested before."""
    if is_resumed:
        running.live.begin_with(setup.rounds)
        running.live.publish(running.live.sync(running.live.hub.last_number))
    if setup.is_stop_requested:
        running.stop.request()


async def store_shown(turns: Mapping[uuid.UUID, RunningTurn]) -> None:
    """Store what the running rounds of all turns have shown, in one statement, while any turn runs."""
    while turns:
        await asyncio.sleep(SHOWN_INTERVAL_SECONDS)
        dirty = [running for running in turns.values() if running.live.is_dirty]
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
