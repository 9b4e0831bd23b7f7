"""Files without JavaScript: read, edited, compared, restored, downloaded."""

import html
import io
import re
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.http import HttpResponse
from django.test import AsyncClient, Client
from pytest_django import DjangoAssertNumQueries, Settings

from coaching.files.attributes import FileAttributes
from coaching.files.drafts import MAX_CONTENT_CHARACTERS, build_draft
from coaching.files.frontmatter import parse_file
from coaching.files.objects import store_object
from coaching.files.selectors import read_file
from coaching.files.store import store_version
from coaching.files.types import ATTRIBUTE_ORDER
from coaching.models import DayPlan, FileSource, FileType, Profile, PulseRating, UserFile, UserFileVersion
from coaching.views.file_form import FIELD_ORDER
from coaching.views.files import FILES_A_PAGE, SHOWN_IN_TREE
from sessions_app.database import in_database
from sessions_app.models import Session
from tests.browser.payloads import PAYLOADS
from tests.files.auditor import audit_files
from tests.pages.conftest import KeepFile

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
CAREER = "/files/life-map/career.md"
Write = Callable[..., str]


@pytest.fixture(autouse=True)
def storage(settings: Settings, tmp_path: Path) -> None:
    """Objects lie in the test's own folder."""
    default = {**settings.STORAGES["default"]}
    default["OPTIONS"] = {**default["OPTIONS"], "location": tmp_path / "files"}
    settings.STORAGES = {**settings.STORAGES, "default": default}


@pytest.fixture
def write(user: User) -> Write:
    """Write a file's version as Sage does, and return its URL."""

    def write_one(content: str, file_type: FileType = FileType.DOMAIN, **given: Any) -> str:
        source, session_id = given.pop("source", FileSource.TOOL), given.pop("session_id", None)
        name = given.pop("name", "career" if file_type == FileType.DOMAIN else None)
        draft = build_draft(
            file_type=file_type,
            file_name=name,
            content=content,
            attributes=FileAttributes.model_validate(given),
            now=NOW,
            timezone=ZoneInfo("UTC"),
        )
        stored = store_version(
            user_id=user.pk,
            draft=draft,
            stored=async_to_sync(store_object)(user_id=user.pk, data=draft.data),
            source=source,
            session_id=session_id,
        )
        return f"/files/{stored.path}"

    return write_one


def page_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


def send(client: Client, body: str, *, version: int, do: str = "save", **fields: Any) -> HttpResponse:
    response = client.post(f"{CAREER}/edit/", {"body": body, "version": version, "do": do, **fields})
    assert isinstance(response, HttpResponse)
    return response


def bodies(user: User, path: str = "life-map/career.md") -> list[str]:
    return [text.splitlines()[-1] for text in audit_files(user.pk)[path]]


def typed_in(page: str, name: str = "body") -> str:
    found = re.search(rf'<textarea name="{name}"[^>]*>\r?\n(.*?)</textarea>', page, re.DOTALL)
    assert found, page
    return found[1]


def test_the_tree_names_folders_and_types_and_shows_the_newest_days(
    signed_in: Client, keep_file: KeepFile
) -> None:
    for month, day in ((9, 3), (10, 5), (10, 6), *((11, day) for day in range(1, 15))):
        file = keep_file(f"daily-logs/2026-{month:02}-{day:02}.md", "x")
        UserFile.unscoped.filter(pk=file.pk).update(file_type=FileType.DAILY_LOG)
    keep_file("life-map/career.md", "x")
    page = page_of(signed_in, "/files/")
    assert page.index("<bdi>Daily logs") < page.index("<bdi>Life map")
    assert "Life domain" in page
    assert page.index("Saturday, 14 November 2026") < page.index("Thursday, 5 November 2026")
    assert "6 October 2026" not in page
    assert 'href="/files/?folder=daily-logs">All 17 in Daily logs' in page
    whole = page_of(signed_in, "/files/?folder=daily-logs")
    months = re.findall(r'<h2 class="month-name">(.*?)</h2>', whole)
    assert months == ["November 2026", "October 2026", "September 2026"]
    assert "Tuesday, 6 October 2026" in whole
    for nothing in ("none", "life-map/career.md", "", "\x00", "a" * 500):
        assert signed_in.get("/files/", {"folder": nothing}).status_code == HTTPStatus.NOT_FOUND


def test_an_edit_is_saved_as_the_users_own_version(signed_in: Client, user: User, write: Write) -> None:
    write("Sage wrote this.", status="okay", updated_rating=3)
    page = page_of(signed_in, f"{CAREER}/edit/")
    assert typed_in(page) == "Sage wrote this."
    assert '<option value="okay" selected>Okay</option>' in page
    response = send(signed_in, "I wrote\r\nthis.", version=1, status="good", updated_rating="4")
    assert response.status_code == HTTPStatus.SEE_OTHER
    assert response["Location"] == f"{CAREER}#saved"
    newest = read_file(user_id=user.pk, path="life-map/career.md")
    assert (newest.version.number, newest.version.source) == (2, FileSource.USER)
    assert newest.text.endswith("\nstatus: good\nupdated_rating: 4\n---\n\nI wrote\nthis.\n")
    assert PulseRating.unscoped.order_by("-pk").values_list("rating", flat=True)[0] == 4
    assert "Saved as version 2." in page_of(signed_in, CAREER)


def test_an_edited_day_plan_is_the_plan_of_the_day(signed_in: Client, write: Write) -> None:
    address = write("Plan", FileType.DAY_PLAN, intention="Slow", priorities=["Walk", "Write"])
    form = {"body": "Plan", "version": "1", "intention": "Fast", "priorities": "Write\r\n\r\nRest"}
    assert signed_in.post(f"{address}/edit/", form).status_code == HTTPStatus.SEE_OTHER
    plan = DayPlan.unscoped.get()
    assert (plan.intention, [one["text"] for one in plan.priorities]) == ("Fast", ["Write", "Rest"])


def test_saving_without_a_change_makes_no_version(signed_in: Client, user: User, write: Write) -> None:
    write("One", status="okay")
    assert send(signed_in, "One\r\n", version=1, status="okay").status_code == HTTPStatus.SEE_OTHER
    assert "No changes to save." in page_of(signed_in, CAREER)
    assert bodies(user) == ["One"]


def test_a_preview_needs_no_script_and_saves_nothing(signed_in: Client, user: User, write: Write) -> None:
    write("One")
    page = send(signed_in, "A *new* text <script>", version=1, do="preview", status="good").content.decode()
    assert "<p>A <em>new</em> text &lt;script&gt;</p>" in page
    assert typed_in(page) == "A *new* text &lt;script&gt;"
    assert '<option value="good" selected>' in page
    assert 'name="version" value="1"' in page
    assert bodies(user) == ["One"]
    piece = signed_in.post(f"{CAREER}/preview/", {"body": "**so**"}).content.decode()
    assert piece.strip() == '<div class="prose" hx-disable><p><strong>so</strong></p>\n</div>'
    assert signed_in.get(f"{CAREER}/preview/").status_code == HTTPStatus.METHOD_NOT_ALLOWED


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x" * (MAX_CONTENT_CHARACTERS + 1), "100,001 characters; 100,000 is the most"),
        ("with \x00 in it", "character 6 is NUL"),
        ("---\nstatus: good\n---\nText", "begins with a block"),
    ],
)
def test_a_text_that_cannot_be_stored_stays_on_the_page_with_the_reason(
    signed_in: Client, user: User, write: Write, body: str, message: str
) -> None:
    write("One")
    response = send(signed_in, body, version=1)
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = response.content.decode()
    assert message in page
    assert typed_in(page) == body
    assert bodies(user) == ["One"]
    preview = send(signed_in, body, version=1, do="preview")
    assert preview.status_code == HTTPStatus.OK
    assert typed_in(preview.content.decode()) == body


def test_the_longest_text_in_any_script_is_saved(signed_in: Client, user: User, write: Write) -> None:
    write("One")
    body = "\U0001f33f" * MAX_CONTENT_CHARACTERS
    assert send(signed_in, body, version=1).status_code == HTTPStatus.SEE_OTHER
    assert bodies(user) == ["One", body]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"preview_line": "x" * 301}, "At most 300 characters fit here."),
        ({"preview_line": "a\x00b"}, "Character 2 is NUL (U+0000)"),
        ({"updated_rating": "9"}, "9 is not one of the available choices"),
        ({"status": "splendid"}, "splendid is not one of the available choices"),
    ],
)
def test_an_attribute_that_does_not_fit_is_named_and_everything_stays(
    signed_in: Client, user: User, write: Write, fields: dict[str, str], message: str
) -> None:
    write("One")
    response = send(signed_in, "Two", version=1, **fields)
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = response.content.decode()
    assert message in page
    assert typed_in(page) == "Two"
    assert bodies(user) == ["One"]


def test_a_list_says_which_of_its_lines_does_not_fit(signed_in: Client, write: Write) -> None:
    address = write("Plan", FileType.DAY_PLAN)
    long = f"Walk\n{'x' * 301}"
    page = signed_in.post(f"{address}/edit/", {"body": "Plan", "version": "1", "priorities": long}).content
    assert b"Line 2: At most 300 characters fit here." in page
    many = "\n".join(map(str, range(11)))
    page = signed_in.post(f"{address}/edit/", {"body": "Plan", "version": "1", "priorities": many}).content
    assert b"At most 10 fit here; there are 11." in page


def test_what_was_not_sent_at_all_stays(signed_in: Client, user: User, write: Write) -> None:
    write("One", status="okay", preview_line="One-line summary")
    for form in ({}, {"version": "1"}, {"do": "save", "version": "1", "status": "good"}):
        response = signed_in.post(f"{CAREER}/edit/", form)
        assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert typed_in(response.content.decode()) == "One"
    assert bodies(user) == ["One"]
    send(signed_in, "Two", version=1, preview_line="")
    frontmatter = read_file(user_id=user.pk, path="life-map/career.md").file.frontmatter
    assert frontmatter["status"] == "okay"
    assert "preview_line" not in frontmatter


def test_every_attribute_has_its_field() -> None:
    assert sorted(FIELD_ORDER) == sorted(ATTRIBUTE_ORDER)


def test_boxes_that_are_not_ticked_are_taken_back(signed_in: Client, user: User, write: Write) -> None:
    address = write("Log", FileType.DAILY_LOG, domains_touched=["career", "play"])
    form = {"body": "Log", "version": "1", "energy": "", "domains_touched": ["play", "health"]}
    signed_in.post(f"{address}/edit/", form)
    signed_in.post(f"{address}/edit/", {"body": "Mended", "version": "2"})
    path = address.removeprefix("/files/")
    assert read_file(user_id=user.pk, path=path).file.frontmatter["domains_touched"] == ["play", "health"]
    signed_in.post(f"{address}/edit/", {"body": "Mended", "version": "3", "energy": ""})
    assert "domains_touched" not in read_file(user_id=user.pk, path=path).file.frontmatter


def test_what_no_field_stands_for_survives_an_edit(
    signed_in: Client, user: User, write: Write, keep_file: KeepFile
) -> None:
    keep_file("life-map/career.md", "---\ntype: domain\norigin: [old, app]\n---\n\nOne\n")
    assert send(signed_in, "Two", version=1).status_code == HTTPStatus.SEE_OTHER
    assert "origin:\n- old\n- app\n" in read_file(user_id=user.pk, path="life-map/career.md").text


def test_when_sage_wrote_meanwhile_both_texts_are_shown_and_either_choice_keeps_both(
    signed_in: Client, user: User, write: Write
) -> None:
    write("One line.")
    write("Sage's line.", status="good")
    response = send(signed_in, "My own line.", version=1)
    assert response.status_code == HTTPStatus.CONFLICT
    page = response.content.decode()
    assert "Sage changed this file while you were writing" in page
    assert "<del>Sage&#x27;s</del>" in page
    assert typed_in(page) == "My own line."
    assert bodies(user) == ["One line.", "Sage's line."]
    assert '<option value="good" selected>' in page, "what only Sage changed is taken over"
    assert "<ins>Status: Good</ins>" in page
    send(signed_in, "My own line.", version=2, mine="My own line.", status="good")
    assert bodies(user) == ["One line.", "Sage's line.", "My own line."]


def test_a_user_who_lets_sages_text_hold_has_their_own_among_the_versions(
    signed_in: Client, user: User, write: Write
) -> None:
    write("One")
    write("Sage's")
    send(signed_in, "Mine", version=1)
    response = send(signed_in, "Mine, changed on the page", version=2, mine="Mine", do="aside")
    assert response.status_code == HTTPStatus.SEE_OTHER
    assert bodies(user) == ["One", "Sage's", "Mine", "Sage's"]
    page = page_of(signed_in, CAREER)
    assert "Your text is saved as version 3." in page
    assert "same as version 2" in page


def test_changes_of_different_places_are_offered_together(
    signed_in: Client, user: User, write: Write
) -> None:
    base = "First.\n\nSecond.\n\nThird."
    write(base)
    write(base + "\n\nSage adds a fourth.")
    mine = base.replace("First.", "First, in my words.")
    page = send(signed_in, mine, version=1).content.decode()
    assert typed_in(page) == "First, in my words.\n\nSecond.\n\nThird.\n\nSage adds a fourth."
    assert "Save merged text" in page
    assert "<ins>, in my words</ins>" in page
    assert "<ins>Sage adds a fourth.</ins>" in page
    send(signed_in, "ignored", version=2, mine=mine, do="mine")
    assert read_file(user_id=user.pk, path="life-map/career.md").text.endswith(f"\n{mine}\n")


def test_a_third_writer_brings_the_question_back(signed_in: Client, user: User, write: Write) -> None:
    for text in ("One", "Two", "Three"):
        write(text)
    for do in ("save", "mine", "aside"):
        response = send(signed_in, "Mine", version=2, mine="Mine", do=do)
        assert response.status_code == HTTPStatus.CONFLICT, do
        assert 'name="version" value="3"' in response.content.decode()
    assert bodies(user) == ["One", "Two", "Three"]


@pytest.mark.parametrize("version", ["", "x", "-1", "0", "99", "9" * 40, "\u0661"])
def test_a_text_over_no_known_version_is_asked_about(
    signed_in: Client, user: User, write: Write, version: str
) -> None:
    write("One")
    response = signed_in.post(f"{CAREER}/edit/", {"body": "Mine", "version": version})
    assert response.status_code == HTTPStatus.CONFLICT
    assert typed_in(response.content.decode()) == "Mine"
    assert bodies(user) == ["One"]


def test_somebody_who_changed_nothing_isnt_asked(signed_in: Client, user: User, write: Write) -> None:
    write("One")
    write("Two")
    assert send(signed_in, "One", version=1).status_code == HTTPStatus.SEE_OTHER
    assert "This is the current text" in page_of(signed_in, CAREER)
    assert bodies(user) == ["One", "Two"]


@pytest.mark.django_db(transaction=True)
def test_a_tab_and_sage_at_once_lose_nothing(signed_in: Client, user: User, write: Write) -> None:
    write("Begin")
    cookie = signed_in.cookies["sessionid"].value

    def as_user(number: int) -> tuple[str, int]:
        try:
            tab = Client()
            tab.cookies["sessionid"] = cookie
            version = read_file(user_id=user.pk, path="life-map/career.md").version.number
            return f"User {number}", send(tab, f"User {number}", version=version).status_code
        finally:
            connections.close_all()

    def as_sage(number: int) -> tuple[str, int]:
        try:
            write(f"Sage {number}")
            return f"Sage {number}", HTTPStatus.SEE_OTHER
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        running = [threads.submit(do, number) for number in range(8) for do in (as_user, as_sage)]
        outcomes = [one.result() for one in running]
    assert {status for _, status in outcomes} <= {HTTPStatus.SEE_OTHER, HTTPStatus.CONFLICT}
    saved = [text for text, status in outcomes if status == HTTPStatus.SEE_OTHER]
    assert sorted(bodies(user)) == sorted(["Begin", *saved])


def test_a_storage_that_fails_says_so_and_keeps_the_text_on_the_page(
    signed_in: Client, user: User, write: Write, settings: Settings, tmp_path: Path
) -> None:
    write("One")
    (tmp_path / "no-folder").write_text("in the way")
    default = {**settings.STORAGES["default"]}
    default["OPTIONS"] = {**default["OPTIONS"], "location": tmp_path / "no-folder"}
    settings.STORAGES = {**settings.STORAGES, "default": default}
    response = send(signed_in, "Two", version=1)
    assert response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert "could not be stored just now" in response.content.decode()
    assert typed_in(response.content.decode()) == "Two"
    assert UserFileVersion.unscoped.count() == 1


def test_versions_say_who_when_and_where(
    signed_in: Client, user: User, other_user: User, session: Session, write: Write
) -> None:
    Profile.unscoped.create(user=user, timezone="Asia/Tokyo")
    Session.unscoped.filter(pk=session.pk).update(title="A talk \u202eabout work")
    write("One", session_id=session.pk)
    write("Two", source=FileSource.IMPORT)
    send(signed_in, "Three", version=2)
    UserFileVersion.unscoped.update(created_at=datetime(2026, 11, 21, 20, 30, tzinfo=UTC))
    page = page_of(signed_in, f"{CAREER}/versions/")
    assert re.findall(r'<span class="quiet">([^<]+)</span>', page)[:3] == ["You", "An import", "Sage"]
    assert "22 November 2026, 05:30" in page
    assert f'<a href="/chat/{session.pk}/"><bdi>A talk about work</bdi></a>' in page
    assert "\u202e" not in page
    Session.unscoped.filter(pk=session.pk).update(user=other_user)
    assert str(session.pk) not in page_of(signed_in, f"{CAREER}/versions/")


def test_many_versions_come_in_pages(signed_in: Client, keep_file: KeepFile) -> None:
    keep_file("life-map/career.md", *(f"Text {number}" for number in range(120)))
    first = page_of(signed_in, f"{CAREER}/versions/")
    assert first.count('<li class="version">') == 50
    assert "?page=2" in first
    last = page_of(signed_in, f"{CAREER}/versions/?page=3")
    assert last.count('<li class="version">') == 20
    assert "?page=4" not in last
    for page in ("4", "0", "x", "-1", "99999999999"):
        assert signed_in.get(f"{CAREER}/versions/?page={page}").status_code == HTTPStatus.NOT_FOUND
    assert page_of(signed_in, CAREER).count('<li class="version">') == 6


def test_any_two_versions_are_compared_without_colour_alone(signed_in: Client, write: Write) -> None:
    for text in ("I walk.\n\nI rest.", "I run.\n\nI rest.", "I run.\n\nI rest.\n\nI <b>sleep</b>."):
        write(text)
    page = page_of(signed_in, f"{CAREER}/difference/")
    assert "<ins>I &lt;b&gt;sleep&lt;/b&gt;.</ins>" in page
    assert "0 lines removed, 2 added" in page
    page = page_of(signed_in, f"{CAREER}/difference/?from=1&to=3")
    assert '<span class="visually-hidden">Removed: </span>' in page
    assert "I <del>walk</del>." in page
    assert "I <ins>run</ins>." in page
    back = page_of(signed_in, f"{CAREER}/difference/?from=3&to=1")
    assert "I <ins>walk</ins>." in back
    assert "The two versions are the same." in page_of(signed_in, f"{CAREER}/difference/?from=2&to=2")
    for query in ("from=0", "to=4", "from=x&to=1", "from=1&to=%00", "to=99999999999", "from=-1"):
        assert signed_in.get(f"{CAREER}/difference/?{query}").status_code == HTTPStatus.NOT_FOUND


def test_a_comparison_that_takes_too_long_is_said(signed_in: Client, keep_file: KeepFile) -> None:
    texts = ("\n".join(str((number * step) % 101) for number in range(35_000)) for step in (7, 11))
    keep_file("life-map/career.md", *texts)
    page = page_of(signed_in, f"{CAREER}/difference/")
    assert "too long and too different" in page or "fit on this page" in page


def test_an_older_version_is_brought_back_as_a_new_one(signed_in: Client, user: User, write: Write) -> None:
    write("One")
    write("Two")
    response = signed_in.post(f"{CAREER}/restore/", {"version": "1"})
    assert response.status_code == HTTPStatus.SEE_OTHER
    assert "Version 1 was restored as version 3" in page_of(signed_in, CAREER)
    assert bodies(user) == ["One", "Two", "One"]
    signed_in.post(f"{CAREER}/restore/", {"version": "3"})
    assert "already the same as version 3" in page_of(signed_in, CAREER)
    for version in ("0", "9", "x", "", "\u0663"):
        assert signed_in.post(f"{CAREER}/restore/", {"version": version}).status_code == HTTPStatus.NOT_FOUND
    assert signed_in.get(f"{CAREER}/restore/").status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert bodies(user) == ["One", "Two", "One"]


def test_a_version_that_there_is_no_room_for_is_refused_with_a_page(
    signed_in: Client, write: Write, settings: Settings
) -> None:
    write("First.")
    write("Second.")
    settings.SAGE_MAX_FILES_MB = 0
    response = signed_in.post(f"{CAREER}/restore/", {"version": "1"})
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    page = response.content.decode()
    assert "Not enough space" in page
    assert "so nothing was saved. Ask the person who runs this Sage for more space." in page
    assert f'href="{CAREER}"' in page
    settings.SAGE_MAX_FILES_MB = 1
    assert "Second." in page_of(signed_in, CAREER)


@pytest.mark.parametrize("ending", ["edit/", "versions/", "difference/"])
@pytest.mark.parametrize(
    "path", ["..", "%2e%2e", "../../etc/passwd", "a%00b.md", "%ff", "%ed%a0%80.md", "/", "a" * 3000]
)
def test_a_strange_path_is_a_missing_page(signed_in: Client, write: Write, path: str, ending: str) -> None:
    write("One")
    assert signed_in.get(f"/files/{path}/{ending}").status_code == HTTPStatus.NOT_FOUND
    for acting in ("edit", "preview", "restore"):
        response = signed_in.post(f"/files/{path}/{acting}/", {"body": "x", "version": "1"})
        assert response.status_code == HTTPStatus.NOT_FOUND


def test_marks_of_direction_stay_inside_what_they_stand_in(signed_in: Client, keep_file: KeepFile) -> None:
    file = keep_file("odd/\u202eevil.md", "---\ntype: domain\nfor\u202e: x\n---\n\n\u202eturned\n")
    UserFile.unscoped.filter(pk=file.pk).update(frontmatter={"preview_line": "seen \u202eturned"})
    listed = page_of(signed_in, "/files/")
    assert "\u202e" not in re.sub(r'href="[^"]*"', "", listed)
    page = page_of(signed_in, f"/files/{file.path}")
    title = re.search(r"<title>(.*?)</title>", page)
    assert title
    assert title[1] == "Evil · Sage"
    assert "\u202e" not in page[: page.index('<div class="prose"')].replace(file.path, "")
    disposition = signed_in.get(f"/files/{file.path}?download=1")["Content-Disposition"]
    assert disposition == 'attachment; filename="odd-_evil.md"'


async def zip_of(user: User, query: str = "") -> zipfile.ZipFile:
    client = AsyncClient()
    await in_database(client.force_login, user)
    response = await client.get(f"/files/all.zip{query}")
    assert response.status_code == HTTPStatus.OK
    assert response["Content-Type"] == "application/zip"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert re.fullmatch(r'attachment; filename="sage-files-[0-9-]{10}\.zip"', response["Content-Disposition"])
    data = b"".join([part async for part in response.streaming_content])  # type: ignore[attr-defined]
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
    folder = f"sage-files-{datetime.now(ZoneInfo('Asia/Tokyo')):%Y-%m-%d}"
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


def test_no_page_of_a_file_has_script_or_style_inside(signed_in: Client, write: Write) -> None:
    write("One")
    write("Two", status="good")
    pages = [page_of(signed_in, f"{CAREER}{end}") for end in ("", "?view=raw", "?version=1")]
    pages += [page_of(signed_in, f"{CAREER}/{end}/") for end in ("edit", "versions", "difference")]
    pages.append(send(signed_in, "Mine", version=1).content.decode())
    for page in pages:
        assert not re.search(r"<script(?![^>]*\ssrc=)", page)
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page)


def test_a_tree_of_ten_thousand_files_is_small_and_quick_and_each_file_can_be_found(
    signed_in: Client, user: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Profile.unscoped.create(user=user)
    UserFile.unscoped.bulk_create(
        UserFile(
            user=user,
            path=f"captures/{2000 + number // 360}-{1 + number // 30 % 12:02}-{1 + number % 30:02}-120000.md",
            file_type=FileType.CAPTURE,
        )
        for number in range(9_900)
    )
    UserFile.unscoped.bulk_create(
        UserFile(user=user, path=f"loose/{number:03}.md", file_type=FileType.OVERVIEW)
        for number in range(100)
    )
    page_of(signed_in, "/files/")
    began = time.process_time()
    with django_assert_num_queries(4):
        page = page_of(signed_in, "/files/")
    assert time.process_time() - began < 1.0
    assert page.count('class="ledger-row"') == 2 * SHOWN_IN_TREE
    assert len(page) < 30_000
    assert re.findall(r'href="/files/(loose/.*?)"', page)[:2] == ["loose/000.md", "loose/001.md"]
    found = set()
    for number in range(1, 9_900 // FILES_A_PAGE + 1):
        part = page_of(signed_in, f"/files/?folder=captures&page={number}")
        found |= set(re.findall(r'href="/files/(captures/.*?)"', part))
    assert len(found) == 9_900
    assert signed_in.get("/files/?folder=captures&page=100").status_code == HTTPStatus.NOT_FOUND


STRANGE = [
    "\x01\x1b[31m", "\u202e\u2066", "\ufeff", "\ufffe\uffff", "a\u2028b\u2029c\x85d", "\t\r\r\n",
    "'); DROP TABLE--", "%s %(a)s {0}", "{{ 1 }}{% csrf_token %}", "- a: &x\n- *x",
    "!!python/object:os.system", "key: [", "---", "...", "null", "~", "yes", "1e999", "0x10", "2026-02-30",
    "e\u0301\u0327" * 50, "\U0001f468\u200d\U0001f469\u200d\U0001f467",
]  # fmt: skip


@pytest.mark.parametrize("text", [*STRANGE, *PAYLOADS[::4]])
def test_any_string_in_any_field_is_stored_as_it_is_or_refused(
    signed_in: Client, user: User, write: Write, text: str
) -> None:
    write("One")
    body = f"{text} in the body {text}"
    response = send(signed_in, body, version=1, preview_line=f"{text} in a line")
    body = body.replace("\r\n", "\n")
    if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
        assert html.unescape(typed_in(response.content.decode())).replace("\r\n", "\n") == body
        return
    assert response.status_code == HTTPStatus.SEE_OTHER
    stored = read_file(user_id=user.pk, path="life-map/career.md")
    assert parse_file(stored.text)[1] == f"{body.strip()}\n"
    assert stored.file.frontmatter["preview_line"] == " ".join(f"{text} in a line".split())
    assert audit_files(user.pk)
    for end in ("", "?view=raw", "/edit/", "/versions/", "/difference/", "?download=1"):
        assert signed_in.get(f"{CAREER}{end}").status_code == HTTPStatus.OK
