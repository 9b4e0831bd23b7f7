"""A file is edited without JavaScript: saved, previewed, refused with the text kept."""

import html
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from coaching.files.drafts import MAX_CONTENT_CHARACTERS
from coaching.files.frontmatter import parse_file
from coaching.files.selectors import read_file
from coaching.files.types import ATTRIBUTE_ORDER
from coaching.life.pulse import store_ratings
from coaching.models import DayPlan, FileSource, FileType, LifeDomain, PulseRating, UserFileVersion
from coaching.views.file_form import FIELD_ORDER
from tests.browser.payloads import PAYLOADS
from tests.browsers import page_of
from tests.files.auditor import audit_files
from tests.pages.conftest import KeepFile
from tests.pages.file_pages import CAREER, Write, bodies, send, typed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]


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


def test_a_rating_that_contradicts_the_status_is_refused_at_its_field(
    signed_in: Client, user: User, write: Write
) -> None:
    write("One", status="thriving", updated_rating=5)
    response = send(signed_in, "Two", version=1, status="thriving", updated_rating="1")
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    page = response.content.decode()
    field = page[page.index('id="file-updated_rating"') :]
    assert "“Thriving” goes with 4 to 5." in field[: field.index('class="field"')]
    assert typed_in(page) == "Two"
    assert bodies(user) == ["One"]
    assert send(signed_in, "Two", version=1, status="in_crisis", updated_rating="1").status_code == 303


def test_the_editor_shows_and_saves_only_the_newer_part_of_a_contradiction(
    signed_in: Client, user: User, write: Write
) -> None:
    def facts() -> dict[str, object]:
        frontmatter = parse_file(read_file(user_id=user.pk, path="life-map/career.md").text)[0]
        return {name: frontmatter[name] for name in ("status", "updated_rating") if name in frontmatter}

    write("One", status="thriving", updated_rating=5)
    rated_at = timezone.now() + timedelta(hours=1)
    career = {LifeDomain.CAREER: 1}
    store_ratings(user_id=user.pk, ratings=career, note="", session_id=None, rated_at=rated_at)
    page = page_of(signed_in, f"{CAREER}/edit/")
    assert '<option value="" selected>Not set</option>' in page
    assert '<option value="1" selected>' in page
    assert send(signed_in, "Two", version=1, status="", updated_rating="1").status_code == 303
    assert bodies(user) == ["One", "Two"]
    assert facts() == {"updated_rating": 1}
    assert PulseRating.unscoped.count() == 2, "nothing was rated again"


def test_the_editor_begins_with_the_rating_that_the_page_shows(
    signed_in: Client, user: User, write: Write
) -> None:
    write("One", status="okay")
    career = {LifeDomain.CAREER: 3}
    store_ratings(user_id=user.pk, ratings=career, note="", session_id=None, rated_at=timezone.now())
    assert '<option value="3" selected>' in page_of(signed_in, f"{CAREER}/edit/")
    assert send(signed_in, "One", version=1, status="okay", updated_rating="3").status_code == 303
    assert bodies(user) == ["One"], "nothing changed"
    assert send(signed_in, "Two", version=1, status="okay", updated_rating="3").status_code == 303
    assert bodies(user) == ["One", "Two"]
    assert PulseRating.unscoped.count() == 1, "nothing was rated again"


def test_a_contradiction_of_an_imported_page_keeps_nobody_from_editing_the_text(
    signed_in: Client, user: User, keep_file: KeepFile
) -> None:
    keep_file("life-map/career.md", "---\nstatus: thriving\nupdated_rating: 1\n---\n\nOne\n")
    assert send(signed_in, "Two", version=1, status="thriving", updated_rating="1").status_code == 303
    text = read_file(user_id=user.pk, path="life-map/career.md").text
    assert text.endswith("status: thriving\nupdated_rating: 1\n---\n\nTwo\n")


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
        ("---\nstatus: good\n---\nText", "starts with a block"),
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
        ({"preview_line": "x" * 301}, "Up to 300 characters fit here."),
        ({"preview_line": "a\x00b"}, "has a character that can’t be stored"),
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
    assert b"Line 2: Up to 300 characters fit here." in page
    many = "\n".join(map(str, range(11)))
    page = signed_in.post(f"{address}/edit/", {"body": "Plan", "version": "1", "priorities": many}).content
    assert b"Up to 10 fit here; there are 11." in page


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
    assert "couldn’t be saved just now" in response.content.decode()
    assert typed_in(response.content.decode()) == "Two"
    assert UserFileVersion.unscoped.count() == 1


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
