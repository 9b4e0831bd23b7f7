"""The menu of a conversation: its entries, its forms with and without JavaScript, export and print."""

import json
import re
from http import HTTPStatus

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone

from coaching.models import UserFileVersion
from coaching.people.attempts import AttemptLimit
from coaching.views import session_export
from sessions_app.models import Session
from sessions_app.session_folders import make_folder, move_session
from tests.pages.conftest import Exchange, KeepFile

pytestmark = pytest.mark.django_db(transaction=True)

HTMX = {"HX-Request": "true"}
MENU = re.compile(r'data-menu="([^"]+)" data-then="([^"]*)"')


def menu_of(client: Client, session: Session, then: str | None = None) -> str:
    """Return the menu's page, or its part for a place."""
    asked = {} if then is None else {"then": then}
    response = client.get(f"/chat/{session.id}/menu/", asked, headers={} if then is None else HTMX)
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


async def body_of(response: StreamingHttpResponse) -> str:
    text = b"".join([piece async for piece in response]).decode()
    response.close()
    return text


def test_one_menu_is_offered_by_the_page_the_list_and_the_sidebar(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("I sleep badly", "What keeps you awake?")
    address = f"/chat/{session.id}/menu/"
    for page, then in ((f"/chat/{session.id}/", ""), ("/chat/", "list"), ("/chat/sidebar/", "sidebar")):
        text = signed_in.get(page, headers=HTMX if then == "sidebar" else {}).content.decode()
        assert MENU.findall(text) == [(address, then)]


def test_it_has_an_entry_for_all_that_can_be_done(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("I sleep badly", "What keeps you awake?")
    for then in (None, "", "list", "sidebar"):
        text = menu_of(signed_in, session, then)
        for action in ("title/", "organise/", "folder/"):
            assert f'action="/chat/{session.id}/{action}"' in text
        for link in ("brief/", "export.md", "print/"):
            assert f'href="/chat/{session.id}/{link}"' in text
        for do in ("pin", "archive", "delete"):
            assert f'name="do" value="{do}"' in text
        # Only the conversation's own page follows it to its end.
        assert ('value="end"' in text) == (not then)
        assert ('hx-post="/chat/' in text) == (then is not None)


def test_it_says_how_things_are(signed_in: Client, session: Session, exchange: Exchange) -> None:
    exchange("I sleep badly", "What keeps you awake?")
    Session.unscoped.filter(id=session.id).update(pinned_at=timezone.now())
    text = menu_of(signed_in, session, "list")
    assert 'value="unpin"' in text
    assert 'value="pin"' not in text
    Session.unscoped.filter(id=session.id).update(status="abandoned", ended_at=timezone.now())
    assert 'value="end"' not in menu_of(signed_in, session, "")


def test_before_deleting_it_says_how_many_files_stay(
    signed_in: Client, session: Session, exchange: Exchange, keep_file: KeepFile
) -> None:
    exchange("I sleep badly", "What keeps you awake?")
    assert "Sage wrote no files in it" in menu_of(signed_in, session, "")
    for path in ("life-map/career.md", "life-map/health.md"):
        UserFileVersion.unscoped.filter(file=keep_file(path, "a", "b")).update(session=session)
    assert "2 files that Sage wrote in it stay in Files" in menu_of(signed_in, session, "")


def test_on_its_own_page_a_form_is_answered_with_a_sentence(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("I sleep badly", "What keeps you awake?")
    address = f"/chat/{session.id}/organise/"
    response = signed_in.post(address, {"do": "archive", "then": ""}, headers=HTMX)
    assert response.status_code == HTTPStatus.NO_CONTENT
    assert json.loads(response["HX-Trigger"]) == {"said": "Archived. You’ll find it in the archive."}
    assert Session.unscoped.get(id=session.id).archived_at is not None


def test_a_conversation_is_exported_as_markdown(
    signed_in: Client, session: Session, exchange: Exchange, user: User
) -> None:
    exchange("I sleep badly", "What keeps you **awake**?")
    Session.unscoped.filter(id=session.id).update(title="Quiet nights")
    folder = make_folder(user_id=user.pk, name="Nights")
    move_session(user_id=user.pk, session_id=session.id, folder_id=folder.pk)
    response: object = signed_in.get(f"/chat/{session.id}/export.md")
    assert isinstance(response, StreamingHttpResponse)
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert "quiet-nights" in response["Content-Disposition"]
    text = async_to_sync(body_of)(response)
    assert text.startswith("# Quiet nights\n")
    assert "folder “Nights”" in text.split(">")[0]
    assert text.index("> I sleep badly") < text.index("What keeps you **awake**?")


def test_a_conversation_is_shown_whole_for_printing(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    for number in range(45):  # more than one page to print, or a page of the conversation, shows
        exchange(f"said {number}.", f"**answered {number}.**")
    address = f"/chat/{session.id}/print/"
    page = signed_in.get(address).content.decode()
    for number in range(5, 45):
        assert f"said {number}." in page
        assert f"<strong>answered {number}.</strong>" in page
    assert "said 4." not in page
    assert "composer-text" not in page
    assert "answered 5." not in signed_in.get(f"/chat/{session.id}/").content.decode()
    before = re.search(r'href="(\?before=\d+)"', page)
    assert before is not None
    earlier = signed_in.get(address + before[1]).content.decode()
    for number in range(5):
        assert f"<strong>answered {number}.</strong>" in earlier
    assert "said 5." not in earlier
    assert "?before=" not in earlier


def test_export_and_print_have_a_limit_together(
    signed_in: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_export, "exports", AttemptLimit(attempts=2, seconds=60))
    addresses = [f"/chat/{session.id}/{name}" for name in ("export.md", "print/")]
    for address in addresses:
        assert signed_in.get(address).status_code == HTTPStatus.OK
    for address in addresses:
        assert signed_in.get(address)["Location"] == f"/chat/{session.id}/"
    assert "too often" in signed_in.get(f"/chat/{session.id}/").content.decode()
