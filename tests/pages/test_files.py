"""Files without JavaScript: the tree, and paths and texts that are unusual."""

import re
import time
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from coaching.models import FileType, Profile, UserFile
from coaching.views.files import FILES_A_PAGE, SHOWN_IN_TREE
from tests.browsers import page_of
from tests.pages.conftest import KeepFile
from tests.pages.file_pages import CAREER, Write, send
from tests.thoroughness import size

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]


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
    assert page.index("Saturday, 14 November 2026") < page.index("Monday, 9 November 2026")
    assert "6 October 2026" not in page
    assert 'href="/files/?folder=daily-logs">All 17 in Daily logs' in page
    whole = page_of(signed_in, "/files/?folder=daily-logs")
    months = re.findall(r'<h2 class="month-name">(.*?)</h2>', whole)
    assert months == ["November 2026", "October 2026", "September 2026"]
    assert "Tuesday, 6 October 2026" in whole
    for nothing in ("none", "life-map/career.md", "", "\x00", "a" * 500):
        assert signed_in.get("/files/", {"folder": nothing}).status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(
    "path", ["..", "%2e%2e", "../../etc/passwd", "a%00b.md", "%ff", "%ed%a0%80.md", "/", "a" * 3000]
)
def test_a_strange_path_is_a_missing_page(signed_in: Client, write: Write, path: str) -> None:
    write("One")
    for ending in ("edit", "versions", "difference"):
        assert signed_in.get(f"/files/{path}/{ending}/").status_code == HTTPStatus.NOT_FOUND
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


def test_a_page_of_one_line_says_it_once(signed_in: Client, write: Write) -> None:
    write("I walk.", preview_line="I walk.")
    assert page_of(signed_in, CAREER).count("I walk.") == 1


def test_no_page_of_a_file_has_script_or_style_inside(signed_in: Client, write: Write) -> None:
    write("One")
    write("Two", status="good")
    pages = [page_of(signed_in, f"{CAREER}{end}") for end in ("", "?view=raw", "?version=1")]
    pages += [page_of(signed_in, f"{CAREER}/{end}/") for end in ("edit", "versions", "difference")]
    pages.append(send(signed_in, "Mine", version=1).content.decode())
    for page in pages:
        assert not re.search(r"<script(?![^>]*\ssrc=)", page)
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page)


@pytest.mark.slow
def test_a_tree_of_thousands_of_files_is_small_and_quick_and_each_file_can_be_found(
    signed_in: Client, user: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    Profile.unscoped.create(user=user)
    captures = size(10, long=99) * FILES_A_PAGE
    UserFile.unscoped.bulk_create(
        UserFile(
            user=user,
            path=f"captures/{2000 + number // 360}-{1 + number // 30 % 12:02}-{1 + number % 30:02}-120000.md",
            file_type=FileType.CAPTURE,
        )
        for number in range(captures)
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
    for number in range(1, captures // FILES_A_PAGE + 1):
        part = page_of(signed_in, f"/files/?folder=captures&page={number}")
        found |= set(re.findall(r'href="/files/(captures/.*?)"', part))
    assert len(found) == captures
    assert signed_in.get(f"/files/?folder=captures&page={number + 1}").status_code == HTTPStatus.NOT_FOUND
