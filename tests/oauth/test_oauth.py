"""OAuth for other programs: who may ask, what is granted, how long it holds, and what is refused."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from allauth.idp.oidc.models import Client as Registered
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from coaching.programs import clients
from coaching.programs.clients import forget_unused
from coaching.programs.grants import (
    MAX_ACCESS_TOKENS,
    forget_ended,
    grants_of,
    revoke_grant,
)
from sage.accounts import AccountAdapter
from sage.backups.endings import end_what_ran
from tests.browsers import browser_of, sign_in_confirmed
from tests.conftest import MakeUser
from tests.oauth.program import (
    REDIRECT,
    RESOURCE,
    call_mcp,
    connect,
    consent,
    exchange,
    refresh,
    register,
    request_of,
    signed,
)

pytestmark = pytest.mark.django_db(transaction=True)  # `/mcp` reads in threads of its own


def test_the_documents_say_where_to_ask_and_for_what() -> None:
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
        told = Client().get(path).json()
        assert told["resource"] == RESOURCE
        assert told["authorization_servers"] == ["http://testserver"]
        assert told["scopes_supported"] == ["capture", "read", "write"]
    server = Client().get("/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == "http://testserver"
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["registration_endpoint"] == "http://testserver/oauth/register"
    assert "client_id_metadata_document_supported" not in server
    challenged = call_mcp(None)
    assert challenged.status_code == 401
    assert challenged["WWW-Authenticate"] == (
        'Bearer resource_metadata="http://testserver/.well-known/oauth-protected-resource/mcp", '
        'scope="capture read write"'
    )
    assert 'error="invalid_token"' in call_mcp("nonsense")["WWW-Authenticate"]


def test_a_program_registers_itself_and_gets_no_secret_and_no_more_than_others() -> None:
    told = register(
        grant_types=["client_credentials", "authorization_code"],
        scope="openid chat everything",
        token_endpoint_auth_method="client_secret_post",
        software_statement="x" * 2_000,
        logo_uri="https://program.example/logo.png",
    )
    assert "client_secret" not in told
    assert told["token_endpoint_auth_method"] == "none"
    assert told["grant_types"] == ["authorization_code", "refresh_token"]
    assert told["scope"] == "capture read write"
    stored = Registered.objects.get(id=told["client_id"])
    assert (stored.type, stored.skip_consent, stored.data) == ("public", False, None)
    assert stored.get_response_types() == ["code"]


@pytest.mark.parametrize(
    "given",
    [
        "not json",
        "[]",
        "{}",
        "[" * 2_000,
        json.dumps({"redirect_uris": []}),
        json.dumps({"redirect_uris": "https://program.example/"}),
        json.dumps({"redirect_uris": ["https://program.example/"] * 6}),
        json.dumps({"redirect_uris": ["http://program.example/callback"]}),
        json.dumps({"redirect_uris": ["http://[::1]:8000/callback"]}),
        json.dumps({"redirect_uris": ["javascript:alert(1)"]}),
        json.dumps({"redirect_uris": ["cursor://callback"]}),
        json.dumps({"redirect_uris": ["https://me@program.example/"]}),
        json.dumps({"redirect_uris": ["https://program.example\\@evil.example/"]}),
        json.dumps({"redirect_uris": ["https://program.example/#fragment"]}),
        json.dumps({"redirect_uris": ["https://program.example:99999/"]}),
        json.dumps({"redirect_uris": ["https://program.example/", "https://a;script-src *"]}),
        json.dumps({"redirect_uris": [REDIRECT], "client_name": "a\u0000b"}),
        json.dumps({"redirect_uris": [REDIRECT], "client_name": "Cl\u0430ude"}),
        json.dumps({"redirect_uris": [REDIRECT], "client_name": "S-A-G-E"}),
        json.dumps({"redirect_uris": [REDIRECT], "client_name": "\uff33age"}),
        json.dumps({"redirect_uris": [REDIRECT], "client_name": "\u3164"}),
        json.dumps({"redirect_uris": [REDIRECT], "client_name": "\u2800"}),
        json.dumps({"redirect_uris": [REDIRECT], "junk": "x" * 16_000}),
    ],
)
def test_what_cannot_be_shown_to_a_person_is_not_registered(given: str) -> None:
    answered = Client().post("/oauth/register", given, content_type="application/json")
    assert answered.status_code == 400
    assert answered.json()["error"] == "invalid_client_metadata"
    assert answered.json()["error_description"]
    assert not Registered.objects.exists()


def test_a_program_learns_which_loopback_address_works() -> None:
    assert (
        "Use http://127.0.0.1 instead" in register(redirects=["http://[::1]/callback"])["error_description"]
    )
    for address in ("http://127.0.0.1/callback", "http://localhost:8000/callback"):
        assert register(redirects=[address])["redirect_uris"] == [address]


def test_the_page_of_consent_shows_a_hostile_name_as_plain_text(browser: Client) -> None:
    told = register("\u202eClaude\u200b <b>Verified</b>\nby\x07 Sage " + "x" * 100)
    assert told["client_name"] == "Claude <b>Verified</b> by Sage " + "x" * 28 + "…"
    text = browser.get("/oauth/authorize", request_of(told["client_id"])).content.decode()
    assert f"<bdi>Claude &lt;b&gt;Verified&lt;/b&gt; by Sage {'x' * 28}…</bdi>" in text
    assert "\u202e" not in text
    assert "Not verified" in text
    assert "<bdi>program.example</bdi>" in text


def test_the_newest_unused_programs_are_kept_for_a_day(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = connect(browser)["client_id"]
    monkeypatch.setattr(clients, "MAX_UNUSED", 3)
    ids = [register()["client_id"] for _ in range(5)]
    kept = set(Registered.objects.values_list("id", flat=True))
    assert kept == {used, *ids[2:]}
    assert forget_unused(timezone.now() + timedelta(hours=23)) == 0
    assert forget_unused(timezone.now() + timedelta(hours=25)) == 3
    assert set(Registered.objects.values_list("id", flat=True)) == {used}


def test_an_address_registers_only_a_few_programs_a_minute(settings: Settings) -> None:
    settings.IDP_OIDC_RATE_LIMITS = {"client_registration": "2/m/ip"}
    answers = [
        Client().post(
            "/oauth/register", json.dumps({"redirect_uris": [REDIRECT]}), content_type="application/json"
        )
        for _ in range(3)
    ]
    assert [each.status_code for each in answers] == [201, 201, 429]
    assert answers[-1]["Retry-After"] == "60"


def test_the_page_of_consent_says_who_asks_for_what_and_opens_one_origin(browser: Client) -> None:
    client_id = register('Claude "the" best')["client_id"]
    page = browser.get("/oauth/authorize", request_of(client_id, scope="read"))
    text = page.content.decode()
    assert "Claude &quot;the&quot; best" in text
    assert "program.example" in text
    assert "Not verified" in text
    assert "Read files, next steps, documents and summaries" in text
    assert "Add captures" not in text
    policy = page["Content-Security-Policy"]
    assert "form-action 'self' https://program.example;" in f"{policy};"
    for path in ("/", "/settings/", "/oauth/authorize"):
        assert "form-action 'self';" in f"{browser.get(path)['Content-Security-Policy']};"


def test_an_answer_goes_back_with_a_code_and_sages_name(browser: Client, user: User) -> None:
    client_id = register()["client_id"]
    page = browser.get("/oauth/authorize", request_of(client_id))
    form = {"request": signed(page), "scopes": ["read"], "action": "grant"}
    address = browser.post("/oauth/authorize", form)["Location"]
    assert address.startswith(f"{REDIRECT}?")
    answer = parse_qs(urlsplit(address).query)
    assert (answer["state"], answer["iss"]) == (["s1"], ["http://testserver"])
    tokens = exchange(client_id, answer["code"][0]).json()
    assert tokens["scope"] == "read"
    assert tokens["expires_in"] == 3600
    assert {hash(secret) for secret in (tokens["access_token"], tokens["refresh_token"])}
    assert not Token.objects.filter(hash__in=[tokens["access_token"], tokens["refresh_token"]]).exists()
    (grant,) = grants_of(user.pk, now=timezone.now())
    assert (grant.name, list(grant.hosts), [scope.value for scope in grant.scopes]) == (
        "Claude",
        ["program.example"],
        ["read"],
    )
    assert grant.ends_at - timezone.now() > timedelta(days=89)


def test_no_is_told_to_the_program(browser: Client) -> None:
    client_id = register()["client_id"]
    page = browser.get("/oauth/authorize", request_of(client_id))
    address = browser.post("/oauth/authorize", {"request": signed(page), "action": "cancel"})["Location"]
    assert parse_qs(urlsplit(address).query)["error"] == ["access_denied"]


def test_consent_is_never_remembered(browser: Client) -> None:
    connected = connect(browser)
    Registered.objects.update(skip_consent=True)
    again = browser.get("/oauth/authorize", request_of(connected["client_id"]))
    assert again.status_code == 200
    assert "Not verified" in again.content.decode()
    other = register("Another")["client_id"]
    for client_id in (connected["client_id"], other):
        silent = browser.get("/oauth/authorize", request_of(client_id, prompt="none"))
        assert silent.status_code == 400
        assert "Location" not in silent


def test_a_page_of_another_site_cannot_consent(user: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    sign_in_confirmed(browser, user)
    client_id = register()["client_id"]
    page = browser.get("/oauth/authorize", request_of(client_id))
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    form = {"request": signed(page), "scopes": ["read"], "action": "grant"}
    assert browser.post("/oauth/authorize", form).status_code == 403
    elsewhere = {"Origin": "https://evil.example", "Referer": "https://evil.example/"}
    token = browser.cookies["csrftoken"].value
    sent = browser.post("/oauth/authorize", form | {"csrfmiddlewaretoken": token}, headers=elsewhere)
    assert sent.status_code == 403
    assert not Token.objects.exists()
    forged = {"request": "forged", "scopes": ["read"], "action": "grant", "csrfmiddlewaretoken": token}
    assert browser.post("/oauth/authorize", forged).status_code == 403
    assert browser.post("/oauth/authorize", request_of(client_id)).status_code == 400


REFUSED: Mapping[str, Mapping[str, Any]] = {
    "no challenge": {"code_challenge": None, "code_challenge_method": None},
    "a plain challenge": {"code_challenge_method": "plain"},
    "a challenge without a method": {"code_challenge_method": None},
    "a short challenge": {"code_challenge": "abc"},
    "no resource": {"resource": None},
    "another resource": {"resource": "https://other.example/mcp"},
    "more than the resource": {"resource": [RESOURCE, "http://testserver/api/"]},
    "a part of the resource": {"resource": f"{RESOURCE}/tools"},
    "another redirect": {"redirect_uri": "https://evil.example/callback"},
    "a longer redirect": {"redirect_uri": f"{REDIRECT}/more"},
    "a redirect with more parameters": {"redirect_uri": f"{REDIRECT}?next=https://evil.example/"},
    "a redirect with an empty query": {"redirect_uri": f"{REDIRECT}?"},
    "no redirect": {"redirect_uri": None},
    "a broken redirect": {"redirect_uri": "http://["},
    "another type of response": {"response_type": "token"},
    "an unknown program": {"client_id": "nobody"},
    "a program that no database holds": {"client_id": "a\x00b"},
    "a state that is too long": {"state": "s" * 4_001},
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED.keys())
def test_a_request_that_is_not_right_ends_in_a_page(browser: Client, changes: Mapping[str, Any]) -> None:
    asked = request_of(register()["client_id"]) | dict(changes)
    given = {name: value for name, value in asked.items() if value is not None}
    answered = browser.get("/oauth/authorize", given)
    assert answered.status_code == 400
    assert "This program can’t be connected" in answered.content.decode()


def test_a_link_leads_to_no_program_without_a_question(browser: Client) -> None:
    client_id = register()["client_id"]
    for scope in ("openid", "chat", "read everything"):
        answered = browser.get("/oauth/authorize", request_of(client_id, scope=scope))
        assert (answered.status_code, "Location" in answered) == (400, False)
        assert "invalid_scope" in answered.content.decode()


def test_a_stranger_signs_in_first() -> None:
    answered = Client().get("/oauth/authorize", request_of(register()["client_id"]))
    assert answered["Location"].startswith("/accounts/login/?next=/oauth/authorize")


def test_who_signed_in_long_ago_confirms_who_they_are_first(user: User) -> None:
    browser = browser_of(user)
    answered = browser.get("/oauth/authorize", request_of(register()["client_id"]))
    assert answered["Location"].startswith("/accounts/reauthenticate/?next=%2Foauth%2Fauthorize")


def test_a_code_is_taken_once_with_its_verifier_by_its_program(browser: Client) -> None:
    client_id, other = register()["client_id"], register()["client_id"]
    wrong: tuple[Mapping[str, Any], ...] = (
        {"code_verifier": "w" * 64},
        {"code_verifier": None},
        {"redirect_uri": "https://program.example/other"},
        {"client_id": other},
        {"resource": "https://other.example/mcp"},
        {"client_secret": "guess"},
        {"grant_type": "client_credentials"},
        {"grant_type": "password", "username": "ada", "password": "x"},
        {"code": "nonsense"},
        {"code": "n\x00n"},
    )
    for changes in wrong:
        answered = exchange(client_id, consent(browser, client_id), **changes)
        assert answered.status_code in (400, 401), changes
        assert "access_token" not in answered.json()
    code = consent(browser, client_id)
    assert exchange(client_id, code).status_code == 200
    assert exchange(client_id, code).status_code == 400
    assert Token.objects.count() == 2


def test_a_refresh_token_is_used_once_and_holds_for_90_days(browser: Client) -> None:
    first = connect(browser)
    assert refresh(register()["client_id"], first["refresh_token"]).status_code == 400
    second = refresh(first["client_id"], first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert refresh(first["client_id"], first["refresh_token"]).status_code == 400
    assert call_mcp(second["access_token"]).status_code == 200
    newest = second
    for _ in range(MAX_ACCESS_TOKENS + 2):
        newest = refresh(first["client_id"], newest["refresh_token"]).json()
    assert Token.objects.filter(type=Token.Type.ACCESS_TOKEN).count() == MAX_ACCESS_TOKENS
    assert refresh(first["client_id"], newest["refresh_token"], scope="read chat").status_code == 400
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        assert call_mcp(newest["access_token"]).status_code == 401
    with time_machine.travel(timezone.now() + timedelta(days=91)):
        assert refresh(first["client_id"], newest["refresh_token"]).status_code == 400
        forget_ended(timezone.now())
    assert not Token.objects.exists()


def test_of_two_refreshes_at_once_one_wins(browser: Client) -> None:
    connected = connect(browser)

    def try_it(_: int) -> int:
        try:
            return int(refresh(connected["client_id"], connected["refresh_token"]).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = sorted(pool.map(try_it, range(4)))
    assert answers == [200, 400, 400, 400]
    assert Token.objects.filter(type=Token.Type.REFRESH_TOKEN).count() == 1


def test_access_ends_when_the_person_or_the_program_says_so(
    browser: Client, user: User, make_user: MakeUser
) -> None:
    connected = connect(browser)
    with pytest.raises(Registered.DoesNotExist):
        revoke_grant(user_id=make_user().pk, client_id=connected["client_id"])
    assert revoke_grant(user_id=user.pk, client_id=connected["client_id"]) == "Claude"
    assert call_mcp(connected["access_token"]).status_code == 401
    assert refresh(connected["client_id"], connected["refresh_token"]).status_code == 400
    connected = connect(browser)
    given_back = {"token": connected["refresh_token"], "client_id": connected["client_id"]}
    assert Client().post("/oauth/revoke", given_back | {"client_id": "another"}).status_code == 200
    assert call_mcp(connected["access_token"]).status_code == 200
    assert Client().post("/oauth/revoke", given_back).status_code == 200
    assert call_mcp(connected["access_token"]).status_code == 401


def test_access_ends_with_a_new_password_a_disabled_account_and_a_restored_database(
    browser: Client, user: User
) -> None:
    token = connect(browser)["access_token"]
    AccountAdapter().set_password(user, "another-horse-battery")
    assert call_mcp(token).status_code == 401
    sign_in_confirmed(browser, user)
    token = connect(browser)["access_token"]
    user.is_active = False
    user.save()
    assert call_mcp(token).status_code == 401
    user.is_active = True
    user.save()
    assert call_mcp(token).status_code == 200
    end_what_ran()
    assert call_mcp(token).status_code == 401
    assert not Registered.objects.exists()


def test_a_token_is_for_one_host_and_one_resource(browser: Client, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    token = connect(browser)["access_token"]
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    other = Client().post("/mcp", "{}", content_type="application/json", headers={**headers, "Host": "other"})
    assert other.status_code == 401
    Token.objects.update(data=None)
    assert call_mcp(token).status_code == 401
