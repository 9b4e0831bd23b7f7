"""One moment has one date, on every page and in every download: that of the person's day, until 04:00."""

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.utils.html import strip_tags
from pytest_django import Settings

from coaching.files.safety_plans import PLAN_PATH
from coaching.inbox.place import place_of
from coaching.library.clients import own_client
from coaching.life.captures import keep_capture
from coaching.life.pulse import store_ratings
from coaching.models import (
    ActionItem,
    DocumentState,
    EffectKind,
    FileType,
    Import,
    ImportState,
    InboxMail,
    InboxRefusal,
    KnowledgeEntry,
    LibraryEffect,
    LifeDomain,
    MadeBy,
    Profile,
    PushDevice,
    StepChange,
    UserFile,
)
from coaching.personal_data.archive import write_archive
from sessions_app.database import in_database
from sessions_app.import_metadata import IMPORT_KEY
from tests.browsers import sign_in_confirmed
from tests.calendar.conftest import source_of
from tests.library.rows import make_document
from tests.pages.conftest import KeepFile
from tests.recall.history import talk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]

ZONES = ("Europe/Berlin", "America/Los_Angeles", "Pacific/Auckland")
"""At 01:30 there, UTC's day is the calendar's, the calendar's, and the person's."""
BY_CALENDAR = re.compile(r"\b22 Nov(?:ember)?\b|2026-11-22")
PERSONS_DAY = re.compile(r"\b21 Nov(?:ember)?\b|2026-11-21")


def night_in(zone: str) -> datetime:
    """Return 01:30 in the night that follows Saturday, 21 November."""
    return datetime(2026, 11, 22, 1, 30, tzinfo=ZoneInfo(zone))


@pytest.fixture(params=ZONES)
def night(request: pytest.FixtureRequest, user: User, settings: Settings) -> Iterator[datetime]:
    """It is 01:30, and the clock stands still."""
    settings.SAGE_INBOX = place_of("imaps://sage%40in.example:password@mail.example/")
    zone: str = request.param
    Profile.unscoped.create(user=user, name="Ada", timezone=zone, next_checkin_on=date(2026, 11, 27))
    with time_machine.travel(night_in(zone), tick=False):
        yield night_in(zone)


def live_at(night: datetime, user: User, keep_file: KeepFile) -> dict[str, object]:
    """Make one of everything that has a date; return the ids that pages are named by."""
    zone = Profile.of(user.pk).get().zone
    session = talk(user, "A kingfisher by the river", "Which river was it?")
    keep_capture(user_id=user.pk, text="A heron", client_id="", now=night, timezone=zone)
    keep_file("life-map/career.md", "Work.", "Work is fine, said the kingfisher.")
    keep_file(PLAN_PATH, "## Warning signs\n\nNone.")
    UserFile.of(user.pk).filter(path=PLAN_PATH).update(file_type=FileType.SAFETY_PLAN)
    UserFile.of(user.pk).create(
        path="notes/gone.md", title="Gone", file_type=FileType.NOTE, version_number=1, deleted_at=night
    )
    store_ratings(
        user_id=user.pk, ratings={LifeDomain.PLAY: 2}, note="", session_id=session.id, rated_at=night
    )
    source_of(user, read_at=night, tried_at=night, next_try_at=night, expanded_on=date(2026, 11, 21))
    PushDevice.unscoped.create(user=user, endpoint="https://push.example/x", name="A phone")
    row = Import.of(user.pk).create(file_name="chatgpt.zip", state=ImportState.FINISHED)
    imported = talk(user, "A cormorant")
    imported.metadata = {IMPORT_KEY: row.pk, "imported_id": "1"}
    imported.save()
    InboxRefusal.of(user.pk).create(day=date(2026, 11, 21), reason="sender", count=3)
    return {"session": session.id, "imported": imported.id, **fill_library(night, user, row)}


def fill_library(night: datetime, user: User, row: Import) -> dict[str, object]:
    own = own_client(user.pk)
    place: dict[str, Any] = {"client": own}
    document = make_document(own, "lease.pdf", text="A kingfisher.", made_by_import=row)
    make_document(own, "letter.pdf", state=DocumentState.REVIEW)
    entry = KnowledgeEntry.of(user.pk).create(**place, title="Rent", content="900")
    step = ActionItem.of(user.pk).create(**place, title="Call Anna", state="done", done_at=night)
    StepChange.of(user.pk).create(action_item=step, kind="done", at=night)
    LibraryEffect.of(user.pk).create(
        document=document,
        kind=EffectKind.RENAMED,
        made_by=MadeBy.USER,
        before={"name": "a.pdf"},
        after={"name": "lease.pdf"},
    )
    InboxMail.of(user.pk).create(document=document, size=10, uid_validity=1, uid=1, taken_at=night)
    return {"document": document.pk, "entry": entry.pk, "step": step.pk}


PAGES = (
    "/",
    "/capture/",
    "/chat/",
    "/chat/{session}/",
    "/chat/{imported}/",
    "/files/",
    "/files/?folder=captures",
    "/files/?q=kingfisher",
    "/files/captures/2026-11-21-013000.md",
    "/files/life-map/career.md?version=1",
    "/files/life-map/career.md/versions/",
    "/files/life-map/career.md/difference/?from=1&to=2",
    "/files/deleted/",
    "/journal/?month=2026-11",
    "/journal/2026-11-21/",
    "/library/",
    "/library/review/",
    "/library/knowledge/",
    "/library/knowledge/{entry}/",
    "/library/documents/{document}/",
    "/library/actions/{step}/",
    "/map/",
    "/safety/plan/",
    "/search/?q=kingfisher",
    "/settings/calendar/",
    "/settings/import/",
    "/settings/library/",
    "/settings/reminders/",
)

WITH_TIMES_ONLY = {"/capture/"}
"""Where what happened today has its time and no date."""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_at_half_past_one_a_moment_has_one_date_on_all_pages(
    signed_in: Client, user: User, keep_file: KeepFile, night: datetime
) -> None:
    ids = live_at(night, user, keep_file)
    only_times = set()
    for address in PAGES:
        response = signed_in.get(address.format(**ids))
        assert response.status_code == 200, address
        _, _, main = response.content.decode().partition("<main")
        words = strip_tags(main)
        assert not BY_CALENDAR.search(words), (address, BY_CALENDAR.findall(words))
        if not PERSONS_DAY.search(words):
            assert "01:30" in words, address
            only_times.add(address)
    assert only_times == WITH_TIMES_ONLY
    grouped = strip_tags(signed_in.get("/chat/sidebar/", headers={"HX-Request": "true"}).content.decode())
    assert "Today" in grouped
    assert "Yesterday" not in grouped


def test_at_half_past_one_the_archive_is_of_the_persons_day(
    user: User, keep_file: KeepFile, night: datetime
) -> None:
    session = talk(user, "A kingfisher", "Which river?")
    with zipfile.ZipFile(io.BytesIO(b"".join(write_archive(user, now=night)))) as archive:
        pages = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".md")}
    start = "sage-export-2026-11-21"
    said = f"{start}/conversations/2026-11-21-open-conversation-{str(session.id)[:8]}.md"
    assert "## Saturday, 21 November 2026\n\n### You, 01:30\n" in pages[said]
    assert "Exported on Saturday, 21 November 2026 at 01:30" in pages[f"{start}/README.md"]
    assert not any(BY_CALENDAR.search(name + text) for name, text in pages.items())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("address", "name"), [("/settings/export/", "sage-export"), ("/files/all.zip", "sage-files")]
)
async def test_at_half_past_one_a_download_is_named_by_the_persons_day(
    user: User, address: str, name: str
) -> None:
    await in_database(Profile.unscoped.create, user=user, timezone="America/Los_Angeles")
    browser = AsyncClient()
    with time_machine.travel(night_in("America/Los_Angeles"), tick=False):
        await in_database(sign_in_confirmed, browser, user)
        is_form = address.startswith("/settings/")
        response = await (browser.post(address) if is_form else browser.get(address))
    assert response["Content-Disposition"] == f'attachment; filename="{name}-2026-11-21.zip"'
    response.close()


def test_settings_say_until_when_a_day_lasts(signed_in: Client) -> None:
    assert "Your day lasts until 04:00" in signed_in.get("/settings/").content.decode()
