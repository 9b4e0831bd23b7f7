"""A page of another site makes a signed-in browser do nothing: no capture, no consent, no share, no token."""

from collections.abc import Iterator, Mapping, Sequence

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from coaching.api.routes import ROUTES as PROGRAM_ROUTES
from coaching.models import Capture, ProgramToken, UserFile
from tests.browsers import sign_in_confirmed
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

OTHER = "https://evil.example"

# Routes that take a POST without the token of a form, and why another site gains nothing by it.
WITHOUT_A_FORMS_TOKEN = {
    "share": "shows what is sent in a form, which has a token; nothing is stored",
    "reminder_off": "no cookie counts: the signed link of a mail does",
    "oauth_authorize": "allauth checks the token of the answer (tests/oauth)",
    "oauth_register": "no cookie counts, and nobody's things change",
    "oauth_token": "no cookie counts: a code or a refresh token does",
    "oauth_revoke": "no cookie counts: the token that ends does",
    "mcp": "no cookie counts: a bearer token does",
    **{route.run.__name__: "no cookie counts: a bearer token does" for route in PROGRAM_ROUTES},
}


def routes(patterns: Sequence[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns)
        else:
            yield pattern


@pytest.fixture
def browser(user: User) -> Client:
    """The person's browser, which has got the token of Sage's forms."""
    browser = Client(enforce_csrf_checks=True)
    sign_in_confirmed(browser, user)
    browser.get("/capture/")
    return browser


def test_every_other_route_checks_the_token_of_a_form() -> None:
    exempt = {
        str(route.name)
        for route in routes(get_resolver().url_patterns)
        if getattr(route.callback, "csrf_exempt", False)
    }
    assert exempt == WITHOUT_A_FORMS_TOKEN.keys()


FORMS: Mapping[str, dict[str, str | list[str]]] = {
    "/capture/": {"text": "Sent by another site", "id": "1"},
    "/share/keep/": {"text": "Sent by another site", "id": "2"},
    "/settings/programs/": {"name": "Theirs", "scopes": ["read"], "days": "30"},
}


@pytest.mark.parametrize("path", FORMS)
def test_another_site_stores_nothing(browser: Client, path: str) -> None:
    token = browser.cookies["csrftoken"].value
    form = FORMS[path]
    assert browser.post(path, form, headers={"Origin": OTHER}).status_code == 403
    known = {**form, "csrfmiddlewaretoken": token}
    assert browser.post(path, known, headers={"Origin": OTHER}).status_code == 403
    assert browser.post(path, known, headers={"Origin": "null"}).status_code == 403
    assert not Capture.unscoped.exists()
    assert not UserFile.unscoped.exists()
    assert not ProgramToken.unscoped.exists()
    own = browser.post(path, known, headers={"Origin": "http://testserver"})
    assert own.status_code in (200, 303)
    assert Capture.unscoped.exists() or ProgramToken.unscoped.exists()


@pytest.mark.parametrize("path", ["/", "/capture/", "/share/", "/settings/programs/", "/oauth/authorize"])
def test_no_page_is_shown_in_another_one(browser: Client, path: str) -> None:
    page = browser.get(path)
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]


def test_another_site_reads_nothing_and_its_requests_bring_no_cookie(browser: Client, user: User) -> None:
    asks = {"Origin": OTHER, "Access-Control-Request-Method": "POST"}
    paths = ("/mcp", "/api/captures", "/oauth/authorize", "/oauth/token", "/capture/", "/settings/programs/")
    for path in (*paths, "/.well-known/oauth-authorization-server"):
        for answer in (browser.options(path, headers=asks), browser.get(path, headers={"Origin": OTHER})):
            assert not [name for name in answer.headers if name.startswith("Access-Control-")], path
    signed_in = Client().post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    for name in ("sessionid", "csrftoken"):
        assert signed_in.cookies[name]["samesite"] == "Lax"
    assert signed_in.cookies["sessionid"]["httponly"]
