"""The user's own title: from the conversation and from the list, with and without JavaScript."""

from http import HTTPStatus

import pytest
from django.test import Client

from sessions_app.models import Session, TitleSource
from sessions_app.titles import MAX_CHARACTERS
from tests.pages.conftest import Exchange

pytestmark = pytest.mark.django_db(transaction=True)

HTMX = {"HX-Request": "true"}


def title_of(session: Session) -> tuple[str, str]:
    session.refresh_from_db()
    return session.title, session.title_source


def test_a_conversation_is_renamed_from_its_page_and_from_the_list(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("I sleep badly", "What keeps you awake?")
    address = f"/chat/{session.id}/title/"
    assert f'action="{address}"' in signed_in.get(f"/chat/{session.id}/menu/").content.decode()
    for page in ("/chat/", f"/chat/{session.id}/"):
        assert f'href="/chat/{session.id}/menu/"' in signed_in.get(page).content.decode()
    response = signed_in.post(address, {"title": " Quiet   nights "})
    assert (response.status_code, response["Location"]) == (HTTPStatus.SEE_OTHER, f"/chat/{session.id}/")
    assert title_of(session) == ("Quiet nights", TitleSource.USER)
    response = signed_in.post(address, {"title": "Nights", "then": "list"})
    assert (response.status_code, response["Location"]) == (HTTPStatus.SEE_OTHER, "/chat/")
    assert title_of(session) == ("Nights", TitleSource.USER)
    assert (
        '<h1 id="chat-title" dir="auto">Nights</h1>' in signed_in.get(f"/chat/{session.id}/").content.decode()
    )
    assert '<span class="ledger-title" dir="auto">Nights</span>' in signed_in.get("/chat/").content.decode()
    assert "Nights" in signed_in.get("/").content.decode()
    assert address not in signed_in.get("/").content.decode()


def test_htmx_gets_the_row_or_the_closed_form_with_the_title(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("I sleep badly", "What keeps you awake?")
    address = f"/chat/{session.id}/title/"
    row = signed_in.post(address, {"title": "<b>Nights</b>", "then": "list"}, headers=HTMX).content.decode()
    assert row.startswith(f'<li class="has-menu" id="conversation-{session.id}"')
    assert '<span class="ledger-title" dir="auto">&lt;b&gt;Nights&lt;/b&gt;</span>' in row
    part = signed_in.post(address, {"title": "Days"}, headers=HTMX).content.decode()
    assert part.startswith(f'<details class="rename" id="rename-{session.id}"')
    assert '<div hx-swap-oob="innerHTML:#chat-title">Days</div>' in part
    assert " open>" not in row + part


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Enter a title."),
        (" \n ", "Enter a title."),
        ("x" * (MAX_CHARACTERS + 1), "up to 80 characters. This one has 81."),
        ("a\x00b", "Sage couldn’t read that."),
    ],
)
@pytest.mark.parametrize("then", ["", "list"])
def test_a_title_that_cannot_be_one_changes_nothing_and_stays_in_its_field(
    signed_in: Client, session: Session, exchange: Exchange, typed: str, said: str, then: str
) -> None:
    exchange("I sleep badly", "What keeps you awake?")
    address = f"/chat/{session.id}/title/"
    response = signed_in.post(address, {"title": typed, "then": then}, headers=HTMX)
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert said in response.content.decode()
    assert response["HX-Retarget"] == "find .form-notice"  # the form with the field isn't replaced
    without = signed_in.post(address, {"title": typed, "then": then}, follow=True)
    assert said in without.content.decode()
    session.refresh_from_db()
    assert session.title_source == TitleSource.WORDS


def test_an_ended_conversation_can_be_renamed_too(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("I sleep badly", "What keeps you awake?")
    Session.unscoped.filter(id=session.id).update(status="abandoned", ended_at="2026-11-21T12:00Z")
    assert f"/chat/{session.id}/title/" in signed_in.get(f"/chat/{session.id}/menu/").content.decode()
    signed_in.post(f"/chat/{session.id}/title/", {"title": "Nights"})
    assert title_of(session) == ("Nights", TitleSource.USER)
