"""A Sage of its own for each test: a copy of the test database, and an empty file storage."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import connection
from psycopg import sql
from pytest_django import Settings

from coaching.files.former_databases import drop_database
from sage.backups.databases import close_connections, connect, on_database
from tests.files.conftest import disk_storage, s3_server, s3_storage

# Fixtures are imported only here.
__all__ = ["disk_storage", "place", "s3_server", "s3_storage"]


@pytest.fixture
def place(transactional_db: None, settings: Settings, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """Let Django use a new database, and a new folder of files; `name` and `files` say which."""
    name = f"backup_{secrets.token_hex(4)}"
    settings.SAGE_DATA_DIR = tmp_path
    (tmp_path / "secret_key").write_text(settings.SECRET_KEY)
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            **settings.STORAGES["default"],
            "OPTIONS": {**settings.STORAGES["default"]["OPTIONS"], "location": tmp_path / "files"},
        },
    }
    template = str(connection.settings_dict["NAME"])
    close_connections()
    with connect("postgres") as session:
        names = sql.Identifier(name), sql.Identifier(template)
        session.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
    try:
        with on_database(name):
            yield SimpleNamespace(name=name, files=tmp_path / "files", folder=tmp_path)
    finally:
        close_connections()
        _drop_all(name)


def _drop_all(name: str) -> None:
    with connect("postgres") as session:
        found = session.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [name])
        for (each,) in found.fetchall():
            drop_database(session, each)
