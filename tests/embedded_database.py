"""A pytest plugin: the suite's own PostgreSQL, started before Django's settings load.

The first process (the controller under xdist) starts a server in a short temporary folder and puts its
address into the environment, which workers inherit. An external DATABASE_URL is never used, because the tests
empty databases.

While the workers collect the tests, one database is migrated; each worker's is a copy of it.
"""

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sage.embedded_postgres import ROLE, EmbeddedPostgres
from sage.env import variable_names
from sage.garbage import collect_rarely

FOLDER_VARIABLE = "SAGE_TEST_FOLDER"
MIGRATED = "sage_migrated"
"""The name of the migrated database, and of the file that says that it is ready."""


class SuiteServer(EmbeddedPostgres):
    """Sage's embedded server, with a role that may empty tables without checking foreign keys."""

    def _make_role(self, connection: psycopg.Connection[Any]) -> None:
        # The old role's session is still a superuser's after the new role exists.
        super()._make_role(connection)
        connection.execute(f"GRANT SET ON PARAMETER session_replication_role TO {ROLE}")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start the server, unless the parent process has."""
    collect_rarely()  # until the tests are collected
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        os.environ["SAGE_DATA_DIR"] = f"{os.environ[FOLDER_VARIABLE]}/data-{worker}"
        return
    folder = Path(tempfile.mkdtemp(prefix="sage-"))
    server = SuiteServer.of(folder, options=("max_connections=200", "shared_buffers=64MB"), is_lasting=False)
    # The developer's environment and `.env` must not affect the tests; blank means unset.
    os.environ.update(dict.fromkeys(variable_names(), ""))
    os.environ[FOLDER_VARIABLE] = str(folder)
    os.environ["SAGE_DATA_DIR"] = str(folder / "data")
    _keep_bytecode(early_config.rootpath / ".pytest_cache" / "bytecode")
    server.join()
    os.environ["DATABASE_URL"] = server.url

    def stop() -> None:
        server.leave()
        shutil.rmtree(folder, ignore_errors=True)

    early_config.add_cleanup(stop)


@pytest.hookimpl
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Begin to migrate a database, locked by a file until it is ready."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {MIGRATED}")
    server, _, query = os.environ["DATABASE_URL"].partition("?")
    url = f"{server.rpartition('/')[0]}/{MIGRATED}?{query}"
    migrate = shlex.join([sys.executable, "manage.py", "migrate", "--verbosity", "0"])
    with (folder / f"{MIGRATED}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        migrating = subprocess.Popen(
            ["/bin/sh", "-c", f"{migrate} && : > {shlex.quote(str(folder / MIGRATED))}"],
            cwd=config.rootpath,
            env=os.environ | {"DATABASE_URL": url},
            pass_fds=[lock.fileno()],
        )

    def wait() -> None:
        migrating.wait()

    config.add_cleanup(wait)


def name_of_migrated() -> str:
    """Wait until the migrated database is ready; return its name, empty if there is none."""
    folder = Path(os.environ[FOLDER_VARIABLE])
    lock = folder / f"{MIGRATED}.lock"
    if lock.exists():
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    return MIGRATED if (folder / MIGRATED).exists() else ""


def _keep_bytecode(folder: Path) -> None:
    """If bytecode may not be written next to the sources, write it next to pytest's temporary folders.

    A run starts a hundred of our processes: without bytecode each would compile all of Django.
    """
    if not sys.dont_write_bytecode:
        return
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(folder)
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Use all cores for folders of tests, and only this process for single files or tests.

    One more than there are cores: many tests wait, for a lease to end or a browser to draw.
    """
    named = [Path(argument.split("::")[0]) for argument in config.args]
    return (os.cpu_count() or 1) + 1 if all(path.is_dir() for path in named) else 0
