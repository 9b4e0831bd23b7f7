"""A pytest plugin: the suite's own PostgreSQL, started when a test first needs it.

Before Django's settings load, the first process (the controller under xdist) chooses a short temporary folder
and puts the address of its future server into the environment, which workers inherit. An external
DATABASE_URL is never used, because the tests empty databases.

Under xdist, one database is migrated when the tests are collected; each worker's is a copy of it.
"""

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sage.embedded_postgres import EmbeddedPostgres
from sage.env import variable_names
from sage.postgres_server import ROLE
from tests.forked_run import FORKS
from tests.tiers import tier_of, wanted_tiers

FOLDER_VARIABLE = "SAGE_TEST_FOLDER"
MIGRATED = "sage_migrated"
"""The name of the migrated database, and of the file that says that it is ready."""


class SuiteServer(EmbeddedPostgres):
    """Sage's embedded server, with a role that may empty tables without checking foreign keys."""

    def _make_role(self, connection: psycopg.Connection[Any]) -> None:
        # The old role's session is still a superuser's after the new role exists.
        super()._make_role(connection)
        connection.execute(f"GRANT SET ON PARAMETER session_replication_role TO {ROLE}")

    def end(self) -> None:
        """Stop it if it runs; the processes that used it have ended."""
        if self._has_process():
            self.join()
            self.leave()


@cache
def suite_server() -> SuiteServer:
    """Return the server of this run, which `join` starts."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    return SuiteServer.of(folder, options=("max_connections=200", "shared_buffers=64MB"), is_lasting=False)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Set the environment, unless the parent process has."""
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        os.environ["SAGE_DATA_DIR"] = f"{os.environ[FOLDER_VARIABLE]}/data-{worker}"
        return
    folder = Path(tempfile.mkdtemp(prefix="sage-"))
    # The developer's environment and `.env` must not affect the tests; blank means unset.
    os.environ.update(dict.fromkeys(variable_names(), ""))
    os.environ[FOLDER_VARIABLE] = str(folder)
    os.environ["SAGE_DATA_DIR"] = str(folder / "data")
    server = suite_server()
    os.environ["DATABASE_URL"] = server.url

    def stop() -> None:
        server.end()
        shutil.rmtree(folder, ignore_errors=True)

    early_config.add_cleanup(stop)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """In a worker, begin to migrate the database that all copy, unless another worker has."""
    if "PYTEST_XDIST_WORKER" not in os.environ or all(tier_of(item.path) == "pure" for item in session.items):
        return
    folder = Path(os.environ[FOLDER_VARIABLE])
    with (folder / f"{MIGRATED}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        begun = folder / f"{MIGRATED}.begun"
        if not begun.exists():
            begun.touch()
            _begin_to_migrate(session.config, lock.fileno())


def _begin_to_migrate(config: pytest.Config, lock: int) -> None:
    """Start the server and a process that migrates and holds the lock."""
    suite_server().join()
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {MIGRATED}")
    server, _, query = os.environ["DATABASE_URL"].partition("?")
    url = f"{server.rpartition('/')[0]}/{MIGRATED}?{query}"
    migrate = shlex.join([sys.executable, "manage.py", "migrate", "--verbosity", "0"])
    done = shlex.quote(f"{os.environ[FOLDER_VARIABLE]}/{MIGRATED}")
    migrating = subprocess.Popen(
        ["/bin/sh", "-c", f"{migrate} && : > {done}"],
        cwd=config.rootpath,
        env=os.environ | {"DATABASE_URL": url},
        pass_fds=[lock],
    )

    def wait() -> None:
        migrating.wait()

    config.add_cleanup(wait)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start the server before the first test that may need it."""
    if tier_of(item.path) != "pure":
        suite_server().join()


def name_of_migrated() -> str:
    """Wait until the migrated database is ready; return its name, empty if there is none."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    lock = folder / f"{MIGRATED}.lock"
    if lock.exists():
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    return MIGRATED if (folder / MIGRATED).exists() else ""


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Use all cores for folders of tests, and only this process for single files or tests.

    One more than there are cores: many tests wait, for a lease to end, a server to answer again or a browser
    to draw. Pure ones run in forks instead of workers.
    """
    named = [Path(argument.split("::")[0]) for argument in config.args]
    if not all(path.is_dir() for path in named):
        return 0
    processes = (os.cpu_count() or 1) + 1
    if wanted_tiers(config.getoption("markexpr")) == {"pure"}:
        config.stash[FORKS] = processes
        return 0
    return processes
