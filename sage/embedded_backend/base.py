"""Joins the embedded server before a process connects for the first time."""

from collections.abc import Iterable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from django.db import connections
from django.db.backends.postgresql import client

from sage.embedded_postgres import EmbeddedPostgres
from sage.ending import at_end
from sage.env import StartError
from sage.pooled_backend import base
from sage.postgres_programs import programs_folder

_joining = Lock()


class DatabaseClient(client.DatabaseClient):
    """`manage.py dbshell` with the embedded psql."""

    @classmethod
    def settings_to_cmd_args_env(
        cls, settings_dict: dict[str, Any], parameters: Iterable[str]
    ) -> tuple[list[str], dict[str, str] | None]:
        """Return the shell's command and environment, with the server running."""
        join(Path(settings_dict["HOST"]))
        arguments, environment = super().settings_to_cmd_args_env(settings_dict, parameters)
        return [str(programs_folder() / "psql"), *arguments[1:]], environment


class DatabaseWrapper(base.DatabaseWrapper):
    """The pooled backend, which starts the server on demand."""

    client_class = DatabaseClient

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect, with the server running. Raises `StartError` if it can't be started."""
        join(Path(self.settings_dict["HOST"]))
        return super().get_new_connection(conn_params)


def join(folder: Path) -> EmbeddedPostgres:
    """Join the server of a cluster folder until this process ends; once, in whatever thread."""
    with _joining:
        return _join(folder)


def join_early(folder: Path) -> None:
    """Begin to join the server in a thread, so that it starts while this process loads its modules.

    A failure is left to whoever connects first: `join` tries again and raises it. A process that ends sooner
    waits for the thread, so that no server is left without a user.
    """
    thread = Thread(target=_try_to_join, args=(folder,), name="join the database early")
    at_end(thread.join)
    thread.start()


def _try_to_join(folder: Path) -> None:
    with suppress(StartError):
        join(folder)


@cache
def _join(folder: Path) -> EmbeddedPostgres:
    server = EmbeddedPostgres.of(folder.parent)
    server.join()
    at_end(partial(_leave, server))
    return server


def _leave(server: EmbeddedPostgres) -> None:
    for connection in connections.all(initialized_only=True):
        connection.close()
        if isinstance(connection, DatabaseWrapper):
            connection.close_pool()
    server.leave()
