"""Processes of a measurement: their cores, their usage, and their end.

Every process started here is ended by its pid, whatever happens.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import psutil

START_SECONDS = 60.0
END_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Cores:
    """The server has one core to itself; the load generator has another."""

    server: int
    load: int

    @classmethod
    def of_this_machine(cls) -> "Cores":
        """Use the first and the last available core, or the same one if there is only one."""
        usable = sorted(os.sched_getaffinity(0))
        return cls(server=usable[0], load=usable[-1])


@dataclass(frozen=True, slots=True)
class Server:
    """A running server under test."""

    process: psutil.Process
    port: int
    log: Path

    def cpu_seconds(self) -> float:
        """Return the CPU time of the process and its children so far."""
        return cpu_seconds([self.process, *self.process.children(recursive=True)])

    def memory_kb(self) -> float:
        """Return the memory of the main process alone."""
        return float(self.process.memory_info().rss) / 1024


def cpu_seconds(processes: Sequence[psutil.Process]) -> float:
    """Return the user and system time of processes; one that has ended counts as zero."""
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total


def free_port() -> int:
    """Return a port of 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Machine:
    """Starts processes on cores and ends them all on exit."""

    def __init__(self, folder: Path) -> None:
        self.cores = Cores.of_this_machine()
        self._folder = folder
        self._started: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = []

    def __enter__(self) -> Self:
        os.sched_setaffinity(0, {self.cores.load})
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process, log in reversed(self._started):
            _end(process)
            log.close()
        self._started.clear()

    def start(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        port: int,
        is_server: bool,
        environment: Mapping[str, str] | None = None,
        program: str = sys.executable,
    ) -> Server:
        """Start a program, wait until its port answers, and return it. Raises `RuntimeError`."""
        core = self.cores.server if is_server else self.cores.load
        path = self._folder / f"{name}.log"
        log = path.open("wb")
        process = subprocess.Popen(
            ["taskset", "-c", str(core), program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(environment) if environment is not None else None,
        )
        self._started.append((process, log))
        deadline = time.monotonic() + START_SECONDS
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{name} doesn't start:\n{path.read_text(errors='replace')[-4000:]}")
            time.sleep(0.05)
        return Server(psutil.Process(process.pid), port, path)

    def end(self, server: Server) -> None:
        """End one server that was started here."""
        for entry in self._started:
            if entry[0].pid == server.process.pid:
                _end(entry[0])
                entry[1].close()
                self._started.remove(entry)
                return


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    children = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(END_SECONDS)
    for child in psutil.wait_procs(children, timeout=2)[1]:
        child.kill()
