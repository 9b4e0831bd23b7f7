"""The archive of a person's files."""

import io
import re
import zipfile
from http import HTTPStatus
from zoneinfo import ZoneInfo

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.test import AsyncClient, Client
from django.utils import timezone

from coaching.clock.days import local_day
from coaching.models import Profile, UserFileVersion
from sessions_app.database import in_database
from tests.browsers import page_of, sign_in_confirmed
from tests.pages.conftest import KeepFile
from tests.pages.file_pages import NOW

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]


async def zip_of(user: User, query: str = "") -> zipfile.ZipFile:
    client = AsyncClient()
    await in_database(sign_in_confirmed, client, user)
    response = await client.get(f"/files/all.zip{query}")
    assert response.status_code == HTTPStatus.OK
    assert response["Content-Type"] == "application/zip"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert re.fullmatch(r'attachment; filename="sage-files-[0-9-]{10}\.zip"', response["Content-Disposition"])
    data = b"".join([part async for part in response.streaming_content])  # type: ignore[attr-defined]  # the test client's type lacks it
    # Django's test client leaves connections of other threads open.
    await sync_to_async(connections.close_all)()
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert archive.testzip() is None
    return archive


@pytest.mark.django_db(transaction=True)
async def test_the_archive_holds_every_file_of_the_person_and_nobody_elses(
    user: User, other_user: User, keep_file: KeepFile
) -> None:
    texts = {f"daily-logs/2026-10-{day:02}.md": f"Day {day} ü" for day in range(1, 31)}

    def keep() -> None:
        for path, text in texts.items():
            keep_file(path, "older", text)
        keep_file("life-map/career.md", "theirs", owner=other_user)
        UserFileVersion.unscoped.filter(number=2).update(created_at=NOW)
        Profile.unscoped.create(user=user, timezone="Asia/Tokyo")

    await in_database(keep)
    archive = await zip_of(user)
    folder = f"sage-files-{local_day(timezone.now(), ZoneInfo('Asia/Tokyo'))}"
    held = {name: archive.read(name).decode() for name in archive.namelist()}
    assert held == {f"{folder}/{path}": text for path, text in texts.items()}
    assert archive.infolist()[0].date_time == (2026, 11, 21, 18, 0, 0)
    whole = await zip_of(user, "?versions=all")
    assert len(whole.namelist()) == 60
    assert whole.read(f"{folder}/old-versions/daily-logs/2026-10-01/1.md") == b"older"
    assert whole.read(f"{folder}/daily-logs/2026-10-01.md").decode() == "Day 1 ü"


@pytest.mark.django_db(transaction=True)
async def test_names_in_the_archive_lead_nowhere_else(user: User, keep_file: KeepFile) -> None:
    paths = [
        "../../etc/passwd", "/etc/shadow", "a/../../b.md", "c:\\windows\\x.md", "..\\..\\y.md", "CON.md",
        "life/nul", "A.md", "a.md", "dots/..../z.md", "\uff0e\uff0e/\uff0fw.md", "evil\u202efdm.md", "...",
    ]  # fmt: skip

    def keep() -> None:
        for path in paths:
            keep_file(path, f"text of {path}")

    await in_database(keep)
    archive = await zip_of(user)
    names = archive.namelist()
    assert len(names) == len({name.casefold() for name in names}) == len(paths)
    for name in names:
        assert name.startswith("sage-files-")
        assert not {"", ".", ".."} & set(name.split("/"))
        assert not re.search(r'[\\:*?"<>|\x00-\x1f\u202e]', name)
    assert any(name.endswith("/_CON.md") for name in names)


def test_an_empty_page_offers_no_archive(signed_in: Client) -> None:
    assert "all.zip" not in page_of(signed_in, "/files/")
