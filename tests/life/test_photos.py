"""Photos of the journal: added to a day, reduced and without metadata, described, and deleted."""

import asyncio
import io
import re
import threading
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client
from PIL import Image
from PIL.ExifTags import GPS, IFD, Base
from pytest_django import Settings

from coaching.care.reading import read_care
from coaching.files.errors import QuotaReached
from coaching.files.garbage import collect_garbage
from coaching.library.pipeline import photos as drawn_photos
from coaching.library.pipeline.turns import in_turn
from coaching.life import photos as life_photos
from coaching.life.photos import NewPhoto, keep_photo
from coaching.models import FileUsage, Photo
from coaching.people.attempts import AttemptLimit
from coaching.people.in_flight import InFlight, Ticket, current_ticket
from coaching.personal_data.archive import write_archive
from coaching.views import photos as photo_views
from tests.browsers import browser_of, page_of
from tests.files.conftest import disk_storage
from tests.life.conftest import NOON, TODAY

__all__ = ["disk_storage"]

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("disk_storage", "at_noon"),
]

JSON = {"Accept": "application/json"}
CAMERA = "Leica M99"

Upload = Callable[..., Any]


def jpeg(size: tuple[int, int] = (60, 40), colour: str = "teal", orientation: int = 1) -> bytes:
    """Return a photo as phones write it: with the camera, and the place where it was taken."""
    exif = Image.Exif()
    exif[Base.Model] = CAMERA
    exif[Base.Orientation] = orientation
    exif.get_ifd(IFD.GPSInfo)[GPS.GPSLatitude] = (52.0, 31.0, 12.0)
    written = io.BytesIO()
    Image.new("RGB", size, colour).save(written, "JPEG", exif=exif)
    return written.getvalue()


def keep(user: User, name: str = "one", **values: Any) -> Photo:
    new = NewPhoto(data=b"RIFF" + name.encode(), thumbnail=b"small", width=60, height=40, source_sha256=name)
    return keep_photo(user_id=user.pk, day=values.pop("day", TODAY), new=new)[0]


@pytest.fixture(autouse=True)
def fresh_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of another process: tests share this one's."""
    limit = AttemptLimit(attempts=life_photos.DRAWN_IN_TEN_MINUTES, seconds=600)
    monkeypatch.setattr(drawn_photos, "drawings", limit)


@pytest.fixture
def upload(browser: Client) -> Upload:
    """Add photos to a day, as the page's script does."""

    def send(*files: bytes, day: str = TODAY.isoformat(), headers: dict[str, str] = JSON) -> Any:
        sent = [SimpleUploadedFile(f"{number}.jpg", data) for number, data in enumerate(files)]
        return browser.post("/journal/photos/", {"day": day, "files": sent}, headers=headers)

    return send


def image_of(user: User, photo: Photo) -> Any:
    async def get() -> Any:
        client = AsyncClient()
        await client.aforce_login(user)
        return await client.get(f"/journal/photos/{photo.pk}/photo.webp")

    return async_to_sync(get)()


@pytest.mark.slow
def test_a_photo_is_stored_upright_and_small_without_camera_and_place(
    upload: Upload, browser: Client, person: User, disk_storage: Path
) -> None:
    original = jpeg((2600, 1300), orientation=6)
    assert CAMERA.encode() in original
    answer = upload(original)
    assert answer.status_code == HTTPStatus.OK
    photo = Photo.of(person.pk).get()
    assert answer.json() == {"photos": [{"id": photo.pk, "day": TODAY.isoformat(), "state": "added"}]}
    response = image_of(person, photo)
    assert (response["Content-Type"], response["X-Content-Type-Options"]) == ("image/webp", "nosniff")
    assert "no-store" in response["Cache-Control"]
    small = browser.get(f"/journal/photos/{photo.pk}/small.webp").content
    for data, size in ((response.content, (1000, 2000)), (small, (320, 640))):
        with Image.open(io.BytesIO(data)) as shown:
            assert (shown.format, shown.size, dict(shown.getexif())) == ("WEBP", size, {})
        assert CAMERA.encode() not in data
    assert (photo.width, photo.height) == (1000, 2000)
    stored = [path.read_bytes() for path in disk_storage.rglob("*") if path.is_file()]
    assert stored == [response.content], "nothing else is kept of the file"
    usage = FileUsage.of(person.pk).get()
    assert (usage.files, usage.bytes) == (1, len(response.content) + len(small))


@pytest.mark.slow
def test_the_same_file_is_one_photo_and_the_page_says_on_which_day(
    upload: Upload, person: User, browser: Client
) -> None:
    upload(jpeg())
    again = upload(jpeg(), day="2026-11-02").json()["photos"][0]
    assert (again["state"], again["day"]) == ("refused", TODAY.isoformat())
    assert again["reason"] == "You already have this photo. It’s on 18 November 2026."
    answer = upload(jpeg(), jpeg(colour="red"), headers={})
    assert (answer.status_code, answer["Location"]) == (HTTPStatus.SEE_OTHER, f"/journal/{TODAY}/#photos")
    page = page_of(browser, f"/journal/{TODAY}/")
    assert "1 photo added." in page
    assert "You already have this photo." in page
    assert Photo.of(person.pk).count() == 2


@pytest.mark.slow
def test_what_is_no_photo_gets_a_sentence_and_the_others_are_added(
    upload: Upload, person: User, settings: Settings
) -> None:
    settings.SAGE_MAX_UPLOAD_MB = 1
    wrong = (
        (b"not a picture", "This isn’t a photo that Sage can read."),
        (b"%PDF-1.7\n", "This isn’t a photo that Sage can read."),
        (jpeg()[:120], "damaged"),
        (b"", "This file is empty."),
        (b"\xff\xd8\xff" + bytes(1_500_000), "This photo has 1.4 MB. The limit is 1 MB."),
    )
    for data, said in wrong:
        answer = upload(data)
        assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert said in answer.json()["error"]
    assert upload().json()["error"] == "Choose at least one photo."
    answer = upload(b"not a picture", jpeg())
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    refused, added = answer.json()["photos"]
    assert refused == {"state": "refused", "reason": answer.json()["error"]}
    assert added["id"] == Photo.of(person.pk).get().pk


def test_files_over_the_limit_of_a_day_get_a_sentence_and_are_not_read(
    upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(photo_views, "MAX_OF_A_DAY", 1)
    reasons = [entry["reason"] for entry in upload(b"none", jpeg(), jpeg()).json()["photos"]]
    assert reasons[0].startswith("This isn’t a photo")
    assert reasons[1:] == ["You can add up to 1 photos at a time. Add the others when these are done."] * 2


async def test_a_photo_waits_for_its_person_s_turn_and_the_request_holds_no_slot_meanwhile() -> None:
    ticket, is_done = Ticket(InFlight()), threading.Event()
    ticket.count("person", 10)
    await ticket.begin()
    before = asyncio.create_task(in_turn(1, is_done.wait))
    await asyncio.sleep(0)
    current_ticket.set(ticket)
    photo = asyncio.create_task(drawn_photos.prepare_photo(jpeg(), user_id=1))
    done, _waiting = await asyncio.wait([photo], timeout=0.2)
    assert (done, ticket._has_slot) == (set(), False)
    is_done.set()
    await before
    assert (await photo).thumbnail
    assert ticket._has_slot


def test_photos_belong_to_days_that_have_begun(upload: Upload, browser: Client) -> None:
    for day in ("2026-11-19", "x", "", "1969-12-31"):
        assert upload(jpeg(), day=day).status_code == HTTPStatus.NOT_FOUND
    assert 'id="drop-files"' not in page_of(browser, "/journal/2026-11-19/")
    assert 'id="drop-files"' in page_of(browser, f"/journal/{TODAY}/")


def test_a_past_day_without_photos_has_a_button_instead_of_the_place_to_drop_them(
    upload: Upload, browser: Client
) -> None:
    fold = '<details class="fold photo-fold">'
    assert fold in page_of(browser, "/journal/2026-11-17/")
    assert fold not in page_of(browser, f"/journal/{TODAY}/")
    upload(jpeg(), day="2026-11-17")
    assert fold not in page_of(browser, "/journal/2026-11-17/")


def test_a_day_a_quota_and_ten_minutes_have_limits(
    upload: Upload, person: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(life_photos, "MAX_OF_A_DAY", 1)
    keep(person)
    answer = upload(jpeg())
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.json()["error"].startswith("A day can have at most 1 photos")
    settings.SAGE_MAX_FILES = 1
    with pytest.raises(QuotaReached, match="This account has 1 files"):
        keep(person, "two", day=TODAY.replace(day=2))
    monkeypatch.setattr(life_photos, "MAX_OF_A_DAY", 2)
    limit = AttemptLimit(attempts=1, seconds=600)
    monkeypatch.setattr(drawn_photos, "drawings", limit)
    limit.count(person.pk)
    answer = upload(jpeg())
    assert answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert answer["Retry-After"]


def test_a_description_is_what_somebody_who_cant_see_the_photo_hears(browser: Client, person: User) -> None:
    photo, _other = keep(person), keep(person, "two")
    address = f"/journal/photos/{photo.pk}/"
    page = page_of(browser, address)
    assert 'alt="Photo 1 of 2, 18 November 2026"' in page
    assert "Next photo" in page
    answer = browser.post(address, {"description": "The <lake> at dawn"})
    assert answer["Location"] == f"/journal/{TODAY}/#photo-{photo.pk}"
    for shown_at in (f"/journal/{TODAY}/", "/journal/", address):
        assert 'alt="The &lt;lake&gt; at dawn"' in page_of(browser, shown_at), shown_at
    too_long = browser.post(address, {"description": "x" * 501})
    assert too_long.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "x" * 501 in too_long.content.decode(), "what was typed stays"


def test_words_of_danger_in_a_description_show_the_card(browser: Client, person: User) -> None:
    photo = keep(person)
    browser.post(f"/journal/photos/{photo.pk}/", {"description": "I want to kill myself tonight."})
    assert 'id="safety-capture"' in page_of(browser, f"/journal/{TODAY}/")
    assert 'id="safety-capture"' not in page_of(browser, f"/journal/{TODAY}/")


def test_a_refused_description_with_words_of_danger_shows_the_card_at_once(
    browser: Client, person: User
) -> None:
    words = "I want to kill myself tonight. ".ljust(501, "x")
    answer = browser.post(f"/journal/photos/{keep(person).pk}/", {"description": words})
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert 'id="safety-capture"' in answer.content.decode()
    assert 'id="safety-capture"' not in page_of(browser, f"/journal/{TODAY}/")


def test_danger_in_a_description_is_remembered_until_it_is_edited_away(browser: Client, person: User) -> None:
    photo, zone = keep(person), ZoneInfo("Europe/Berlin")
    keep(person, "then", day=TODAY.replace(year=2025))
    address = f"/journal/photos/{photo.pk}/"

    def holds_offers() -> bool:
        return read_care(user_id=person.pk, now=NOON, zone=zone).holds_offers

    browser.post(address, {"description": "I want to kill myself tonight."})
    assert holds_offers()
    assert "A year ago today" not in page_of(browser, "/journal/")
    browser.post(address, {"description": "The lake"})
    assert not holds_offers()
    assert "A year ago today" in page_of(browser, "/journal/")
    Photo.of(person.pk).filter(day=TODAY.replace(year=2025)).update(danger_level="concern")
    assert "A year ago today" not in page_of(browser, "/journal/"), "what was recognised then counts"


def test_a_deleted_photo_is_gone_at_once(browser: Client, person: User, disk_storage: Path) -> None:
    photo, other = keep(person), keep(person, "two")
    answer = browser.post(f"/journal/photos/{photo.pk}/delete/")
    assert answer["Location"] == f"/journal/{TODAY}/#photos"
    assert [path.read_bytes() for path in disk_storage.rglob("*") if path.is_file()] == [b"RIFFtwo"]
    usage = FileUsage.of(person.pk).get()
    assert (usage.files, usage.bytes) == (1, other.size + len(b"small"))
    assert browser.post(f"/journal/photos/{photo.pk}/delete/").status_code == HTTPStatus.NOT_FOUND


def test_nobody_else_gets_a_photo(other_user: User, person: User) -> None:
    photo = keep(person)
    assert image_of(other_user, photo).status_code == HTTPStatus.NOT_FOUND
    theirs = browser_of(other_user)
    for what in ("", "small.webp"):
        answer = theirs.get(f"/journal/photos/{photo.pk}/{what}")
        assert answer.status_code == HTTPStatus.NOT_FOUND
    assert theirs.post(f"/journal/photos/{photo.pk}/delete/").status_code == HTTPStatus.NOT_FOUND
    assert Photo.of(person.pk).count() == 1


def test_the_journal_shows_photos_and_how_many_more_there_are(browser: Client, person: User) -> None:
    for number in range(6):
        keep(person, str(number), day=TODAY.replace(day=3))
    page = page_of(browser, "/journal/")
    assert page.count("/small.webp") == 4
    assert "2 more photos" in page
    assert re.search(r">3</time>.*?, photos</span>", page)
    day = page_of(browser, "/journal/2026-11-03/")
    assert day.count("/small.webp") == 6
    assert "No entries on this day." not in day


def test_photos_come_back_after_a_year_unless_their_words_speak_of_danger(
    browser: Client, person: User
) -> None:
    photo = keep(person, day=TODAY.replace(year=2025))
    page = page_of(browser, "/journal/")
    assert "A year ago today" in page
    assert f"/journal/photos/{photo.pk}/small.webp" in page
    assert "A year ago today" in page_of(browser, f"/journal/{TODAY}/")
    keep(person, "earlier", day=TODAY.replace(year=2025, day=17))
    assert "A year earlier" in page_of(browser, "/journal/2026-11-17/")
    Photo.of(person.pk).update(description="I want to kill myself.")
    assert "A year ago today" not in page_of(browser, "/journal/")


def test_an_archive_has_the_photos_and_their_descriptions(person: User) -> None:
    photo, lost = keep(person), keep(person, "two")
    Photo.of(person.pk).update(description="The lake")
    Photo.of(person.pk).filter(pk=lost.pk).update(storage_key="lost")
    with zipfile.ZipFile(io.BytesIO(b"".join(write_archive(person, now=NOON)))) as archive:
        found = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    assert found[f"photos/{TODAY}-{photo.pk}.webp"] == b"RIFFone"
    assert f"photos/{TODAY}-{lost.pk}.webp".encode() in found["photos/missing.md"]
    assert b"The lake" in found["data/photos.json"]
    assert photo.storage_key.encode() not in found["data/photos.json"]


def test_garbage_collection_keeps_photos_and_removes_what_has_no_row(
    person: User, disk_storage: Path
) -> None:
    keep(person)
    lost = keep(person, "two")
    Photo.of(person.pk).filter(pk=lost.pk).delete()
    stored_at = max(path.stat().st_mtime for path in disk_storage.rglob("*") if path.is_file())
    later = datetime.fromtimestamp(stored_at, UTC) + timedelta(hours=2)
    assert collect_garbage(now=later).removed == 1
    assert [path.read_bytes() for path in disk_storage.rglob("*") if path.is_file()] == [b"RIFFone"]
