"""The parts of an installation: how each is started, killed, frozen, restarted, and found to serve."""

import http.client
import signal
import ssl
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import redis

from sage.embedded_postgres import EmbeddedPostgres

START_SECONDS = 90.0
STOP_SECONDS = 30.0
"""`TimeoutStopSec` of the units."""
ASKED_SECONDS = 3.0
POLL_SECONDS = 0.1
HOST = "sage.example"

Answers = Callable[[], bool]


class Part(ABC):
    """A part of the installation with all of its processes."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def kind(self) -> str:
        """What it is one of: `web` for `web-2`."""
        return self.name.partition("-")[0]

    @abstractmethod
    def main(self) -> psutil.Process | None:
        """Return the process from which all its others descend, if it runs."""

    @abstractmethod
    def start(self) -> None:
        """Start it, without waiting until it serves."""

    @abstractmethod
    def stop(self) -> None:
        """Let it end in order, and wait for that."""

    @abstractmethod
    def serves(self) -> bool:
        """Return whether it answers."""

    def restart(self) -> None:
        """Restart it as an upgrade does."""
        self.stop()
        self.start()

    def processes(self) -> list[psutil.Process]:
        """Return all of its processes."""
        main = self.main()
        if main is None:
            return []
        with suppress(psutil.Error):
            return [main, *main.children(recursive=True)]
        return [main]

    def kill(self) -> None:
        """Kill all of its processes at once, as when its machine or container is lost."""
        for process in self._signal(signal.SIGKILL):
            with suppress(psutil.Error):
                process.wait(STOP_SECONDS)

    def freeze(self) -> None:
        """Stop all of its processes where they are."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        self._signal(signal.SIGCONT)

    def wait_until_it_serves(self) -> None:
        """Wait; a part that never serves ends the drill."""
        deadline = time.monotonic() + START_SECONDS
        while not self.serves():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} doesn't serve")
            time.sleep(POLL_SECONDS)

    def _signal(self, number: signal.Signals) -> list[psutil.Process]:
        processes = self.processes()
        for process in processes:
            with suppress(psutil.Error):
                process.send_signal(number)
        return processes


class Program(Part):
    """A part that is one command; its output is added to a log."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        answers: Answers,
        *,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        reload: signal.Signals | None = None,
    ) -> None:
        super().__init__(name)
        self.log = folder / f"{name}.log"
        self._command = command
        self._answers = answers
        self._environment = environment
        self._reload = reload
        self._popen: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def main(self) -> psutil.Process | None:
        if self._popen is None or self._popen.poll() is not None:
            return None
        with suppress(psutil.Error):
            return psutil.Process(self._popen.pid)
        return None

    def start(self) -> None:
        self.starts += 1
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                self._command, env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def stop(self) -> None:
        if self._popen is None:
            return
        self._popen.terminate()
        try:
            self._popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self._popen.wait()

    def kill(self) -> None:
        super().kill()
        if self._popen is not None:
            self._popen.wait()

    def restart(self) -> None:
        """Restart it, or have it load its configuration anew if it does that without a gap."""
        if self._reload is None or self._popen is None:
            super().restart()
            return
        before = {process.pid for process in self.processes()}
        self._popen.send_signal(self._reload)
        deadline = time.monotonic() + START_SECONDS
        while {process.pid for process in self.processes()} <= before:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} hasn't reloaded")
            time.sleep(POLL_SECONDS)

    def serves(self) -> bool:
        return self.main() is not None and self._answers()


class Waiting(Program):
    """A program that answers nobody, but writes a line once it waits for work."""

    def __init__(self, name: str, command: Sequence[str], line: str, *, folder: Path, **options: Any) -> None:
        super().__init__(name, command, self._has_written, folder=folder, **options)
        self._line = line

    def _has_written(self) -> bool:
        return self.log.read_text(errors="replace").count(self._line) >= self.starts


class Database(Part):
    """PostgreSQL. A restart closes its clients' connections, as `systemctl restart` does."""

    def __init__(self, folder: Path) -> None:
        super().__init__("postgres")
        self.server = EmbeddedPostgres.of(folder, options=("max_connections=300",))

    def main(self) -> psutil.Process | None:
        return self.server._process()

    def start(self) -> None:
        if self.server._users is None:
            self.server.join()
        else:
            self.server._ensure_running()

    def stop(self) -> None:
        self.server._stop()

    def kill(self) -> None:
        super().kill()
        while self.server._has_process():
            time.sleep(POLL_SECONDS)

    def serves(self) -> bool:
        with suppress(psycopg.Error):
            psycopg.connect(self.server.url, connect_timeout=2).close()
            return True
        return False


def answers_http(port: int, path: str, *, expected: Sequence[int] = (200,), is_tls: bool = False) -> Answers:
    """Return a check that a GET of `path` is answered with one of the expected statuses."""

    def ask() -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ASKED_SECONDS)
        if is_tls:
            trusting = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection(
                "127.0.0.1", port, timeout=ASKED_SECONDS, context=trusting
            )
        try:
            connection.request("GET", path, headers={"Host": HOST})
            return connection.getresponse().status in expected
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return ask


def answers_redis(port: int) -> Answers:
    """Return a check that Redis answers."""

    def ask() -> bool:
        with suppress(redis.RedisError, OSError), redis.Redis(port=port, socket_timeout=1) as client:
            return bool(client.ping())
        return False

    return ask


@contextmanager
def ended_at_last(parts: Sequence[Part]) -> Iterator[None]:
    """End all parts, the last one first."""
    try:
        yield
    finally:
        for part in reversed(parts):
            part.thaw()
            with suppress(OSError, psutil.Error):
                part.stop()
