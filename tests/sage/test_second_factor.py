"""Two-step sign-in: no password alone opens an account with a second factor, no page shows its secrets."""

import json
import re
from datetime import UTC, datetime
from html import unescape
from http import HTTPStatus
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from coaching.personal_data.ownership import owned_models
from coaching.personal_data.rows import rows_as_json
from sage.second_factor import MAX_PASSKEYS, SecondFactorAdapter
from sage.sign_in_attempts import COOKIE
from tests.browsers import browser_of
from tests.conftest import PASSWORD, MakeUser
from tests.sage.one_time_codes import code_of
from tests.sage.software_passkey import Options, SoftwarePasskey

pytestmark = pytest.mark.django_db

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
# In the middle of a period, so that all codes of a test are of the same one.
NOW = datetime(2026, 11, 23, 10, 0, 15, tzinfo=UTC)
SECOND_STEP = "/accounts/2fa/authenticate/"
PASSKEY = "/accounts/2fa/webauthn/login/"
ADD = "/accounts/2fa/webauthn/add/"


@pytest.fixture(autouse=True)
def forget_codes() -> None:
    """Used codes are remembered by user, whose numbers repeat."""
    cache.clear()


def with_app(user: User) -> User:
    """Give a person an authenticator app and recovery codes."""
    TOTP.activate(user, SECRET)
    RecoveryCodes.activate(user)
    return user


def password_given(login: str, next_page: str = "/") -> tuple[Client, str]:
    """Return a browser that has sent the right password, and where it was sent."""
    client = Client()
    response = client.post("/accounts/login/", {"login": login, "password": PASSWORD, "next": next_page})
    assert response.status_code == HTTPStatus.FOUND
    return client, response["Location"]


def is_signed_in(client: Client) -> bool:
    return client.get("/settings/").status_code == HTTPStatus.OK


def confirmed(client: Client) -> Client:
    """Confirm with the password that it's still the same person."""
    client.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": "/"})
    return client


def test_an_app_is_set_up_with_a_code_and_then_asked_for(user: User) -> None:
    with time_machine.travel(NOW, tick=False):
        client, _ = password_given("ada")
        asked = client.get("/accounts/2fa/totp/activate/")
        assert asked["Location"].startswith("/accounts/reauthenticate/")
        page = confirmed(client).get("/accounts/2fa/totp/activate/").content.decode()
        found = re.search(r'<code class="plain">(\w+)</code>', page)
        assert found
        wrong = client.post("/accounts/2fa/totp/activate/", {"code": code_of(found[1], periods_later=9)})
        assert "That code isn’t right" in wrong.content.decode()
        done = client.post("/accounts/2fa/totp/activate/", {"code": code_of(found[1])}, follow=True)
        codes = re.findall(r"<li><code>(\d{8})</code></li>", done.content.decode())
        assert len(codes) == 10
        download = client.get("/accounts/2fa/recovery-codes/download/").content.decode()
        assert re.findall(r"^\d{8}$", download, re.MULTILINE) == codes

        other, went_to = password_given("ada", next_page="/map/")
        assert went_to == SECOND_STEP
        assert not is_signed_in(other)
        assert "That code isn’t right" in other.post(SECOND_STEP, {"code": "000000"}).content.decode()
        signed_in = other.post(SECOND_STEP, {"code": codes[3]})
        assert signed_in["Location"] == "/map/"
        assert is_signed_in(other)
        # A recovery code works once.
        third, _ = password_given("ada")
        third.post(SECOND_STEP, {"code": codes[3]})
        assert not is_signed_in(third)


def test_a_code_works_once_also_when_the_next_one_is_due(user: User) -> None:
    with_app(user)
    with time_machine.travel(NOW, tick=False) as clock:
        code = code_of(SECRET)
        first, _ = password_given("ada")
        first.post(SECOND_STEP, {"code": f"{code[:3]} {code[3:]}"})
        assert is_signed_in(first)
        for _ in range(2):
            again, _ = password_given("ada")
            again.post(SECOND_STEP, {"code": code})
            assert not is_signed_in(again)
            clock.shift(30)
        # The next one does.
        again.post(SECOND_STEP, {"code": code_of(SECRET)})
        assert is_signed_in(again)


def test_an_operator_with_a_second_factor_gets_into_the_admin_with_both_only(operator: User) -> None:
    with_app(operator)
    client = Client()
    fields = {"username": "olive", "password": PASSWORD, "next": "/admin/"}
    assert client.post("/admin/login/", fields)["Location"].startswith("/accounts/login/")
    assert client.get("/admin/").status_code == HTTPStatus.FOUND
    client, went_to = password_given("olive", next_page="/admin/")
    assert went_to == SECOND_STEP
    assert client.get("/admin/").status_code == HTTPStatus.FOUND
    assert client.post(SECOND_STEP, {"code": code_of(SECRET)})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == HTTPStatus.OK


def test_a_reset_password_does_not_replace_the_second_factor(user: User) -> None:
    with_app(user)
    user.set_password("another-good-password-3")
    user.save()
    client = Client()
    client.post("/accounts/login/", {"login": "ada", "password": "another-good-password-3"})
    assert not is_signed_in(client)


def guess(client: Client, times: int, address: str) -> str:
    """Send wrong codes, and return the last page."""
    page = ""
    for _ in range(times):
        page = client.post(SECOND_STEP, {"code": "000000"}, REMOTE_ADDR=address).content.decode()
    return page


@pytest.fixture
def limited(settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "30/m/ip"}


@pytest.mark.usefixtures("limited")
def test_codes_are_guessed_five_times_and_no_more(user: User) -> None:
    with_app(user)
    client, _ = password_given("ada")
    assert "That code isn’t right" in guess(client, 5, "192.0.2.1")
    refused = client.post(SECOND_STEP, {"code": code_of(SECRET)}, REMOTE_ADDR="192.0.2.1")
    assert "Too many attempts" in refused.content.decode()
    assert not is_signed_in(client)


@pytest.mark.slow
@pytest.mark.usefixtures("limited")
def test_who_has_the_password_keeps_the_owner_out_neither_here_nor_elsewhere(user: User) -> None:
    with_app(user)
    with time_machine.travel(NOW, tick=False) as clock:
        own, _ = password_given("ada")
        own.post(SECOND_STEP, {"code": code_of(SECRET)}, REMOTE_ADDR="198.51.100.7")
        own.post("/accounts/logout/")
        thief, _ = password_given("ada")
        guess(thief, 6, "192.0.2.1")
        clock.shift(60)
        # On a new phone, at another address.
        phone, _ = password_given("ada")
        phone.post(SECOND_STEP, {"code": code_of(SECRET)}, REMOTE_ADDR="198.51.100.8")
        assert is_signed_in(phone)
        # From everywhere: then only browsers that are known.
        for number in range(5):
            last = guess(thief, 5, f"2001:db8:0:{number}::1")
        assert "Too many attempts" in last
        clock.shift(60)
        stranger, _ = password_given("ada")
        stranger.post(SECOND_STEP, {"code": code_of(SECRET)}, REMOTE_ADDR="203.0.113.9")
        assert not is_signed_in(stranger)
        clock.shift(60)
        own.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
        own.post(SECOND_STEP, {"code": code_of(SECRET)}, REMOTE_ADDR="192.0.2.1")
        assert is_signed_in(own)


@pytest.mark.usefixtures("limited")
def test_the_addresses_of_a_network_count_as_one_and_a_cookie_is_its_users_only(
    user: User, make_user: MakeUser
) -> None:
    with_app(user)
    client, _ = password_given("ada")
    for number in range(5):
        guess(client, 1, f"2001:db8:0:1::{number + 1}")
    assert "Too many attempts" in guess(client, 1, "2001:db8:0:1:ffff::1")
    other = make_user()
    theirs, _ = password_given(other.username)
    assert is_signed_in(theirs)
    cookie = theirs.cookies[COOKIE].value
    theirs.post("/accounts/logout/")
    for value in (cookie, cookie[:-1], "x"):
        theirs.cookies[COOKIE] = value
        theirs.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
        assert "Too many attempts" in guess(theirs, 1, "2001:db8:0:1::2")


@pytest.mark.usefixtures("limited")
def test_wrong_passwords_keep_the_owner_out_of_no_known_browser_and_no_other_address(user: User) -> None:
    own, _ = password_given("ada")
    own.post("/accounts/logout/")
    wrong, right = ({"login": "ada", "password": password} for password in ("wrong", PASSWORD))
    for _ in range(6):
        refused = Client().post("/accounts/login/", wrong, REMOTE_ADDR="192.0.2.1")
    assert "Too many attempts" in refused.content.decode()
    assert Client().post("/accounts/login/", right, REMOTE_ADDR="192.0.2.1").status_code == HTTPStatus.OK
    assert Client().post("/accounts/login/", right, REMOTE_ADDR="192.0.2.2").status_code == HTTPStatus.FOUND
    assert own.post("/accounts/login/", right, REMOTE_ADDR="192.0.2.1").status_code == HTTPStatus.FOUND


@pytest.mark.usefixtures("limited")
def test_each_name_of_an_account_counts_for_the_account(user: User) -> None:
    user.email = "ada@example.org"
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    for login in ("ada", "Ada", user.email, user.email.upper(), "ada"):
        Client().post("/accounts/login/", {"login": login, "password": "wrong"}, REMOTE_ADDR="192.0.2.1")
    for login in ("ada", user.email):
        right = {"login": login, "password": PASSWORD}
        refused = Client().post("/accounts/login/", right, REMOTE_ADDR="192.0.2.1")
        assert "Too many attempts" in refused.content.decode()


CHANGES = (
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_add_webauthn",
    "mfa_view_recovery_codes",
    "mfa_download_recovery_codes",
    "mfa_generate_recovery_codes",
)


def test_every_change_asks_who_it_is_first(client: Client, user: User, make_user: MakeUser) -> None:
    client.force_login(with_app(user))
    without = browser_of(make_user())
    for name in CHANGES:
        browser = without if name == "mfa_activate_totp" else client
        for response in (browser.get(reverse(name)), browser.post(reverse(name), {"code": "1"})):
            if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
                assert response["Location"].startswith("/accounts/reauthenticate/"), name
    # By password, or by a code.
    page = client.get("/accounts/reauthenticate/?next=/accounts/2fa/totp/deactivate/").content.decode()
    assert '<a href="/accounts/2fa/reauthenticate/?next=' in page
    client.post("/accounts/2fa/reauthenticate/", {"code": code_of(SECRET), "next": "/"})
    assert client.post(reverse("mfa_deactivate_totp"))["Location"] == "/accounts/2fa/"
    assert not Authenticator.objects.filter(user=user).exists()


def passkey_of(user: User, name: str = "Phone") -> Authenticator:
    """Store a passkey that nobody can use."""
    data = {"name": name, "credential": {}}
    return Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=data)


def test_somebody_elses_passkey_is_answered_like_a_missing_one(
    client: Client, user: User, other_user: User
) -> None:
    theirs = passkey_of(other_user)
    client.force_login(user)
    confirmed(client)
    answers = set()
    for pk in (theirs.pk, 999_999):
        for name in ("mfa_edit_webauthn", "mfa_remove_webauthn"):
            address = reverse(name, args=[pk])
            answers |= {client.get(address).status_code, client.post(address, {"name": "x"}).status_code}
    assert answers == {HTTPStatus.NOT_FOUND}
    theirs.refresh_from_db()
    assert theirs.data["name"] == "Phone"


def shaped(response: object) -> str:
    """Return a credential that has a browser's fields."""
    return json.dumps({"id": "YQ", "rawId": "YQ", "type": "public-key", "response": response})


RESPONSE_FIELDS = ("clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle")
HOSTILE = (
    *("", "nonsense", "null", "[]", "1", '"text"', "{}", '{"id": 1}'),
    *(shaped(response) for response in (1, {}, dict.fromkeys(RESPONSE_FIELDS, "AA"), {"userHandle": "é"})),
    '{"id": "\\u0000", "rawId": "\\ud800", "response": {}}',
    json.dumps({"id": "a" * 30_000}),
)


@pytest.mark.parametrize("sent", HOSTILE)
def test_an_unreadable_credential_is_refused_in_words_everywhere(user: User, sent: str) -> None:
    anonymous = Client()
    anonymous.get(PASSKEY, headers={"Accept": "application/json"})
    refused = anonymous.post(PASSKEY, {"credential": sent}, follow=True)
    assert refused.status_code == HTTPStatus.OK
    assert not is_signed_in(anonymous)
    with_app(user)
    passkeys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    client, _ = password_given("ada")
    client.get(SECOND_STEP)
    assert client.post(SECOND_STEP, {"credential": sent}).status_code == HTTPStatus.OK
    assert not is_signed_in(client)
    client.force_login(user)
    confirmed(client)
    client.get(ADD)
    refused = client.post(ADD, {"name": "x", "credential": sent, "passwordless": "True"})
    assert refused.status_code == HTTPStatus.OK
    assert not passkeys.exists()


def options_of(client: Client, address: str) -> Options:
    """Return what a page or, for a sign-in, the server asks of a passkey."""
    response = client.get(address, headers={"Accept": "application/json"})
    asked: Options
    if response["Content-Type"] == "application/json":
        asked = response.json()["request_options"]
    else:
        found = re.search(r'data-options="([^"]+)"', response.content.decode())
        assert found, response.content.decode()
        asked = json.loads(unescape(found[1]))
    return asked


def add_passkey(client: Client, passkey: SoftwarePasskey) -> Any:
    """Send a new passkey the way that the page does."""
    credential = passkey.register(options_of(client, ADD))
    fields = {"name": "Phone", "credential": credential, "passwordless": "True"}
    return client.post(ADD, fields)


def passkey_given(passkey: SoftwarePasskey) -> Client:
    """Return a browser after a try to sign in with a passkey alone."""
    client = Client()
    credential = passkey.sign(options_of(client, PASSKEY))
    client.post(PASSKEY, {"credential": credential, "next": "/"})
    return client


def test_a_passkey_signs_in_alone_or_is_the_second_step(client: Client, user: User) -> None:
    client.force_login(user)
    passkey, strangers = SoftwarePasskey(), SoftwarePasskey()
    added = add_passkey(confirmed(client), passkey)
    assert added["Location"] == "/accounts/2fa/recovery-codes/"
    assert is_signed_in(passkey_given(passkey))
    strangers.register({"publicKey": {"challenge": "YQ", "user": {"id": passkey._user}}})
    assert not is_signed_in(passkey_given(strangers))
    # The password alone no longer does; with the passkey it does, once.
    second, went_to = password_given("ada")
    assert went_to == SECOND_STEP
    credential = passkey.sign(options_of(second, SECOND_STEP))
    assert not is_signed_in(second)
    second.post(SECOND_STEP, {"credential": credential})
    assert is_signed_in(second)
    third, _ = password_given("ada")
    third.get(SECOND_STEP)
    third.post(SECOND_STEP, {"credential": credential})
    assert not is_signed_in(third)
    # Neither for a closed account nor after it was removed.
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert not is_signed_in(passkey_given(passkey))
    User.objects.filter(pk=user.pk).update(is_active=True)
    pk = Authenticator.objects.get(user=user, type=Authenticator.Type.WEBAUTHN).pk
    client.post(reverse("mfa_remove_webauthn", args=[pk]))
    assert not is_signed_in(passkey_given(passkey))
    assert not Authenticator.objects.filter(user=user).exists()


def test_a_passkey_that_checks_nobody_is_not_taken(client: Client, user: User) -> None:
    client.force_login(user)
    refused = add_passkey(confirmed(client), SoftwarePasskey(verifies=False))
    assert "That passkey didn’t work" in refused.content.decode()
    assert not Authenticator.objects.filter(user=user).exists()


@pytest.mark.slow
def test_passkeys_are_bounded(client: Client, user: User) -> None:
    client.force_login(user)
    confirmed(client)
    for _ in range(MAX_PASSKEYS):
        assert add_passkey(client, SoftwarePasskey()).status_code == HTTPStatus.FOUND
    assert "up to 20 passkeys" in add_passkey(client, SoftwarePasskey()).content.decode()
    assert Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN).count() == MAX_PASSKEYS


def test_secrets_are_neither_stored_as_they_are_nor_exported_nor_shown_to_operators(
    client: Client, user: User, operator: User, settings: Settings
) -> None:
    with_app(user)
    stored = Authenticator.objects.get(user=user, type=Authenticator.Type.TOTP)
    codes = Authenticator.objects.get(user=user, type=Authenticator.Type.RECOVERY_CODES)
    assert SECRET not in json.dumps(stored.data)
    owned = next(owned for owned in owned_models() if owned.model is Authenticator)
    exported = "".join(rows_as_json(owned, user_id=user.pk))
    assert [row["type"] for row in json.loads(exported)] == ["totp", "recovery_codes"]
    client.force_login(operator)
    page = client.get(reverse("admin:mfa_authenticator_change", args=[stored.pk])).content.decode()
    assert "ada" in page
    for text in (exported, page):
        assert stored.data["secret"] not in text
        assert codes.data["seed"] not in text
    # An operator helps somebody who lost their phone.
    client.post(reverse("admin:mfa_authenticator_delete", args=[stored.pk]), {"post": "yes"})
    assert is_signed_in(password_given("ada")[0])


def test_a_changed_secret_key_reads_old_secrets_as_a_fallback_and_never_fits_without_it(
    user: User, settings: Settings
) -> None:
    with_app(user)
    kept = settings.SECRET_KEY
    settings.SECRET_KEY = "another-key-of-at-least-fifty-characters-and-many-distinct-ones"
    client, went_to = password_given("ada")
    assert went_to == SECOND_STEP
    assert "That code isn’t right" in client.post(SECOND_STEP, {"code": code_of(SECRET)}).content.decode()
    settings.SECRET_KEY_FALLBACKS = [kept]
    client.post(SECOND_STEP, {"code": code_of(SECRET)})
    assert is_signed_in(client)
    adapter = SecondFactorAdapter()
    assert adapter.decrypt(adapter.encrypt("plain")) == "plain"
