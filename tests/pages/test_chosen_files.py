"""Selecting several files: deleted together with a way back, downloaded together, and nobody else's."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.test import Client
from django.utils import timezone

from coaching.files.organising import delete_files
from coaching.models import UserFile
from coaching.views.chosen_files import MOST_CHOSEN, ids_in
from coaching.views.files import OPEN_AT_FIRST, SHOWN_IN_TREE
from tests.browsers import browser_of, page_of
from tests.pages.conftest import KeepFile
from tests.pages.test_file_archive import zip_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]

SELECTING = "/files/?select=1"
LOGS = [f"daily-logs/2026-10-{day:02}.md" for day in range(1, 4)]


def keep_logs(keep_file: KeepFile, **owner: User) -> list[int]:
    return [keep_file(path, f"Words of {path}", **owner).pk for path in LOGS]


def boxes_in(page: str) -> list[int]:
    return [int(found) for found in re.findall(r'name="file" value="(\d+)" form="chosen"', page)]


def do(client: Client, what: str, *ids: int) -> str:
    response = client.post("/files/chosen/", {"file": ids, "do": what})
    assert response.status_code == HTTPStatus.SEE_OTHER
    return response["Location"]


def test_files_have_boxes_only_while_somebody_selects(signed_in: Client, keep_file: KeepFile) -> None:
    ids = keep_logs(keep_file)
    assert boxes_in(page_of(signed_in, "/files/")) == []
    assert sorted(boxes_in(page_of(signed_in, SELECTING))) == ids
    assert 'id="choosing-ends" href="?"' in page_of(signed_in, SELECTING)
    folder = page_of(signed_in, "/files/?folder=daily-logs&page=1&select=1")
    assert sorted(boxes_in(folder)) == ids
    assert 'id="choosing-ends" href="?folder=daily-logs&amp;page=1"' in folder


def test_several_are_deleted_at_once_and_come_back_at_once(
    signed_in: Client, user: User, keep_file: KeepFile
) -> None:
    first, second, third = keep_logs(keep_file)
    page = page_of(signed_in, do(signed_in, "delete", first, second, 999_999))
    assert "2 files were deleted." in page
    assert UserFile.of(user.pk).get().pk == third
    (undo,) = re.findall(r'<form method="post" action="(/files/deleted/restore/)">', page)
    named = re.findall(r'<input type="hidden" name="file" value="(\d+)"', page)
    assert sorted(map(int, named)) == [first, second]
    response = signed_in.post(undo, {"file": named})
    assert "2 files restored." in page_of(signed_in, response["Location"])
    assert UserFile.of(user.pk).count() == 3
    assert "restored" not in page_of(signed_in, signed_in.post(undo, {"file": named})["Location"])


@pytest.mark.django_db(transaction=True)
def test_a_second_press_waits_for_the_first_and_offers_the_same_undo(
    signed_in: Client, user: User, keep_file: KeepFile
) -> None:
    first, second, third = keep_logs(keep_file)

    def press_again() -> str:
        try:
            return do(signed_in, "delete", first, second, third)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            delete_files(user_id=user.pk, ids=[first, second], now=timezone.now())
            again = thread.submit(press_again)
            until_somebody_waits()
        page = page_of(signed_in, again.result())
    assert "3 files were deleted." in page
    assert not UserFile.of(user.pk).exists()


def until_somebody_waits() -> None:
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    for _ in range(200):
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            if cursor.fetchone():
                return
        time.sleep(0.05)
    raise AssertionError("nobody waits")


def test_what_is_gone_for_good_is_left_out_of_an_undo(
    signed_in: Client, user: User, keep_file: KeepFile
) -> None:
    first, second, _ = keep_logs(keep_file)
    do(signed_in, "delete", first, second)
    UserFile.unscoped.filter(pk=first).delete()
    page = page_of(
        signed_in, signed_in.post("/files/deleted/restore/", {"file": [first, second]})["Location"]
    )
    assert "1 file restored." in page
    assert UserFile.of(user.pk).filter(pk=second).exists()


@pytest.mark.django_db(transaction=True)
def test_the_download_has_the_selected_files_alone(user: User, keep_file: KeepFile) -> None:
    first, _, third = keep_logs(keep_file)
    client = browser_of(user)
    address = do(client, "download", first, third)
    assert parse_qs(urlsplit(address).query) == {"file": [str(first), str(third)]}
    archive = async_to_sync(zip_of)(user, f"?{urlsplit(address).query}")
    assert [name.partition("/")[2] for name in archive.namelist()] == [LOGS[0], LOGS[2]]


@pytest.mark.django_db(transaction=True)
def test_who_has_not_confirmed_comes_back_to_the_selected_files(
    signed_in: Client, keep_file: KeepFile
) -> None:
    first, *_ = keep_logs(keep_file)
    asked = signed_in.get(do(signed_in, "download", first))["Location"]
    begins = parse_qs(urlsplit(asked).query)["next"][0]
    page = unescape(page_of(signed_in, begins))
    assert f'url=/files/all.zip?file={first}"' in page


def test_nobody_elses_files_are_deleted_restored_or_downloaded(
    signed_in: Client, other_user: User, keep_file: KeepFile
) -> None:
    theirs = keep_logs(keep_file, owner=other_user)
    for what in ("delete", "download"):
        page = page_of(signed_in, do(signed_in, what, *theirs))
        assert "Those files are gone already." in page
        assert told(page) == told(page_of(signed_in, do(signed_in, what, 999_998, 999_999)))
    assert UserFile.of(other_user.pk).count() == len(LOGS)
    UserFile.unscoped.filter(user=other_user).update(deleted_at="2026-11-21T09:00:00Z")
    signed_in.post("/files/deleted/restore/", {"file": theirs})
    assert not UserFile.of(other_user.pk).exists()
    assert "deleted." not in page_of(signed_in, f"/files/?deleted={theirs[0]}&deleted={theirs[1]}")


def told(page: str) -> str:
    """Return a page without the tokens and ids of its forms."""
    return re.sub(r'value="[^"]+"', "", page)


def test_without_a_selection_nothing_happens(signed_in: Client, user: User, keep_file: KeepFile) -> None:
    ids = keep_logs(keep_file)
    assert "Select one or more files first." in page_of(signed_in, do(signed_in, "delete"))
    do(signed_in, "something else", *ids)
    assert UserFile.of(user.pk).count() == len(LOGS)


def test_a_request_names_so_many_files_and_no_more() -> None:
    assert ids_in(["1", "1", "x", "-2", "\u0663", "9" * 30, "2"]) == [1, 2]
    assert len(ids_in([str(number) for number in range(10_000)])) == MOST_CHOSEN


def test_the_folders_that_changed_last_are_open_and_long_ones_begin_with_a_few(
    signed_in: Client, user: User, keep_file: KeepFile
) -> None:
    folders = ["check-ins", "daily-logs", "day-plans", "letters", "notes"]
    for number, folder in enumerate(folders):
        for day in range(1, SHOWN_IN_TREE + 3):
            keep_file(f"{folder}/2026-10-{day:02}.md", "Words")
        UserFile.of(user.pk).filter(path__startswith=folder).update(
            updated_at=f"2026-10-{20 - number}T09:00Z"
        )
    page = page_of(signed_in, "/files/")
    is_open = [bool(found) for found in re.findall(r'<details class="folder"( open)?>', page)]
    assert is_open == [True] * OPEN_AT_FIRST + [False] * 2
    assert page.count('class="ledger-row"') == len(folders) * SHOWN_IN_TREE
    assert f"All {SHOWN_IN_TREE + 2} in" in page


def test_without_files_nothing_is_selected_and_no_script_looks_for_it(signed_in: Client) -> None:
    page = page_of(signed_in, "/files/?select=1")
    assert "No files yet" in page
    assert "choosing" not in page
    assert 'id="chosen"' not in page
