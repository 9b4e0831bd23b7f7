"""Whoever sends a form while signed out gets, after the sign-in, to the page that the form was on."""

from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from sessions_app.models import Session

pytestmark = pytest.mark.django_db

SITE = "http://testserver"


def next_after(client: Client, address: str, referer: str = "") -> str:
    answer = client.post(address, {"text": "Hello"}, headers={"Referer": referer} if referer else {})
    assert answer.status_code == HTTPStatus.FOUND
    target = urlsplit(answer["Location"])
    assert target.path == "/accounts/login/"
    return parse_qs(target.query).get("next", [""])[0]


def test_a_message_leads_to_its_conversation(client: Client, session: Session) -> None:
    page = f"/chat/{session.id}/"
    assert next_after(client, f"{page}message/", f"{SITE}{page}") == page
    assert (
        next_after(client, "/capture/all/", f"{SITE}/journal/?day=2026-01-02#photos")
        == "/journal/?day=2026-01-02"
    )


@pytest.mark.parametrize(
    "referer",
    [
        "",
        "https://elsewhere.example/chat/",
        "nonsense",
        f"{SITE}//evil.example/x",
        f"{SITE}/\\evil.example/x",
        f"{SITE}/capture/all/",
        f"{SITE}/no/such/page/",
    ],
)
def test_without_a_page_of_ours_it_leads_home_or_to_the_forms_own_page(
    client: Client, session: Session, referer: str
) -> None:
    assert next_after(client, "/capture/all/", referer) == ""
    assert next_after(client, "/settings/?a=b", referer) == "/settings/?a=b"
    assert next_after(client, "/share/", referer) == "/share/"


def test_a_form_that_was_refused_once_leads_to_its_page(signed_in: Client, session: Session) -> None:
    for sent, page in (
        (f"/chat/{session.id}/message/", f"/chat/{session.id}/"),
        ("/chat/new/", "/"),
        ("/share/keep/", "/share/"),
    ):
        assert next_after(Client(), sent, SITE + sent) == sent
        assert signed_in.get(sent)["Location"] == page


def test_a_page_that_was_asked_for_is_the_one_after_the_sign_in(client: Client, session: Session) -> None:
    answer = client.get(f"/chat/{session.id}/", headers={"Referer": f"{SITE}/"})
    assert answer["Location"] == f"/accounts/login/?next=/chat/{session.id}/"
