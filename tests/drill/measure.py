"""What the parts use while the drill runs: CPU time, memory, connections, rows and jobs."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import psutil
import psycopg
from psycopg import sql

from tests.drill.parts import Part

SAMPLE_SECONDS = 1.0
COUNT_SECONDS = 15.0
MEGABYTE = 1 << 20
LOAD = "load"
"""The drill's own process: the clients."""
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
_DATABASE = """
SELECT count(*) - 1, pg_database_size(current_database()) FROM pg_stat_activity
WHERE datname = current_database()
"""
_JOBS = "SELECT status::text, count(*) FROM procrastinate_jobs GROUP BY status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """CPU seconds of each part from its start to one moment of the loop's clock."""

    at: float
    cpu: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Memory in MB of each part, and the database's connections, size in MB, and jobs by status."""

    at: float
    memory: Mapping[str, float]
    connections: int
    database: float
    jobs: Mapping[str, int]


@dataclass(slots=True)
class Meter:
    """Samples of all parts, and of the drill's own process."""

    parts: Sequence[Part]
    url: str
    samples: list[Sample] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)
    _cpu_before: dict[str, float] = field(default_factory=dict)
    _cpu_now: dict[str, tuple[int, float]] = field(default_factory=dict)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Meter"]:
        """Take samples during the block. Raises at its end what has stopped that."""
        tasks = [asyncio.create_task(self._sample()), asyncio.create_task(self._count())]
        try:
            yield self
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error

    async def _sample(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self.samples.append(Sample(at=loop.time(), cpu=await asyncio.to_thread(self._read_cpu)))
            await asyncio.sleep(SAMPLE_SECONDS)

    async def _count(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            with suppress(psycopg.Error):
                self.counts.append(await asyncio.to_thread(self._read_counts, loop.time()))
            await asyncio.sleep(COUNT_SECONDS)

    def _read_counts(self, at: float) -> Counts:
        memory = {part.name: sum(map(_megabytes, part.processes())) for part in self.parts}
        with psycopg.connect(self.url, connect_timeout=2) as reader:
            connections, size = reader.execute(_DATABASE).fetchone() or (0, 0)
            jobs: dict[str, int] = dict(reader.execute(_JOBS).fetchall())
        return Counts(at=at, memory=memory, connections=connections, database=size / MEGABYTE, jobs=jobs)

    def _read_cpu(self) -> dict[str, float]:
        own = psutil.Process().cpu_times()
        cpu = {part.name: self._cpu_of(part.name, part.processes()) for part in self.parts}
        return {**cpu, LOAD: own.user + own.system}

    def _cpu_of(self, name: str, processes: Sequence[psutil.Process]) -> float:
        """Return a part's CPU time, with that of its processes before its restarts."""
        pid, known = self._cpu_now.get(name, (0, 0.0))
        if processes and (used := sum(map(_cpu_seconds, processes))):
            if processes[0].pid != pid:
                self._cpu_before[name] = self._cpu_before.get(name, 0.0) + known
            known = used if processes[0].pid != pid else max(known, used)
            self._cpu_now[name] = (processes[0].pid, known)
        return self._cpu_before.get(name, 0.0) + known


def _cpu_seconds(process: psutil.Process) -> float:
    """Return a process's CPU time, with that of its children that have ended."""
    with suppress(psutil.Error):
        return float(sum(process.cpu_times()[:4]))
    return 0.0


def _megabytes(process: psutil.Process) -> float:
    """Return what a process has alone, and its share of what several have."""
    with suppress(psutil.Error):
        return float(process.memory_full_info().pss) / MEGABYTE
    return 0.0


def read_rows(url: str) -> dict[str, int]:
    """Count the rows of every table."""
    with psycopg.connect(url) as reader:
        names = [name for (name,) in reader.execute(_TABLES).fetchall()]
        counts = [sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name)) for name in names]
        return {
            name: row[0]
            for name, count in zip(names, counts, strict=True)
            if (row := reader.execute(count).fetchone())
        }


def cpu_between(first: Sample, last: Sample) -> dict[str, float]:
    """Return each part's CPU time between two samples."""
    return {name: last.cpu[name] - first.cpu.get(name, 0.0) for name in last.cpu}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie; nan without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")
