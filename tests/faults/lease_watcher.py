"""I4, checked during a run: no turn runs without a living process for long."""

import asyncio
from typing import Self
from uuid import UUID

from sessions_app.database import in_database
from sessions_app.models import Turn, TurnStatus
from tests.faults.cluster import Cluster

LEASE_LIMIT_SECONDS = 10.0


class LeaseWatcher:
    """Detects turns without a living process for too long while another could take them over.

    `worst_seconds` is the longest such time.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.violations: list[str] = []
        self.worst_seconds = 0.0
        self._cluster = cluster
        self._orphaned_since: dict[UUID, float] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._watch(), name="lease watcher")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            running = await in_database(_running_owners)
            living = {str(self._cluster.process(index).popen.pid) for index in self._cluster.up()}
            now = loop.time()
            orphans = {
                turn
                for turn, owner in running.items()
                if owner.split(":")[1:2] != [] and owner.split(":")[1] not in living
            }
            for turn_id in set(self._orphaned_since) - orphans:
                del self._orphaned_since[turn_id]
            for turn_id in orphans:
                since = self._orphaned_since.setdefault(turn_id, now)
                self.worst_seconds = max(self.worst_seconds, now - since)
                if not living:
                    self._orphaned_since[turn_id] = now
                elif now - since > LEASE_LIMIT_SECONDS * self._cluster.patience:
                    self.violations.append(
                        f"I4 turn {turn_id} ran {now - since:.1f} s without a living process"
                    )
                    self._orphaned_since[turn_id] = now
            await asyncio.sleep(0.25)


def _running_owners() -> dict[UUID, str]:
    return dict(Turn.unscoped.filter(status=TurnStatus.RUNNING).values_list("id", "owner"))
