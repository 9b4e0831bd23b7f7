"""A file's versions: listed, compared and restored."""

import re
from datetime import UTC, datetime
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from coaching.models import FileSource, Profile, UserFileVersion
from sessions_app.models import Session
from tests.browsers import page_of
from tests.pages.conftest import KeepFile
from tests.pages.file_pages import CAREER, Write, bodies, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]


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
    assert "type: domain" not in page
    back = page_of(signed_in, f"{CAREER}/difference/?from=3&to=1")
    assert "I <ins>walk</ins>." in back
    assert "The two versions are the same." in page_of(signed_in, f"{CAREER}/difference/?from=2&to=2")
    for query in ("from=0", "to=4", "from=x&to=1", "from=1&to=%00", "to=99999999999", "from=-1"):
        assert signed_in.get(f"{CAREER}/difference/?{query}").status_code == HTTPStatus.NOT_FOUND


def test_attributes_are_compared_in_words_and_a_single_version_with_nothing(
    signed_in: Client, write: Write
) -> None:
    write("I walk.", status="okay")
    response = signed_in.get(f"{CAREER}/difference/")
    assert response["Location"] == f"{CAREER}/versions/"
    write("I walk.", status="needs_attention")
    page = page_of(signed_in, f"{CAREER}/difference/")
    assert "Status: <" in page
    assert "needs_attention" not in page
    assert "updated:" not in page


@pytest.mark.slow
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
    assert "so nothing was saved. Ask the person who runs this server for more space." in page
    assert f'href="{CAREER}"' in page
    settings.SAGE_MAX_FILES_MB = 1
    assert "Second." in page_of(signed_in, CAREER)
