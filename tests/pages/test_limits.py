"""Requests over a limit get a message and a wait, and input is kept."""

import re
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from coaching.life.captures import MAX_IN_A_MINUTE
from coaching.models import Capture, FileUsage
from coaching.sandbox.limits import MEGABYTE
from coaching.views.file_edits import PREVIEWS_IN_A_MINUTE
from tests.pages.file_pages import CAREER, Write, typed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]

PART = {"HX-Request": "true"}


def test_captures_have_a_rate_and_the_same_one_again_is_none(client: Client, user: User) -> None:
    client.force_login(user)
    for number in range(MAX_IN_A_MINUTE):
        for _ in range(2):
            assert client.post("/capture/", {"text": "A thought", "id": f"{number}"}).status_code == 303
    response = client.post("/capture/", {"text": "One more thought", "id": "more"})
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert 0 < int(response["Retry-After"]) <= 60
    page = response.content.decode()
    assert re.search(r"Please try again in \d+ (second|minute)s?\.", page)
    assert "One more thought</textarea>" in page
    part = client.post("/capture/", {"text": "One more thought", "id": "more"}, headers=PART)
    assert part.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "<html" not in part.content.decode()
    assert part["HX-Retarget"] == "find .form-notice"
    assert Capture.of(user.pk).count() == MAX_IN_A_MINUTE


def test_previews_have_a_rate_by_script_and_by_form(client: Client, user: User, write: Write) -> None:
    write("Words.")
    client.force_login(user)
    for _ in range(PREVIEWS_IN_A_MINUTE):
        assert client.post(f"{CAREER}/preview/", {"body": "x"}).status_code == HTTPStatus.OK
    refused = client.post(f"{CAREER}/preview/", {"body": "x"})
    assert refused.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "Please try again in" in refused.content.decode()
    assert refused["HX-Retarget"] == "#preview-state"
    form = client.post(f"{CAREER}/edit/", {"body": "Typed words", "version": 1, "do": "preview"})
    assert form.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert int(form["Retry-After"]) > 0
    assert typed_in(form.content.decode()) == "Typed words"


def test_at_the_limit_pages_keep_what_was_typed(
    client: Client, user: User, write: Write, settings: Settings
) -> None:
    write("Words.")
    write("x" * 90_000)
    FileUsage.of(user.pk).update(bytes=MEGABYTE - 10)
    settings.SAGE_MAX_FILES_MB = 1
    client.force_login(user)
    edited = client.post(f"{CAREER}/edit/", {"body": "Typed words", "version": 2, "do": "save"})
    assert edited.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "MB of 1 MB, so nothing was saved." in edited.content.decode()
    assert typed_in(edited.content.decode()) == "Typed words"
    capture = client.post("/capture/", {"text": "A thought", "id": "one"})
    assert capture.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "A thought</textarea>" in capture.content.decode()
    restored = client.post(f"{CAREER}/restore/", {"version": 1}, follow=True)
    assert "so nothing was saved" in restored.content.decode()
    assert FileUsage.of(user.pk).get().bytes == MEGABYTE - 10
    FileUsage.of(user.pk).update(bytes=0)
    settings.SAGE_MAX_FILES = 1
    capture = client.post("/capture/", {"text": "A thought", "id": "one"})
    assert capture.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "so no new one was created" in capture.content.decode()
