"""A file that Sage wrote meanwhile is saved with both texts kept."""

from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from coaching.files.selectors import read_file
from tests.browsers import page_of
from tests.pages.file_pages import CAREER, Write, bodies, send, typed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]


def test_when_sage_wrote_meanwhile_both_texts_are_shown_and_either_choice_keeps_both(
    signed_in: Client, user: User, write: Write
) -> None:
    write("One line.")
    write("Sage's line.", status="good")
    response = send(signed_in, "My own line.", version=1)
    assert response.status_code == HTTPStatus.CONFLICT
    page = response.content.decode()
    assert "While you were writing, Sage changed this file" in page
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


@pytest.mark.slow
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
