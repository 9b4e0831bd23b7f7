"""OAuth when somebody has stolen something, or sends what no page of Sage sends."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from allauth.idp.oidc.models import Client as Registered
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from coaching.models import ActionItem
from coaching.programs.grants import grants_of, revoke_grant
from sage.accounts import AccountAdapter
from tests.browsers import browser_of, sign_in_confirmed
from tests.oauth.program import (
    call_mcp,
    connect,
    consent,
    exchange,
    refresh,
    register,
    request_of,
    signed,
)
from tests.pages.test_program_tokens import the_mail

pytestmark = pytest.mark.django_db(transaction=True)  # `/mcp` reads in threads of its own


def test_a_page_of_consent_is_answered_by_who_is_signed_in_and_confirmed_it_lately(
    browser: Client, user: User
) -> None:
    client_id = register()["client_id"]
    form = {
        "request": signed(browser.get("/oauth/authorize", request_of(client_id))),
        "scopes": ["read"],
        "action": "grant",
    }
    assert Client().post("/oauth/authorize?prompt=none", form).status_code == 400
    assert Client().post("/oauth/authorize", form)["Location"].startswith("/accounts/login/")
    late = browser_of(user)
    again = late.post("/oauth/authorize", form)["Location"]
    assert again.startswith("/oauth/authorize?client_id=")
    assert late.get(again)["Location"].startswith("/accounts/reauthenticate/")
    sign_in_confirmed(late, user)
    shown = late.get(again)
    assert shown.status_code == 200
    answered = late.post("/oauth/authorize", form | {"request": signed(shown)})
    assert answered["Location"].startswith("https://program.example/callback?code=")
    assert "state=s1" in answered["Location"]


def test_a_program_that_was_forgotten_meanwhile_is_not_connected(browser: Client) -> None:
    request = signed(browser.get("/oauth/authorize", request_of(register()["client_id"])))
    Registered.objects.all().delete()
    for scopes in ([], ["read"]):
        form = {"request": request, "scopes": scopes, "action": "grant"}
        assert browser.post("/oauth/authorize", form).status_code == 400


def test_an_id_that_cannot_be_stored_is_one_of_no_connected_program(browser: Client) -> None:
    assert browser.post("/settings/programs/connected/%00/").status_code == 404


def test_the_person_hears_of_a_new_program_by_mail(browser: Client, user: User, settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    user.email = "ada@example.org"
    user.save()
    consent(browser, register("Claude")["client_id"], "read")
    sent = the_mail()
    assert sent.to == ["ada@example.org"]
    assert "Claude" in sent.body
    assert "Read files, next steps, documents and summaries" in sent.body
    assert "Add captures" not in sent.body


def test_a_narrower_consent_takes_the_place_of_a_wider_one(browser: Client, user: User) -> None:
    wide = connect(browser, "capture read write")
    narrow = exchange(wide["client_id"], consent(browser, wide["client_id"], "read")).json()
    assert call_mcp(wide["access_token"]).status_code == 401
    assert refresh(wide["client_id"], wide["refresh_token"]).status_code == 400
    assert call_mcp(narrow["access_token"]).status_code == 200
    (grant,) = grants_of(user.pk, now=timezone.now())
    assert list(grant.scopes) == ["read"]


def test_a_stolen_refresh_token_ends_the_grant_when_both_have_used_it(browser: Client) -> None:
    mine = connect(browser)
    stolen = mine["refresh_token"]
    thief = refresh(mine["client_id"], stolen).json()
    assert refresh(mine["client_id"], stolen).status_code == 400
    assert call_mcp(thief["access_token"]).status_code == 200, "a request that was repeated ends nothing"
    with time_machine.travel(timezone.now() + timedelta(minutes=2)):
        assert refresh(mine["client_id"], stolen).status_code == 400
        assert call_mcp(thief["access_token"]).status_code == 401
        assert refresh(mine["client_id"], thief["refresh_token"]).status_code == 400
    assert not Token.objects.exists()


def test_a_program_that_refreshes_while_it_is_disconnected_keeps_no_access(
    browser: Client, user: User
) -> None:
    connected = connect(browser)

    def disconnect(_: int) -> None:
        try:
            revoke_grant(user_id=user.pk, client_id=connected["client_id"])
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            renewed = refresh(connected["client_id"], connected["refresh_token"])
            ending = pool.submit(disconnect, 0)
            with pytest.raises(TimeoutError):
                ending.result(timeout=0.5)
        ending.result(timeout=30)
    assert renewed.status_code == 200
    assert not Token.objects.exists()


def test_a_refresh_token_that_was_used_can_be_given_back(browser: Client) -> None:
    connected = connect(browser)
    newest = refresh(connected["client_id"], connected["refresh_token"]).json()
    given_back = {"token": connected["refresh_token"], "client_id": connected["client_id"]}
    assert Client().post("/oauth/revoke", given_back).status_code == 200
    assert call_mcp(newest["access_token"]).status_code == 401
    assert not Token.objects.exists()


def test_a_suggestion_that_waits_is_not_written_when_its_access_has_ended(
    browser: Client, user: User
) -> None:
    program = connect(browser)
    is_held = threading.Event()

    def revoke_what_waits() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("LOCK TABLE coaching_client IN ACCESS EXCLUSIVE MODE")
                is_held.set()
                cursor.execute("SELECT pg_sleep(0.5)")
                revoke_grant(user_id=user.pk, client_id=program["client_id"])
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        revoking = pool.submit(revoke_what_waits)
        assert is_held.wait(timeout=30)
        late = call_mcp(
            program["access_token"],
            "tools/call",
            name="create_action_item",
            arguments={"title": "Written too late"},
        )
        revoking.result()
    assert late.status_code == 401
    assert not ActionItem.of(user.pk).exists()


def test_a_code_ends_with_a_new_password(browser: Client, user: User) -> None:
    client_id = register()["client_id"]
    code = consent(browser, client_id)
    AccountAdapter().set_password(user, "another-horse-battery")
    user.save()
    assert exchange(client_id, code).status_code == 400
    assert not Token.objects.exists()


def test_codes_that_nobody_made_are_not_stored(browser: Client) -> None:
    client_id = register()["client_id"]
    before = set(vars(caches["default"])["_cache"])
    assert exchange(client_id, "guess").status_code == 400
    assert set(vars(caches["default"])["_cache"]) == before
