"""The database wrapper that joins the embedded server before it connects for the first time.

So every command works beside a running Sage and without one, and a command that needs no database starts
none. It changes nothing else of the pooled backend.
"""

import atexit
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connections
from django.db.backends.postgresql import client

from sage.embedded_postgres import EmbeddedPostgres, programs_folder
from sage.pooled_backend import base


class DatabaseClient(client.DatabaseClient):
    """`manage.py dbshell` with the psql that came along."""

    @classmethod
    def settings_to_cmd_args_env(
        cls, settings_dict: dict[str, Any], parameters: Iterable[str]
    ) -> tuple[list[str], dict[str, str] | None]:
        """Return command and environment of the shell, with the server running."""
        join(Path(settings_dict["HOST"]))
        arguments, environment = super().settings_to_cmd_args_env(settings_dict, parameters)
        return [str(programs_folder() / "psql"), *arguments[1:]], environment


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL as Django knows it, started on demand."""

    client_class = DatabaseClient

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect, with the server running. Raises `StartError` when it can't be started."""
        join(Path(self.settings_dict["HOST"]))
        return super().get_new_connection(conn_params)


@cache
def join(folder: Path) -> EmbeddedPostgres:
    """Join the server of a cluster folder until this process ends."""
    server = EmbeddedPostgres.of(folder.parent)
    server.join()
    atexit.register(_leave, server)
    return server


def _leave(server: EmbeddedPostgres) -> None:
    for connection in connections.all(initialized_only=True):
        connection.close()
        if isinstance(connection, DatabaseWrapper):
            connection.close_pool()
    server.leave()
