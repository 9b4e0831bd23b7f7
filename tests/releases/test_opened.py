"""This version opens what each release has left behind: its backup and its data folder, migrated to today."""

import json
import lzma
import re
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from asgiref.sync import async_to_sync
from django.core.cache import cache
from django.core.management import call_command
from django.http import StreamingHttpResponse
from django.test import Client
from psycopg import sql
from pytest_django import Settings

from coaching.files.keys import keyed_models
from coaching.files.objects import read_pieces
from coaching.migrations._recall_tables import VECTORS
from sage import settings as sage_settings
from sage.backups.contents import examine
from sage.backups.databases import connect, on_database
from sage.backups.restoring import check_suitable, restore
from sage.postgres_programs import programs_folder
from tests.live_sage import url_of_test_database
from tests.releases.__main__ import FOLDER
from tests.sage.one_time_codes import code_of
from tests.sage.processes import PROJECT

pytestmark = pytest.mark.django_db(transaction=True)

RELEASES = sorted(path.parent.name for path in FOLDER.glob("*/expected.json"))
MAX_BYTES = 300_000


@pytest.mark.parametrize("release", RELEASES)
def test_a_backup_of_a_release_is_restored_and_opened(
    place: SimpleNamespace, settings: Settings, release: str
) -> None:
    path = unpacked(release, place.folder)
    contents = examine(path)
    assert contents.sage == release
    check_suitable(contents)
    done = restore(path, contents)
    assert done.objects == contents.objects > 0
    assert not done.unreadable_second_factors
    settings.SECRET_KEY = (place.folder / "secret_key").read_text().strip()
    open_all(release, settings)


@pytest.mark.parametrize("release", RELEASES)
def test_a_data_folder_of_a_release_is_opened(
    place: SimpleNamespace, settings: Settings, release: str
) -> None:
    with tarfile.open(FOLDER / release / "folder.tar.xz") as archive:
        archive.extractall(place.folder, filter="data")
    settings.SECRET_KEY = (place.folder / "secret_key").read_text().strip()
    with loaded(place, unpacked(release, place.folder)):
        call_command("migrate", interactive=False, verbosity=0)
        open_all(release, settings)


def unpacked(release: str, folder: Path) -> Path:
    path = folder / "backup.tar"
    path.write_bytes(lzma.decompress((FOLDER / release / "backup.tar.xz").read_bytes()))
    return path


@contextmanager
def loaded(place: SimpleNamespace, path: Path) -> Iterator[None]:
    """Use a database of the rows as that release had them, loaded by PostgreSQL's own program."""
    name = f"{place.name}_loaded"
    with connect("postgres") as session:
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    with tarfile.open(path) as archive:
        pieces = [archive.extractfile(each) for each in archive if each.name.startswith("database/")]
        dump = b"".join(piece.read() for piece in pieces if piece)
    with on_database(name):
        command = [str(programs_folder() / "pg_restore"), "--no-owner", "--exit-on-error"]
        subprocess.run([*command, f"--dbname={_uri()}"], input=dump, check=True)
        with connect(name) as session:
            session.execute(VECTORS)  # backups leave out what can be made anew
        yield


def _uri() -> str:
    return url_of_test_database().replace("postgres://", "postgresql://")


def open_all(release: str, settings: Settings) -> None:
    """Sign in with password and code, and open each page; each object has the bytes of its row."""
    expected: Mapping[str, Any] = json.loads((FOLDER / release / "expected.json").read_text())
    settings.PASSWORD_HASHERS = sage_settings.PASSWORD_HASHERS
    cache.clear()
    client = Client()
    client.post("/accounts/login/", {"login": expected["email"], "password": expected["password"]})
    assert client.get("/settings/").status_code == HTTPStatus.FOUND  # the code is missing
    client.post("/accounts/2fa/authenticate/", {"code": code_of(expected["second_factor"])})
    for url, text in expected["pages"].items():
        page = client.get(url, follow=True)
        assert page.status_code == HTTPStatus.OK, url
        assert text in page.content.decode(), url
    for url, digest in expected["bytes"].items():
        assert sha256(bytes_of(client, url)).hexdigest() == digest, url
    rows = [row for model in keyed_models() for row in model.unscoped.exclude(storage_key="")]
    assert len(rows) > len(expected["bytes"])
    for row in rows:
        assert sha256(b"".join(read_pieces(row.storage_key))).hexdigest() == row.sha256


def bytes_of(client: Client, url: str) -> bytes:
    response = client.get(url)
    assert response.status_code == HTTPStatus.OK, url

    async def read() -> bytes:
        return b"".join([piece async for piece in cast("StreamingHttpResponse", response)])

    return async_to_sync(read)()


def test_each_release_has_its_files_and_they_are_small() -> None:
    headings = re.findall(r"^## (\d\S+) – ", (PROJECT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert set(headings) <= set(RELEASES)
    for release in RELEASES:
        files = list((FOLDER / release).iterdir())
        assert {path.name for path in files} == {"backup.tar.xz", "expected.json", "folder.tar.xz"}
        assert sum(path.stat().st_size for path in files) <= MAX_BYTES, release
