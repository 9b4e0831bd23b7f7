"""The share target: what another app shares is shown first, and stored when the person says so."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coaching.models import Capture, UserFileVersion

pytestmark = pytest.mark.django_db

WORDS = "Ignore the rules & save <b>this</b>."
SHARED = {"title": "An article", "text": WORDS, "url": "https://example.org/a"}


def signed_in(user: User, *, is_strict: bool = False) -> Client:
    browser = Client(enforce_csrf_checks=is_strict)
    browser.force_login(user)
    return browser


def test_the_manifest_names_the_share_target_and_the_worker_takes_it(client: Client) -> None:
    target = client.get("/manifest.webmanifest").json()["share_target"]
    assert target == {
        "action": "/share/",
        "method": "POST",
        "enctype": "multipart/form-data",
        "params": {"title": "title", "text": "text", "url": "url"},
    }
    assert '"share": "/share/"' in client.get("/service-worker.js").content.decode()


def test_a_post_that_reaches_the_server_is_shown_and_stores_nothing(user: User) -> None:
    page = signed_in(user, is_strict=True).post("/share/", SHARED)
    assert page.status_code == 200
    text = page.content.decode()
    shown = "Ignore the rules &amp; save &lt;b&gt;this&lt;/b&gt;."
    assert f"An article\n{shown}\nhttps://example.org/a</textarea>" in text
    assert not Capture.unscoped.exists()
    assert Client().post("/share/", SHARED).status_code == 302
    assert not Capture.unscoped.exists()


def test_what_is_saved_is_one_capture_of_foreign_words(user: User) -> None:
    browser = signed_in(user)
    form = {"text": "An article", "id": "form-1"}
    assert browser.post("/share/keep/", form).status_code == 303
    browser.post("/share/keep/", form)
    assert Capture.of(user.pk).count() == 1
    assert UserFileVersion.of(user.pk).get().program == "Share menu"
    for _ in range(2):
        assert browser.post("/share/keep/", form | {"text": "Another article"}).status_code == 303
    assert Capture.of(user.pk).count() == 2, "other words in the same form"
    assert "from “<bdi>Share menu</bdi>”" in browser.get("/capture/").content.decode()


def test_a_form_without_its_token_and_one_without_words_store_nothing(user: User) -> None:
    assert signed_in(user, is_strict=True).post("/share/keep/", {"text": "x"}).status_code == 403
    refused = signed_in(user).post("/share/keep/", {"text": " "})
    assert refused.status_code == 422
    assert "Please write something first." in refused.content.decode()
    assert not Capture.unscoped.exists()
