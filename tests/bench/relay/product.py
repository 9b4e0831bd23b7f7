"""The measured product: real PostgreSQL in its own folder, seeded people, one web process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from sage.embedded_postgres import EmbeddedPostgres
from sage.env import variable_names
from tests.bench.relay.machine import Machine, Server, cpu_seconds, free_port
from tests.bench.relay.sockets import Address

MANAGE = Path(__file__).resolve().parents[3] / "manage.py"


@dataclass(frozen=True, slots=True)
class Person:
    """A signed-in user with their sessions."""

    cookie: str
    sessions: tuple[str, ...]

    def addresses(self, port: int, *, is_html: bool = False) -> list[Address]:
        """Return where the person's sessions are."""
        return [Address(port, f"/ws/sessions/{session}/", self.cookie, is_html) for session in self.sessions]


@dataclass(slots=True)
class Product:
    """A seeded installation; `start_web` may be called again after the process was ended."""

    environment: dict[str, str]
    database_folder: Path
    chats: list[Person] = field(default_factory=list)
    fresh: Person = field(default_factory=lambda: Person("", ()))
    rich: Person = field(default_factory=lambda: Person("", ()))
    stocked: Person = field(default_factory=lambda: Person("", ()))

    def start_web(self, machine: Machine, name: str = "web") -> Server:
        """Start a web process."""
        port = free_port()
        return machine.start(
            name,
            [*_PROFILER, str(MANAGE), "web", "--port", str(port)],
            port=port,
            is_server=True,
            environment=self.environment,
        )

    def run(self, module: str, *arguments: str) -> str:
        """Run a module of the tests with the product's environment; return what it prints."""
        return _run(self, ["-m", module, *arguments])

    def cover_with_briefs(self) -> None:
        """Write the briefs that a worker would have written by now."""
        self.run("tests.bench.relay.cover")

    def database_cpu_seconds(self) -> float:
        """Return the CPU time of PostgreSQL's processes that live now."""
        return cpu_seconds(self._database_processes())

    @contextmanager
    def database_on_core_of(self, server: Server) -> Iterator[None]:
        """Run PostgreSQL on the server's core, as on a single-core machine."""
        before = self._database_processes()[0].cpu_affinity()
        _pin(self._database_processes(), server.process.cpu_affinity())
        try:
            yield
        finally:
            _pin(self._database_processes(), before)

    def _database_processes(self) -> list[psutil.Process]:
        pid = int((self.database_folder / "postmaster.pid").read_text().split("\n", 1)[0])
        main = psutil.Process(pid)
        return [main, *main.children(recursive=True)]


_PROFILER = tuple(os.environ.get("BENCH_PYTHON_OPTIONS", "").split())


@contextmanager
def open_product(
    folder: Path, *, upstream_port: int, users: int, sessions: int, files: int, documents: int = 0
) -> Iterator[Product]:
    """Start a database, seed it, and stop it at the end."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    server = EmbeddedPostgres.of(folder)
    environment = {name: value for name, value in os.environ.items() if name not in variable_names()}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "sage.settings",
        "SAGE_DATA_DIR": str(data),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{upstream_port}",
        "SAGE_SAFETY_MODEL": os.environ.get("SAGE_BENCH_SAFETY_MODEL", "off"),
        "ANTHROPIC_API_KEY": "bench",
        # One person asks more often here than in reality.
        "SAGE_RATE_LIMIT": "999999/60s",
        "PYTHONUNBUFFERED": "1",
    }
    server.join()
    try:
        environment["DATABASE_URL"] = server.url
        product = Product(environment, server.folder)
        _run(product, [str(MANAGE), "migrate", "--verbosity", "0"])
        counts = {"users": users, "sessions": sessions, "files": files, "documents": documents}
        options = [word for name, count in counts.items() for word in (f"--{name}", str(count))]
        seeded = json.loads(_run(product, ["-m", "tests.bench.relay.seed", *options]))
        product.chats = [_person(entry) for entry in seeded["chats"]]
        product.fresh, product.rich = _person(seeded["fresh"]), _person(seeded["rich"])
        product.stocked = _person(seeded["stocked"])
        yield product
    finally:
        server.leave()


def _pin(processes: list[psutil.Process], cores: list[int]) -> None:
    for process in processes:
        try:
            process.cpu_affinity(cores)
        except psutil.NoSuchProcess:  # a worker of PostgreSQL that has just ended
            continue


def _person(entry: dict[str, Any]) -> Person:
    return Person(entry["cookie"], tuple(entry["sessions"]))


def _run(product: Product, arguments: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=product.environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=MANAGE.parent,
    )
    if done.returncode:
        raise RuntimeError(f"{arguments} failed:\n{done.stderr[-4000:]}")
    return done.stdout
