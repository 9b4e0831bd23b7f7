"""Settings → Library: the address, renewing it, and what was taken and refused."""

from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from coaching.admin.start import read_groups
from coaching.inbox.place import InboxPlace, place_of
from coaching.library.documents.intake import destination_of, take_in
from coaching.models import InboxAddress, InboxMail, InboxRefusal, InboxState, InboxWaiting
from sage.checks import check_inbox
from tests.inbox.conftest import NOW

pytestmark = pytest.mark.django_db

URL = "imaps://sage%40in.example:secret@mail.example/"
ADDRESS, RENEW = "/settings/library/", "/settings/library/renew/"


@pytest.fixture
def place(settings: Settings) -> InboxPlace:
    """Mail comes in."""
    settings.SAGE_INBOX = place = place_of(URL)
    return place


def page_of(client: Client, user: User) -> str:
    client.force_login(user)
    response = client.get(ADDRESS)
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


def test_without_a_mailbox_there_is_no_page(client: Client, user: User) -> None:
    client.force_login(user)
    assert client.get(ADDRESS).status_code == client.post(RENEW).status_code == HTTPStatus.NOT_FOUND
    assert ADDRESS not in client.get("/settings/").content.decode()
    assert not InboxAddress.unscoped.exists()


def test_each_has_an_address_of_their_own_and_renews_it(
    client: Client, user: User, other_user: User, place: InboxPlace, confirm: Callable[[User], None]
) -> None:
    assert "isn’t confirmed" in page_of(client, user)
    confirm(user)
    page = page_of(client, user)
    assert "from ada@example.org" in page
    assert f'href="{ADDRESS}" aria-current="page"' in client.get(ADDRESS).content.decode()
    old = InboxAddress.of(user.pk).get().token
    assert place.address_of(old) in page
    assert "about 18 MB" in page
    assert "stays on the mail server" in page
    assert old not in page_of(client, other_user)
    other = InboxAddress.of(other_user.pk).get().token

    client.force_login(user)
    page = client.post(RENEW, follow=True).content.decode()
    new = InboxAddress.of(user.pk).get().token
    assert new not in {old, other}
    assert len(new) == 20
    assert place.address_of(new) in page
    assert old not in page
    assert InboxAddress.of(other_user.pk).get().token == other
    for _ in range(12):
        page = client.post(RENEW, follow=True).content.decode()
    assert "in a short time" in page


def test_an_address_that_no_mail_can_come_from_is_told(
    client: Client, user: User, place: InboxPlace, confirm: Callable[[User], None]
) -> None:
    user.email = "ada@ex\N{LATIN SMALL LETTER A WITH DIAERESIS}mple.org"
    confirm(user)
    assert "no mail can be accepted from it" in page_of(client, user)


def test_who_deletes_their_account_hears_of_mail_on_the_server(
    client: Client, user: User, settings: Settings
) -> None:
    client.force_login(user)
    told = "Emails that you sent to your library"
    assert told not in client.get("/settings/delete/").content.decode()
    settings.SAGE_INBOX = place_of(URL)
    assert told in client.get("/settings/delete/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_it_lists_what_was_taken_waits_and_was_refused(
    client: Client, user: User, other_user: User, place: InboxPlace
) -> None:
    document = take_in(
        user_id=user.pk, name="Lease.eml", data=b"From: a\n\nb", destination=destination_of(user_id=user.pk)
    )
    for number, its in enumerate((document, None)):
        InboxMail.of(user.pk).create(
            document=its,
            message_digest=str(number),
            body_digest="",
            size=2048,
            uid_validity=1,
            uid=number,
            taken_at=NOW,
        )
    InboxWaiting.of(user.pk).create(uid=5, since=NOW, due_at=NOW + timedelta(days=1))
    InboxRefusal.of(user.pk).create(day=NOW.date(), reason="sender", count=3)
    InboxRefusal.unscoped.create(user=None, day=NOW.date(), reason="address", count=9)
    page = page_of(client, user)
    assert f'<a href="/library/documents/{document.pk}/">Lease.eml</a>' in page
    assert "Deleted document" in page
    assert "2 emails so far." in page
    assert "1 email waits until" in page
    assert "<td>It wasn’t sent from the confirmed address of your account.</td><td>3</td>" in page
    assert "<td>9</td>" not in page
    page = page_of(client, other_user)
    assert "Lease" not in page
    assert "No mail has come yet." in page


def test_operators_see_whether_mail_is_read_and_no_words(
    client: Client, operator: User, user: User, place: InboxPlace
) -> None:
    def figures() -> dict[str, tuple[str, bool]]:
        groups = read_groups(operator.has_perm, now=NOW)
        return {found.name: (found.value, found.is_alert) for group in groups for found in group.figures}

    assert figures()["Incoming mail was read"] == ("never", False)
    InboxState.objects.create(
        pk=1,
        read_at=NOW - timedelta(minutes=5),
        failures=2,
        failing_since=NOW - timedelta(minutes=3),
        error="login",
    )
    InboxRefusal.of(user.pk).create(day=NOW.date(), reason="sender", count=3)
    InboxRefusal.unscoped.create(user=None, day=NOW.date(), reason="address", count=9)
    assert figures()["Incoming mail was read"] == ("5 min ago", True)
    assert figures()["Refused mails, 7 days"] == ("12", False)
    InboxState.objects.update(failures=0, error="", read_at=NOW - timedelta(minutes=61))
    assert figures()["Incoming mail was read"] == ("61 min ago", True)
    InboxState.objects.update(read_at=NOW, error="move")
    assert figures()["Incoming mail was read"][1]
    InboxState.objects.update(read_at=NOW, error="login")
    client.force_login(operator)
    token = InboxAddress.of(user.pk).create().token
    for name in ("inboxstate", "inboxmail", "inboxrefusal"):
        page = client.get(f"/admin/coaching/{name}/").content.decode()
        assert token not in page
    assert "login" in client.get("/admin/coaching/inboxstate/").content.decode()


def test_settings_with_which_no_mail_is_taken_are_reported(settings: Settings) -> None:
    def ids(**changed: object) -> list[str | None]:
        settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update=changed)
        return [message.id for message in check_inbox()]

    assert ids() == []
    assert ids(inbox=place_of(URL)) == ["sage.E007"]
    assert ids(inbox_server="mx.in.example") == ["sage.W008"]
    assert ids(inbox=None) == ["sage.E007"]
    settings.HAS_MAIL = True
    assert ids(inbox=place_of(URL)) == []
