"""Connections outside Django's pool, and PostgreSQL's own programs, for either database."""

import os
import select
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, cast

import psycopg
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from sage.backups.errors import BackupError, Stopped
from sage.pooled_backend.base import DatabaseWrapper
from sage.postgres_account import child_environment
from sage.postgres_programs import POSTGRES_VERSION, programs_folder
from sessions_app.database import NO_TIME_LIMITS, give_back_connections

PIECE_BYTES = 1 << 22
POOLED_BACKEND = "sage.pooled_backend"
FIRST_WITH_TIMEOUT = 17
_NICE = 10
_POLL_MS = 500
_NO_LIMITS = "-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0"
# Vectors are made anew from the passages. Their type belongs to an extension that another server may lack.
_LEFT_OUT = (
    "--exclude-extension=vector",
    "--exclude-table=coaching_recallvector*",
    "--exclude-table-data=django_session",
)


def connect(database: str | None = None) -> psycopg.Connection[Any]:
    """Open a connection without time limits that commits each statement; the server must have been joined."""
    parameters = connection.get_connection_params()
    opened = psycopg.connect(**parameters | ({"dbname": database} if database else {}), autocommit=True)
    opened.execute(NO_TIME_LIMITS)
    return opened


def join_server() -> None:
    """Start the embedded server if it is used. Raises `StartError` and `BackupError`."""
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        raise BackupError(f"The database can't be reached ({type(error).__name__}).") from error
    give_back_connections()


def close_connections() -> None:
    """Close this thread's connection and the pool."""
    connection.close()
    own = connections[DEFAULT_DB_ALIAS]
    if isinstance(own, DatabaseWrapper):
        own.close_pool()


@contextmanager
def on_running_server() -> Iterator[None]:
    """Let Django use the embedded database's server without joining it: who holds it has started it."""
    described = connections.settings[DEFAULT_DB_ALIAS]
    former = described["ENGINE"]
    _use_engine(POOLED_BACKEND)
    try:
        yield
    finally:
        _use_engine(former)


def _use_engine(name: str) -> None:
    close_connections()
    del connections[DEFAULT_DB_ALIAS]
    connections.settings[DEFAULT_DB_ALIAS]["ENGINE"] = name


@contextmanager
def on_database(name: str) -> Iterator[None]:
    """Let Django use another database of the server, in this process."""
    described = connections.settings[DEFAULT_DB_ALIAS]
    former = described["NAME"]
    close_connections()
    described["NAME"] = name
    try:
        yield
    finally:
        close_connections()
        described["NAME"] = former


def try_lock(session: psycopg.Connection[Any], key: int, *, is_shared: bool = False) -> bool:
    """Take a lock until the session ends; False if another one has it."""
    function = "pg_try_advisory_lock_shared" if is_shared else "pg_try_advisory_lock"
    row = session.execute(f"SELECT {function}(%s)", [key]).fetchone()
    return bool(row and row[0])


def server_major(session: psycopg.Connection[Any]) -> int:
    """Return the server's major version. Raises `BackupError` if our programs are older."""
    major = session.info.server_version // 10000
    if major > POSTGRES_VERSION:
        raise BackupError(
            f"The server is PostgreSQL {major}, and this version of Sage reads {POSTGRES_VERSION} at most."
        )
    return major


def dump(snapshot: str, *, is_stopping: Callable[[], bool]) -> Iterator[bytes]:
    """Yield all rows as of an exported snapshot, in pieces of `PIECE_BYTES`. Raises `BackupError`."""
    arguments = ("--format=custom", "--compress=gzip:3", "--no-owner", "--no-privileges")
    with _program("pg_dump", *arguments, f"--snapshot={snapshot}", *_LEFT_OUT) as process:
        output = cast("IO[bytes]", process.stdout)
        while piece := _read_piece(output.fileno(), is_stopping):
            yield piece


def _read_piece(descriptor: int, is_stopping: Callable[[], bool]) -> bytes:
    """Read a piece from a pipe, shorter only at its end. Raises `Stopped`, while it waits, too."""
    piece, waiting = bytearray(), select.poll()
    waiting.register(descriptor, select.POLLIN)
    while len(piece) < PIECE_BYTES:
        if is_stopping():
            raise Stopped("The backup was stopped.")
        if waiting.poll(_POLL_MS):
            part = os.read(descriptor, PIECE_BYTES - len(piece))
            if not part:
                break
            piece += part
    return bytes(piece)


@contextmanager
def loading(database: str, major: int) -> Iterator[IO[bytes]]:
    """Give a file to which a dump is written, to be loaded into a database. Raises `BackupError`.

    Servers before PostgreSQL 17 refuse one setting that `pg_restore` begins with, so there it goes on after
    an error, and has failed if there was any other.
    """
    arguments = ["--no-owner", "--no-privileges"]
    if major >= FIRST_WITH_TIMEOUT:
        arguments.append("--exit-on-error")
    with _program("pg_restore", *arguments, database=database) as process:
        file = cast("IO[bytes]", process.stdin)
        try:
            yield file
            file.close()
        except BrokenPipeError:  # it has ended, and its exit code says why
            pass


@contextmanager
def _program(name: str, *arguments: str, database: str | None = None) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a client program to its end, killed where the block raises. Raises `BackupError` if it fails."""
    with tempfile.TemporaryFile() as errors, tempfile.NamedTemporaryFile("w") as passwords:
        process = subprocess.Popen(
            [str(programs_folder() / name), *arguments, f"--dbname={_target(database, passwords)}"],
            env=child_environment(),
            cwd="/",
            stdin=subprocess.PIPE if name == "pg_restore" else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if name == "pg_restore" else subprocess.PIPE,
            stderr=errors,
        )
        try:
            with suppress(OSError):  # it has ended, or this system doesn't allow it
                os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
            yield process
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()
        if code:
            errors.seek(0)
            text = errors.read(100_000).decode(errors="replace").strip()
            if "--exit-on-error" in arguments or name != "pg_restore" or not is_old_server_only(text):
                raise BackupError(f"{name} failed: {next(iter(text.splitlines()), 'it gives no reason')}")


def is_old_server_only(text: str) -> bool:
    """Return whether the only error that `pg_restore` names is the setting that older servers lack."""
    first, *rest = text.splitlines() or [""]
    return (
        first.startswith("pg_restore: error: could not execute query:")
        and first.endswith('"transaction_timeout"')
        and rest
        == ["Command was: SET transaction_timeout = 0;", "pg_restore: warning: errors ignored on restore: 1"]
    )


def _target(database: str | None, passwords: IO[str]) -> str:
    """Return what a program connects to. The password is in a private file: no list of processes shows it."""
    shown = {option.keyword.decode() for option in Conninfo.get_defaults() if option.dispchar != b"*"}
    known = shown - {"options"}
    given = connection.get_connection_params()
    parameters = {name: value for name, value in given.items() if name in known and value is not None}
    if database:
        parameters["dbname"] = database
    if password := given.get("password"):
        escaped = str(password).replace("\\", "\\\\").replace(":", "\\:")
        passwords.write(f"*:*:*:*:{escaped}\n")
        passwords.flush()
        parameters["passfile"] = passwords.name
    return make_conninfo(**parameters, options=_NO_LIMITS)
