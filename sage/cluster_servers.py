"""The servers of an upgrade's two clusters, what is compared of them, and how their programs are ended."""

import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import sql

from coaching.files.former_clusters import PRESENT, UPGRADED
from sage.embedded_postgres import EmbeddedPostgres
from sage.env import StartError
from sage.postgres_programs import FORMER_VERSION, POSTGRES_VERSION, programs_folder
from sage.postgres_server import ROLE

QUIT_SECONDS, END_SECONDS = 10.0, 30.0

_DATABASES = """
    SELECT datname FROM pg_database WHERE datallowconn AND has_database_privilege(datname, 'CONNECT')
    ORDER BY datname
"""
# What a partitioned table has is counted in its partitions.
_TABLES = """
    SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind IN ('r', 'm') AND relpersistence <> 't' AND nspname !~ '^pg_'
    AND nspname <> 'information_schema' AND has_schema_privilege(relnamespace, 'USAGE')
    AND has_table_privilege(pg_class.oid, 'SELECT') ORDER BY nspname, relname
"""


class LoneServer(EmbeddedPostgres):
    """A cluster's server while the upgrade holds the database."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start it for the block. Raises `StartError`."""
        self._forget_foreign_process()
        try:
            self._start()
            yield
        finally:
            self._stop()

    def stop(self) -> None:
        """Stop what users that were killed have left running."""
        self._stop()

    def make_empty(self, *options: str, superuser: str) -> None:
        """Make a cluster without our database. Raises `StartError`."""
        self._initialise(self.folder, *options, superuser=superuser)

    def run(self, program: str, *arguments: str) -> None:
        """Run a program on the files of the stopped cluster. Raises `StartError`."""
        if self._run(program, *arguments).returncode:
            raise StartError(f"{program} fails on {self.folder}.")

    def execute_alone(self, statement: str) -> None:
        """Run a statement as the superuser, who may be one that can't sign in, on the stopped cluster.

        Raises `StartError`, also if the statement fails.
        """
        options = ("--single", "-c", "exit_on_error=on", "-D", str(self.folder))
        if self._run_program("postgres", *options, "postgres", text=f"{statement}\n").returncode:
            raise StartError(f"PostgreSQL refuses, on {self.folder}: {statement}.")

    def connect(self, database: str, *, user: str = ROLE) -> psycopg.Connection[Any]:
        """Open a connection that commits each statement."""
        return psycopg.connect(
            host=str(self.folder), user=user, password=self.password, dbname=database, autocommit=True
        )

    def databases(self) -> list[str]:
        """Return the databases that one can connect to."""
        with self.connect("postgres") as session:
            return [name for (name,) in session.execute(_DATABASES).fetchall()]

    def count_rows(self) -> Mapping[tuple[str, str, str], int]:
        """Return the number of rows by database, schema and table, of all tables that Sage may read."""
        counted = {}
        for database in self.databases():
            with self.connect(database) as session:
                for schema, table in session.execute(_TABLES).fetchall():
                    query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))
                    row = session.execute(query).fetchone()
                    counted[database, schema, table] = row[0] if row else 0
        return counted


def end_programs(data_dir: Path) -> None:
    """End what works on the clusters of a killed upgrade, which goes on without it. Raises `StartError`."""
    began = time.monotonic()
    while processes := list(_programs_on(data_dir)):
        seconds = time.monotonic() - began
        if seconds > END_SECONDS:
            raise StartError(f"process {processes[0].pid} works on {data_dir} and doesn't end.")
        for process in processes:
            with suppress(psutil.Error):
                # A server that quits ends its own processes first.
                is_server = process.name() == "postgres" and seconds < QUIT_SECONDS
                process.send_signal(signal.SIGQUIT if is_server else signal.SIGKILL)
        psutil.wait_procs(processes, timeout=1)


def _programs_on(data_dir: Path) -> Iterator[psutil.Process]:
    programs = {
        f"{spelling}/"
        for version in (FORMER_VERSION, POSTGRES_VERSION)
        for folder in [programs_folder(version)]
        for spelling in (folder, folder.resolve())
    }
    clusters = {str(data_dir / name) for name in (PRESENT, UPGRADED)}
    for process in psutil.process_iter(["cmdline"]):
        program, *arguments = process.info["cmdline"] or [""]
        if any(program.startswith(each) for each in programs) and any(
            _is_within(argument, cluster) for argument in arguments for cluster in clusters
        ):
            yield process


def _is_within(argument: str, folder: str) -> bool:
    """Return whether an argument is this folder's path, or begins with it: another's may end like it."""
    return argument == folder or argument.startswith(f"{folder}/")
