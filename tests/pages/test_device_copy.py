"""A copy for reading offline: who may fetch it, and when a browser is told to erase it."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as BrowserSession
from django.db import connection, transaction
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from coaching.people.device_copies import COOKIE, COOKIE_SECONDS
from tests.browsers import browser_of
from tests.conftest import PASSWORD
from tests.pages.conftest import Exchange

pytestmark = pytest.mark.django_db

CHOICE = "/settings/device-copy/"
COPY = "/offline/copy/"
JSON = {"Accept": "application/json"}


class Browser(Client):
    """A client that forgets the cookies that a response deletes, as browsers do."""

    def request(self, **request: Any) -> Any:
        """Send a request."""
        response = super().request(**request)
        for name in [name for name, cookie in self.cookies.items() if cookie["max-age"] == 0]:
            del self.cookies[name]
        return response


@pytest.fixture
def keeping(user: User) -> Client:
    """The person's browser, which keeps a copy."""
    browser = Browser(raise_request_exception=False)
    browser.force_login(user)
    browser.post(CHOICE, {"do": "keep"})
    return browser


@pytest.fixture
def without_sessions() -> Iterator[None]:
    """A database that can't read sessions."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE django_session RENAME TO elsewhere")
        yield
        transaction.set_rollback(True)


def is_erased(response: Any) -> bool:
    """Whether a response has the browser erase its copy and forget whose it was."""
    erases = response.get("Clear-Site-Data") == '"storage"'
    forgets = COOKIE in response.cookies and response.cookies[COOKIE].value == ""
    assert erases == forgets
    return bool(erases)


def sign_in(client: Client, user: User) -> Any:
    return client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})


def test_a_browser_keeps_no_copy_until_its_person_says_so(signed_in: Client, exchange: Exchange) -> None:
    exchange("The lake was calm.", "It sounds like a good morning.")
    assert " data-device-copy" not in signed_in.get("/settings/data/").content.decode()
    nothing = signed_in.get(COPY, headers=JSON)
    assert (nothing.status_code, nothing.content) == (HTTPStatus.NO_CONTENT, b"")

    chosen = signed_in.post(CHOICE, {"do": "keep"})
    assert chosen["Location"] == "/settings/data/#device-copy"
    kept = chosen.cookies[COOKIE]
    assert (kept["httponly"], kept["samesite"], kept["max-age"]) == (True, "Lax", COOKIE_SECONDS)
    assert " data-device-copy" in signed_in.get("/").content.decode()
    copy = signed_in.get(COPY, headers=JSON)
    assert "no-store" in copy["Cache-Control"]
    assert "The lake was calm." in copy.json()["html"]
    assert "It sounds like a good morning." in copy.json()["html"]


def test_the_copy_ends_where_its_person_says_so_and_they_stay_signed_in(keeping: Client) -> None:
    response = keeping.post(CHOICE, {"do": "erase"})
    assert response.cookies[COOKIE].value == ""
    page = keeping.get("/settings/data/").content.decode()
    assert "The copy on this device was erased." in page
    assert " data-device-copy" not in page
    assert keeping.get(COPY, headers=JSON).status_code == HTTPStatus.NO_CONTENT
    assert keeping.post(CHOICE, {"do": "something"}).status_code == HTTPStatus.BAD_REQUEST


def test_its_cookie_is_as_secure_as_that_of_the_session(signed_in: Client, settings: Settings) -> None:
    for is_secure, name in ((True, f"__Host-{COOKIE}"), (False, COOKIE)):
        settings.SESSION_COOKIE_SECURE = is_secure
        kept = signed_in.post(CHOICE, {"do": "keep"}).cookies[name]
        assert (bool(kept["secure"]), kept["path"], kept["domain"]) == (is_secure, "/", "")
        assert " data-device-copy" in signed_in.get("/").content.decode()
        erased = signed_in.post(CHOICE, {"do": "erase"}).cookies[name]
        assert (erased.value, bool(erased["secure"]), erased["path"]) == ("", is_secure, "/")


def test_nothing_is_erased_while_its_person_is_signed_in(keeping: Client) -> None:
    for address in ("/", "/offline/", "/service-worker.js", "/nowhere/", COPY, "/accounts/login/"):
        assert not is_erased(keeping.get(address)), address


def test_signing_out_erases_it(keeping: Client) -> None:
    assert is_erased(keeping.post("/accounts/logout/"))
    assert not is_erased(keeping.get("/accounts/login/")), "once"


@pytest.mark.parametrize("address", ["/", COPY, "/offline/", "/service-worker.js", "/nowhere/", "/safety/"])
def test_a_session_that_ended_by_itself_empties_no_storage(keeping: Client, address: str) -> None:
    BrowserSession.objects.all().delete()
    response = keeping.get(address, headers=JSON if address == COPY else {})
    assert not is_erased(response)
    assert " data-device-copy" not in response.content.decode()


def test_a_program_without_a_session_gets_401(keeping: Client) -> None:
    BrowserSession.objects.all().delete()
    response = keeping.get(COPY, headers=JSON)
    assert response.status_code == HTTPStatus.UNAUTHORIZED
    assert "html" not in response.json()


def test_the_choice_holds_for_its_person_after_a_session_has_ended(keeping: Client, user: User) -> None:
    BrowserSession.objects.all().delete()
    assert " data-signed-out" in keeping.get("/accounts/login/").content.decode()
    response = sign_in(keeping, user)
    assert not is_erased(response)
    assert response.cookies[COOKIE]["max-age"] == COOKIE_SECONDS, "renewed"
    response = keeping.get("/")
    assert " data-device-copy" in response.content.decode()
    assert COOKIE not in response.cookies


def test_signing_out_on_a_page_from_before_the_sessions_end_erases_it(keeping: Client) -> None:
    BrowserSession.objects.all().delete()
    assert not is_erased(keeping.get("/accounts/logout/"))
    assert is_erased(keeping.post("/accounts/logout/"))


async def erased_by_an_async_view(copy: str, session: str) -> bool:
    client = AsyncClient()
    client.cookies[COOKIE] = copy
    client.cookies["sessionid"] = session
    return is_erased(await client.post("/chat/new/", {"kind": "open_conversation"}))


@pytest.mark.django_db(transaction=True)
def test_async_views_erase_it_too(keeping: Client, other_user: User) -> None:
    theirs = browser_of(other_user)
    copy, session = keeping.cookies[COOKIE].value, theirs.cookies["sessionid"].value
    assert async_to_sync(erased_by_an_async_view)(copy, session)
    assert not async_to_sync(erased_by_an_async_view)(copy, "")


def test_another_accounts_sign_in_erases_it(keeping: Client, other_user: User) -> None:
    BrowserSession.objects.all().delete()
    response = sign_in(keeping, other_user)
    assert response.status_code == HTTPStatus.FOUND
    assert is_erased(response)
    assert not is_erased(keeping.get("/"))


def test_its_own_person_may_sign_in_again(keeping: Client, user: User) -> None:
    kept = keeping.cookies[COOKIE].value
    keeping.post("/accounts/logout/")
    keeping.cookies[COOKIE] = kept  # of a browser that ignores the header
    assert not is_erased(sign_in(keeping, user))


def test_a_disabled_account_is_signed_out_and_keeps_none(keeping: Client, user: User) -> None:
    user.is_active = False
    user.save()
    assert keeping.get(COPY, headers=JSON).status_code == HTTPStatus.UNAUTHORIZED
    assert " data-device-copy" not in keeping.get("/accounts/login/").content.decode()


def test_closing_the_account_erases_it(keeping: Client, user: User) -> None:
    response = keeping.post("/settings/delete/", {"password": PASSWORD, "confirmation": user.email})
    assert response["Location"] == "/goodbye/"
    assert is_erased(response)


def test_a_cookie_gives_nobody_anothers_copy(keeping: Client, other_user: User, exchange: Exchange) -> None:
    exchange("The lake was calm.", "Good.")
    theirs = browser_of(other_user)
    for cookie in (keeping.cookies[COOKIE].value, f"{other_user.pk}", "forged", ""):
        theirs.cookies[COOKIE] = cookie
        response = theirs.get(COPY, headers=JSON)
        assert (response.status_code, response.content) == (HTTPStatus.NO_CONTENT, b"")
        assert is_erased(response)


def test_monitoring_neither_loads_a_user_nor_erases_anything(keeping: Client) -> None:
    BrowserSession.objects.all().delete()
    assert not is_erased(keeping.get("/healthz"))


def test_a_database_that_fails_isnt_taken_for_a_sign_out(keeping: Client, without_sessions: None) -> None:
    response = keeping.get("/")
    assert response.status_code == HTTPStatus.INTERNAL_SERVER_ERROR
    assert not is_erased(response)


def test_the_rule_costs_no_query(signed_in: Client) -> None:
    signed_in.get("/files/")
    with CaptureQueriesContext(connection) as before:
        signed_in.get("/files/")
    signed_in.post(CHOICE, {"do": "keep"})
    with CaptureQueriesContext(connection) as after:
        signed_in.get("/files/")
    assert len(after) == len(before)


def test_a_copy_can_be_fetched_so_often(keeping: Client) -> None:
    answers = [keeping.get(COPY, headers=JSON) for _ in range(31)]
    assert {answer.status_code for answer in answers[:-1]} == {HTTPStatus.OK}
    assert answers[-1].status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert int(answers[-1]["Retry-After"]) > 0
    assert "error" in answers[-1].json()
