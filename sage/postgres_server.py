"""The server of one embedded cluster: how it is made, started, stopped and reached.

Its programs run under their own account where Sage is root (`postgres_account`). Importing this starts
nothing.
"""

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from sage.cluster_folders import ClusterFolders
from sage.cluster_states import refuse_missing_cluster, refuse_other_owner, refuse_other_version
from sage.env import StartError
from sage.ordinary_role import is_superuser, make_ordinary
from sage.postgres_account import View, child_environment, grant_access, system_account
from sage.postgres_extensions import trusted_extensions_option
from sage.postgres_programs import POSTGRES_VERSION, programs_folder

ROLE = DATABASE = "sage"
SOCKET_NAME = ".s.PGSQL.5432"
START_SECONDS = 60
STOP_SECONDS = 30

# Users' text must not reach the server's log: no statements, no error details.
SERVER_OPTIONS = (
    "listen_addresses=",
    "unix_socket_permissions=0777",  # its folder is private, and a password is required
    "log_min_messages=log",
    "log_min_error_statement=panic",
    "log_error_verbosity=terse",
    "log_checkpoints=off",
)


@dataclass(kw_only=True)
class PostgresServer:
    """A cluster's server. `options`: `name=value`. `is_lasting=False` isn't durable."""

    folder: Path
    password: str
    version: int = POSTGRES_VERSION
    options: Sequence[str] = ()
    is_lasting: bool = True
    _view: View | None = None

    # --- start and stop: one process at a time ----------------------------------------------------

    def _ensure_running(self) -> None:
        is_made = (self.folder / "PG_VERSION").exists()
        if is_made:
            ClusterFolders(self.folder.parent).name_former()
            refuse_other_version(self.folder, self.version)  # even if its server runs
            refuse_other_owner(self.folder, system_account())
        if self._has_process() and self._is_answering(START_SECONDS):
            return
        self._stop()
        if not is_made:
            refuse_missing_cluster(self.folder)
            self._make_cluster()
        self._forget_foreign_process()
        self._start()
        self._make_database()

    def _start(self) -> None:
        options = [*SERVER_OPTIONS, *self.options, f'unix_socket_directories="{self.folder}"']
        if self.version == POSTGRES_VERSION and (
            extensions := trusted_extensions_option(self.folder, programs=programs_folder())
        ):
            options.append(extensions)
        arguments = [f"-c {shlex.quote(option)}" for option in options]
        if not self.is_lasting:
            arguments.append("-c fsync=off -c synchronous_commit=off -c full_page_writes=off")
        log = self.folder / "log"
        began_at = log.stat().st_size if log.exists() else 0
        self._run(
            "pg_ctl", "start", "-w", "-t", str(START_SECONDS), "-l", str(log), "-o", " ".join(arguments)
        )
        if not self._is_answering(START_SECONDS):
            raise StartError(
                f"the embedded PostgreSQL doesn't start: {self._last_error(began_at)} (see {log})."
            )

    def _stop(self) -> None:
        if not self._has_process():
            return
        for mode in ("fast", "immediate"):
            self._run("pg_ctl", "stop", "-w", "-t", str(STOP_SECONDS), "-m", mode)
            if not self._has_process():
                return

    def _make_cluster(self) -> None:
        draft = self.folder.with_name("postgres.new")
        self._initialise(draft)
        # All or nothing: an interrupted cluster never gets the real name.
        shutil.rmtree(self.folder, ignore_errors=True)
        draft.rename(self.folder)

    def _initialise(self, draft: Path, *options: str, superuser: str = ROLE) -> None:
        """Make an empty cluster in place of what is in a folder. Raises `StartError`."""
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        password = draft.with_name(".postgres.password")
        password.unlink(missing_ok=True)
        with os.fdopen(os.open(password, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(self.password)
        if account := system_account():
            for path in (draft, password):
                os.chown(path, account.pw_uid, account.pw_gid)
        try:
            done = self._run(
                *("initdb", "--username", superuser, "--pwfile", str(password), "--auth", "scram-sha-256"),
                *("--encoding", "UTF8", "--no-locale", "--locale-provider", "builtin"),
                *("--builtin-locale", "C.UTF-8", *options, *([] if self.is_lasting else ["--no-sync"])),
                folder=draft,
            )
        finally:
            password.unlink(missing_ok=True)
        if done.returncode:
            raise StartError(f"the embedded PostgreSQL can't be set up: {_last_line(done.stderr)}.")

    def _make_database(self) -> None:
        with self._connect("postgres") as connection:
            connection.autocommit = True
            if not is_superuser(connection):
                return
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
            if found.fetchone() is None:
                connection.execute(f"CREATE DATABASE {DATABASE}")
        with self._connect(DATABASE) as connection:
            self._make_role(connection)

    def _make_role(self, connection: psycopg.Connection[Any]) -> None:
        make_ordinary(connection, role=ROLE, database=DATABASE, password=self.password)

    # --- state ------------------------------------------------------------------------------------

    def _process(self) -> psutil.Process | None:
        """Return the server's main process, unless its pid now belongs to another program."""
        try:
            pid = int((self.folder / "postmaster.pid").read_text().split("\n", 1)[0])
            process = psutil.Process(pid)
            is_ours = process.status() != psutil.STATUS_ZOMBIE and str(self.folder) in process.cmdline()
        except (OSError, ValueError, psutil.Error):
            return None
        return process if is_ours else None

    def _has_process(self) -> bool:
        return self._process() is not None

    def _forget_foreign_process(self) -> None:
        """Remove both lock files of a dead server: its pid may belong to another program by now."""
        for name in ("postmaster.pid", f"{SOCKET_NAME}.lock"):
            (self.folder / name).unlink(missing_ok=True)

    def _is_answering(self, seconds: float) -> bool:
        """Connect, because a process alone proves nothing. Waits while it starts or recovers."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._connect("postgres").close()
                return True
            except psycopg.OperationalError as error:
                if "password authentication" in str(error):
                    raise StartError(
                        f"the embedded PostgreSQL in {self.folder} has another password than "
                        f"{self.folder.with_name('database_password')} says: restore that file."
                    ) from None
            if time.monotonic() > deadline or not self._has_process():
                return False
            time.sleep(0.05)

    def _connect(self, database: str) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=str(self.folder), user=ROLE, password=self.password, dbname=database, connect_timeout=5
        )

    def _last_error(self, began_at: int) -> str:
        log = self.folder / "log"
        with log.open("rb") as file:
            file.seek(began_at)
            lines = file.read()[-10_000:].decode(errors="replace").splitlines()
        fatal = [line.split("FATAL:", 1)[1].strip() for line in lines if "FATAL:" in line]
        return fatal[-1] if fatal else "it gives no reason"

    # --- programs and their rights ----------------------------------------------------------------

    def _run(
        self, program: str, *arguments: str, folder: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        return self._run_program(program, *arguments, "-D", str(folder or self.folder))

    def _programs(self) -> Path:
        return programs_folder(self.version)

    def _run_program(
        self, program: str, *arguments: str, text: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        path = self._programs() / program
        command = [str(path), *arguments]
        if account := system_account():
            if self._view is None:
                self._view = grant_access(account, self.folder.parent, path.with_name("postgres"))
            command = self._view.command(path, *command[1:])
        return subprocess.run(
            command,
            env=child_environment(),
            # The server's user may have no access to the current folder.
            cwd="/",
            input=text,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            text=True,
            check=False,
        )


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip().rstrip(".") if lines else "it gives no reason"
