"""A whole Sage to break: web processes, Redis and the practice model as real processes and sockets.

A `Cluster` has the processes of a test module or a long run, on a given database. The practice model runs in
the scenario's event loop, on a fixed port.

A little over the usual length: starting processes and breaking them share their state.
"""

import asyncio
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import redis

from coaching.practice.server import PracticeServer
from sage.embedded_postgres import EmbeddedPostgres
from sessions_app.database import in_database
from sessions_app.leases import read_beats
from tests.faults.planned_model import PlannedModel
from tests.forked import ROOT, ForkedProcess
from tests.live_sage import START_SECONDS, free_port, url_of_test_database
from tests.patience import measure_slowness

UNBROKEN = ("-m", "tests.faults.unbroken_web")
SHIFTED = ("-m", "tests.faults.shifted_web")
BRIEF = ("-m", "tests.faults.brief_web")
HASTY_WORKER = ("-m", "tests.faults.hasty_worker")
REDIS_PROGRAM = "redis-server"
_REDIS_OPTIONS = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no")


@dataclass(slots=True, kw_only=True)
class WebProcess:
    """One `manage.py web`."""

    popen: "subprocess.Popen[bytes] | ForkedProcess"
    port: int
    log: Path
    is_frozen: bool = False

    @property
    def is_up(self) -> bool:
        """Whether it is running and not frozen."""
        return self.popen.poll() is None and not self.is_frozen

    @property
    def origin(self) -> str:
        """The Origin header of its pages."""
        return f"http://localhost:{self.port}"


class RedisServer:
    """A Redis in a temporary folder, without persistence."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._folder = folder
        self._popen: subprocess.Popen[bytes] | None = None

    @staticmethod
    def is_installed() -> bool:
        """Whether there is a Redis to start."""
        return shutil.which(REDIS_PROGRAM) is not None

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._popen = subprocess.Popen(
            [
                REDIS_PROGRAM,
                "--port",
                str(self.port),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
            ],
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                with redis.Redis(port=self.port) as client:
                    client.ping()
                return
            except redis.ConnectionError:
                time.sleep(0.02)
        raise AssertionError("Redis doesn't answer")

    def kill(self) -> None:
        """Kill it: every connection breaks."""
        if self._popen is not None:
            self._popen.send_signal(signal.SIGCONT)
            self._popen.kill()
            self._popen.wait()
            self._popen = None

    def freeze(self) -> None:
        """Stop it: connections stay open and nothing answers."""
        assert self._popen is not None
        self._popen.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._popen is not None
        self._popen.send_signal(signal.SIGCONT)

    def flush(self) -> None:
        """Delete everything and break all clients' subscriptions."""
        with redis.Redis(port=self.port) as client:
            client.flushall()
            client.client_kill_filter(_type="pubsub")


class Cluster:
    """The processes. `patience` stretches the time limits; with `is_shared`, also by how slow the machine is.

    `database` is the server, if a scenario may break it. With `is_forked`, web processes are forked from one
    that has already imported everything: cheaper, but no measure of a start. `clock_error_seconds` is how far
    the processes' wall clocks differ.
    """

    def __init__(
        self,
        *,
        count: int = 1,
        redis_server: RedisServer | None = None,
        variables: Mapping[str, str] | None = None,
        patience: float = 1.0,
        is_shared: bool = False,
        program: Sequence[str] = ("manage.py",),
        is_forked: bool = False,
        database: EmbeddedPostgres | None = None,
        clock_error_seconds: float = 0.0,
    ) -> None:
        self._program = program
        self._is_forked = is_forked
        logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # disconnecting clients are intended
        self.redis = redis_server
        self.database = database
        self.clock_error_seconds = clock_error_seconds
        self.patience = self._least_patience = patience
        self._is_shared = is_shared
        self.variables = dict(variables or {})
        self.practice_port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="sage-faults-"))
        self.processes: list[WebProcess | None] = [None] * count
        self.logs: list[Path] = []
        self._workers: list[subprocess.Popen[bytes] | ForkedProcess] = []
        self._logged: dict[Path, int] = {}
        self.dead_pids: dict[int, float] = {}
        self.model = PlannedModel()
        self.practice: PracticeServer
        self.audited = 0
        self.keys = 0
        self.cleanups: list[Callable[[], Awaitable[object]]] = []

    # --- processes --------------------------------------------------------------------------------

    def start(self, index: int) -> WebProcess:
        """Start the process of that number and wait until its port is open."""
        log = self.folder / f"web-{index}-{len(self.logs)}.log"
        self.logs.append(log)
        popen = self._run((*self._program, "web", "--port", "0"), log, index)
        deadline = time.monotonic() + START_SECONDS
        while popen.poll() is None and time.monotonic() < deadline:
            if found := re.search(r"Sage answers at http://localhost:(\d+)/", log.read_text()):
                process = WebProcess(popen=popen, port=int(found[1]), log=log)
                self.processes[index] = process
                return process
            time.sleep(0.02)
        popen.kill()
        raise AssertionError("the web process didn't start:\n" + log.read_text())

    def _run(
        self, arguments: Sequence[str], log: Path, index: int
    ) -> "subprocess.Popen[bytes] | ForkedProcess":
        if self._is_forked:
            return ForkedProcess(arguments, environment=self._environment(index), log=log)
        with log.open("wb") as output:
            return subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self._environment(index),
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def _environment(self, index: int) -> dict[str, str]:
        return os.environ | {
            "DATABASE_URL": url_of_test_database(),
            "REDIS_URL": self.redis.url if self.redis else "",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.practice_port}",
            "SAGE_SAFETY_MODEL": "off",  # its requests would be among those that are counted
            "ANTHROPIC_API_KEY": "practice",
            "SAGE_RATE_LIMIT": "1000/60s",
            "DJANGO_SETTINGS_MODULE": "sage.settings",
            "SAGE_FAULT_PLACE": str(index),
            "SAGE_FAULT_HOLD": str(self._hold(index)),
            **self.variables,
        }

    async def ensure_up(self) -> None:
        """Start what isn't running, and wait until every process's heartbeat is in the database."""
        missing = [index for index, process in enumerate(self.processes) if not process or not process.is_up]
        await asyncio.gather(*(asyncio.to_thread(self.start, index) for index in missing))
        pids = {str(process.popen.pid) for process in self.processes if process}
        async with asyncio.timeout(START_SECONDS):
            # Another process writes the heartbeat, so poll the database.
            while pids - {owner.split(":")[1] for owner in await in_database(read_beats)}:  # noqa: ASYNC110 - nothing here is told when it happens
                await asyncio.sleep(0.1)

    def up(self) -> list[int]:
        """Return the numbers of the processes that serve."""
        return [index for index, process in enumerate(self.processes) if process and process.is_up]

    def process(self, index: int) -> WebProcess:
        """Return a process that was started."""
        process = self.processes[index]
        assert process is not None
        return process

    def kill(self, index: int) -> None:
        """Kill a process with SIGKILL."""
        process = self.process(index)
        process.popen.kill()
        process.popen.wait()
        self.dead_pids[process.popen.pid] = time.monotonic()

    def freeze(self, index: int) -> None:
        """Stop a process where it stands; return once it has stopped, which a busy machine delays."""
        process = self.process(index)
        process.is_frozen = True
        process.popen.send_signal(signal.SIGSTOP)
        while process.popen.poll() is None and (
            psutil.Process(process.popen.pid).status() != psutil.STATUS_STOPPED
        ):
            time.sleep(0.001)
        self.dead_pids[process.popen.pid] = time.monotonic()

    def thaw(self, index: int) -> None:
        """Let a frozen process go on."""
        process = self.process(index)
        process.popen.send_signal(signal.SIGCONT)
        process.is_frozen = False
        self.dead_pids.pop(process.popen.pid, None)

    def hold_statements(self, index: int) -> None:
        """Keep a process from ending the statements that it sends together (a `BRIEF` one)."""
        self._hold(index).touch()

    def release_statements(self, index: int) -> None:
        """Let it end them."""
        self._hold(index).unlink(missing_ok=True)

    def _hold(self, index: int) -> Path:
        return self.folder / f"hold-{index}"

    def terminate(self, index: int) -> None:
        """Ask a process to end, with SIGTERM."""
        self.process(index).popen.send_signal(signal.SIGTERM)

    async def gone(self, index: int, seconds: float) -> bool:
        """Wait for a process's end; return whether it was in time."""
        popen = self.process(index).popen
        try:
            await asyncio.to_thread(popen.wait, seconds)
        except subprocess.TimeoutExpired:
            return False
        self.dead_pids[popen.pid] = time.monotonic()
        return True

    def renew(self) -> None:
        """Kill everything after a failure: the next run starts anew. Redis is back at once."""
        for index, process in enumerate(self.processes):
            if process and process.popen.poll() is None:
                self.kill(index)
        if self.redis is not None:
            self.redis.kill()
            self.redis.start()

    def close(self) -> None:
        """End everything; kill what doesn't end."""
        for popen in self._workers:
            popen.kill()
            popen.wait()
        for process in self.processes:
            if process and process.popen.poll() is None:
                process.popen.send_signal(signal.SIGCONT)
                process.popen.send_signal(signal.SIGTERM)
        for process in self.processes:
            if process:
                try:
                    process.popen.wait(15)
                except subprocess.TimeoutExpired:
                    process.popen.kill()
                    process.popen.wait()
        if self.redis is not None:
            self.redis.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- workers ----------------------------------------------------------------------------------

    def start_worker(self) -> WebProcess:
        """Start a worker and wait until it waits for jobs."""
        log = self.folder / f"worker-{len(self.logs)}.log"
        self.logs.append(log)
        popen = self._run((*HASTY_WORKER, "worker"), log, 0)
        deadline = time.monotonic() + START_SECONDS
        while popen.poll() is None and time.monotonic() < deadline:
            if "The worker waits for jobs." in log.read_text():
                self._workers.append(popen)
                return WebProcess(popen=popen, port=0, log=log)
            time.sleep(0.02)
        popen.kill()
        raise AssertionError("the worker didn't start:\n" + log.read_text())

    def end_worker(self, worker: WebProcess) -> None:
        """Kill a worker with SIGKILL."""
        worker.popen.kill()
        worker.popen.wait()

    def stop_worker(self, worker: WebProcess) -> None:
        """Stop a worker where it stands."""
        worker.is_frozen = True
        worker.popen.send_signal(signal.SIGSTOP)

    def continue_worker(self, worker: WebProcess) -> None:
        """Let a frozen worker go on."""
        worker.popen.send_signal(signal.SIGCONT)
        worker.is_frozen = False

    # --- the model --------------------------------------------------------------------------------

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["Cluster"]:
        """Run the practice model in this event loop during the block, with every process up."""
        self.model = PlannedModel()
        self.audited = 0
        self._logged = {log: log.stat().st_size for log in self.logs}
        async with PracticeServer(
            keeps_bodies=True,
            port=self.practice_port,
            tokens_per_second=0,
            answer=self.model.answer,
            kept_requests=100_000,
        ) as self.practice:
            try:
                await self.ensure_up()
                if self._is_shared:
                    origin = self.process(0).origin
                    self.patience = self._least_patience * await measure_slowness(origin)
                yield self
            finally:
                await self.clean_up()

    async def clean_up(self) -> None:
        """Release every lock and socket of a run, and thaw what is frozen."""
        cleanups, self.cleanups = self.cleanups, []
        await asyncio.gather(*(cleanup() for cleanup in cleanups), return_exceptions=True)
        for index, process in enumerate(self.processes):
            self.release_statements(index)
            if process and process.is_frozen:
                self.thaw(index)

    def next_key(self) -> str:
        """Return the next conversation's key, unique in this run."""
        self.keys += 1
        return f"k{self.keys}"

    def log_text(self) -> str:
        """Return everything that the processes have logged since it was opened."""
        logged = [(log.read_bytes(), self._logged.get(log, 0)) for log in self.logs if log.exists()]
        return "".join(data[known:].decode(errors="replace") for data, known in logged)
