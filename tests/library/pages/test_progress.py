"""The part that tells how far the reading is: it brings the folders that the reading has changed."""

import html
import re
import uuid
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser
from django.utils import timezone

from coaching.models import Client, ClientStatus, Document, DocumentState
from tests.library.rows import make_client, make_document, make_project

pytestmark = pytest.mark.django_db

FOLDERS = '<section class="folders" id="library-folders" aria-label="Folders" hx-swap-oob="true">'


NEXT = re.compile(r'data-address="/library/progress/([^"]+)"')


def part(browser: Browser, query: str = "") -> str:
    """Return the part as the page asks for it."""
    response = browser.get(f"/library/progress/{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_the_folders_of_everybody_come_with_it_while_documents_are_read(
    signed_in: Browser, user: User
) -> None:
    own = make_client(user)
    make_document(own, state=DocumentState.FILED, folder="Work")
    waiting = make_document(own, state=DocumentState.QUEUED)
    reading = part(signed_in)
    assert 'id="library-clients"' in reading
    assert "1 filed" in reading
    assert 'id="library-tabs"' not in reading
    Document.of(user.pk).filter(pk=waiting.pk).update(state=DocumentState.REVIEW)
    assert "Review <span" in part(signed_in)


def test_an_archive_stays_one(signed_in: Browser, user: User) -> None:
    make_document(make_client(user))
    Client.of(user.pk).create(name="Mill Ltd", client_type="company", status=ClientStatus.ARCHIVED)
    page = signed_in.get("/library/?archived=1").content.decode()
    assert 'data-address="/library/progress/?archived=1"' in page
    assert "Mill Ltd" in part(signed_in, "?archived=1")
    assert "Mill Ltd" not in part(signed_in)


@pytest.mark.parametrize("kind", ["client", "project"])
def test_the_folders_of_a_place_come_once_everything_is_read(
    signed_in: Browser, user: User, kind: str
) -> None:
    own = make_client(user)
    project = make_project(own)
    row = make_document(own, project=project if kind == "project" else None, state=DocumentState.QUEUED)
    query = f"?{kind}={own.pk if kind == 'client' else project.pk}"
    assert FOLDERS not in part(signed_in, query)
    Document.of(user.pk).filter(pk=row.pk).update(state=DocumentState.FILED, folder="Sales contracts")
    _, _, folders = part(signed_in, query).partition(FOLDERS)
    assert "Sales contracts" in folders


@pytest.mark.parametrize("kind", ["client", "project"])
@pytest.mark.parametrize("is_reading", [False, True])
def test_a_place_lists_each_of_its_documents_once(
    signed_in: Browser, user: User, kind: str, *, is_reading: bool
) -> None:
    own = make_client(user)
    project = make_project(own)
    of_place: dict[str, Any] = {"project": project if kind == "project" else None}
    rows = [
        make_document(own, "lease.pdf", **of_place),
        make_document(own, "payslip.pdf", folder="Pay", **of_place),
    ]
    rows.append(make_document(own, "strange.txt", state=DocumentState.REVIEW, folder="", **of_place))
    if is_reading:
        rows.append(make_document(own, "new.txt", state=DocumentState.QUEUED, folder="", **of_place))
    address = f"/library/{kind}s/{own.pk if kind == 'client' else project.pk}/"
    page = signed_in.get(address).content.decode()
    for row in rows:
        assert page.count(f'href="/library/documents/{row.pk}/"') == 1, row.name
    assert ("Reading now" in page) == is_reading
    assert page.count('<section class="reading" id="library-progress"') == 1, "the place of the next upload"


def test_a_place_keeps_a_document_that_is_read_while_a_later_upload_is_not(
    signed_in: Browser, user: User
) -> None:
    own = make_client(user)
    old = make_document(own, "old.txt", decided_at=timezone.now())
    first = make_document(own, "first.txt", state=DocumentState.QUEUED)
    second = make_document(own, "second.txt", state=DocumentState.QUEUED)
    Document.of(user.pk).filter(pk=first.pk).update(state=DocumentState.FILED, decided_at=timezone.now())
    shown = part(signed_in, f"?client={own.pk}")
    assert FOLDERS not in shown
    assert [f"/documents/{row.pk}/" in shown for row in (old, first, second)] == [False, True, True]
    page = signed_in.get(f"/library/clients/{own.pk}/").content.decode()
    for row in (old, first, second):
        assert page.count(f'href="/library/documents/{row.pk}/"') == 1, row.name


def test_a_place_keeps_a_document_that_was_read_before_the_oldest_unread_one_came(
    signed_in: Browser, user: User
) -> None:
    own = make_client(user)
    old = make_document(own, "old.txt", decided_at=timezone.now())
    query = f"?client={own.pk}"
    dropped: list[Document] = []

    def drop(name: str) -> Document:
        return make_document(own, name, state=DocumentState.QUEUED, batch=uuid.uuid4())

    def read(row: Document) -> None:
        now = timezone.now()
        Document.of(user.pk).filter(pk=row.pk).update(state=DocumentState.FILED, decided_at=now)

    def shown() -> tuple[bool, ...]:
        nonlocal query
        text = part(signed_in, query)
        [following] = NEXT.findall(text)
        query = html.unescape(following)
        return tuple(f"/documents/{row.pk}/" in text for row in (old, *dropped))

    assert shown() == (True,), "nothing is unread, so the folders come"
    dropped += [drop("first.txt"), drop("second.txt")]
    assert shown() == (False, True, True)
    read(dropped[0])
    dropped.append(drop("third.txt"))
    read(dropped[1])
    assert shown() == (False, True, True, True)
    read(dropped[2])
    assert shown() == (True, True, True, True)


def test_a_moment_that_is_made_up_is_no_fault(signed_in: Browser, user: User) -> None:
    own = make_client(user)
    make_document(own, "new.txt", state=DocumentState.QUEUED)
    for since in ("", "yesterday", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00+23:00", "2031-01-01"):
        assert "new.txt" in part(signed_in, f"?client={own.pk}&since={quote(since)}"), since
