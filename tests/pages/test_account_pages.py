"""Every allauth page uses our layout, without inline styles or scripts."""

import re

import pytest
from allauth.account import urls
from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

OWN = {"account_logout", "account_reauthenticate", "account_email", "account_change_password"}
KEYED = {"account_confirm_email", "account_reset_password_from_key", "account_set_password"}
# Without a code in the mail this page only redirects to the sign-in.
CODES = {"account_confirm_login_code"}


def looks_like_ours(client: Client, address: str) -> str:
    response = client.get(address, follow=True)
    page = response.content.decode()
    assert response.status_code == 200, address
    assert 'class="wordmark"' in page, address
    assert 'class="card"' in page, address
    assert page.count("<h1>") == 1, address
    assert " placeholder=" not in page.partition('class="card"')[2].partition("</main>")[0], (
        f"{address}: a label says it already"
    )
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", page), address
    return page


def test_every_page_of_the_url_map_is_ours(client: Client, user: User) -> None:
    names = {str(pattern.name) for pattern in urls.urlpatterns}
    assert names >= OWN | KEYED | CODES
    for name in sorted(names - OWN - KEYED):
        looks_like_ours(client, reverse(name))
    client.force_login(user)
    for name in sorted(OWN):
        assert client.get(reverse(name)).status_code == 200
        looks_like_ours(client, reverse(name))


def test_pages_behind_a_link_are_ours_whether_it_works_or_not(
    client: Client, user: User, other_user: User
) -> None:
    waiting = EmailAddress.objects.create(user=user, email="new@example.org")
    works = EmailConfirmationHMAC.create(waiting).key
    assert "Is <strong>new@example.org</strong> your address" in looks_like_ours(
        client, f"/accounts/confirm-email/{works}/"
    )
    assert "no longer works" in looks_like_ours(client, "/accounts/confirm-email/gone/")
    EmailAddress.objects.create(user=other_user, email="new@example.org", verified=True)
    assert "already in use" in looks_like_ours(client, f"/accounts/confirm-email/{works}/")
    number = user_pk_to_url_str(user)
    token = default_token_generator.make_token(user)
    assert "Save password" in looks_like_ours(client, f"/accounts/password/reset/key/{number}-{token}/")
    assert "no longer works" in looks_like_ours(client, f"/accounts/password/reset/key/{number}-gone/")


def test_the_pages_of_the_email_address_are_ours_in_every_state(
    client: Client, user: User, settings: Settings
) -> None:
    client.force_login(user)
    assert f"Your address is <strong>{user.email}</strong>" in looks_like_ours(client, "/accounts/email/")
    EmailAddress.objects.filter(user=user).update(verified=True, primary=True)
    EmailAddress.objects.create(user=user, email="new@example.org")
    page = looks_like_ours(client, "/accounts/email/")
    assert f"You sign in with <strong>{user.email}</strong>" in page
    assert "Send the link again" in page
    EmailAddress.objects.all().delete()
    User.objects.filter(pk=user.pk).update(email="")
    assert "has no email address" in looks_like_ours(client, "/accounts/email/")


@pytest.mark.slow
def test_the_pages_of_two_step_sign_in_are_ours_in_every_state(client: Client, user: User) -> None:
    client.force_login(user)
    assert "Off. An app" in looks_like_ours(client, "/accounts/2fa/")
    assert "You have no passkeys" in looks_like_ours(client, "/accounts/2fa/webauthn/")
    client.post("/accounts/reauthenticate/", {"password": PASSWORD, "next": "/"})
    assert "Can’t scan it?" in looks_like_ours(client, "/accounts/2fa/totp/activate/")
    added = looks_like_ours(client, "/accounts/2fa/webauthn/add/")
    assert 'data-options="{&quot;publicKey&quot;' in added
    TOTP.activate(user, "JBSWY3DPEHPK3PXP")
    data = {"name": "My <phone>", "credential": {}}
    passkey = Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=data)
    client.post("/accounts/2fa/recovery-codes/generate/")
    for address in (
        "/accounts/2fa/",
        "/accounts/2fa/webauthn/",
        f"/accounts/2fa/webauthn/keys/{passkey.pk}/remove/",
    ):
        assert "My &lt;phone&gt;" in looks_like_ours(client, address)
    looks_like_ours(client, f"/accounts/2fa/webauthn/keys/{passkey.pk}/edit/")
    for address in ("totp/deactivate/", "recovery-codes/", "recovery-codes/generate/"):
        looks_like_ours(client, f"/accounts/2fa/{address}")
    passkey.delete()
    assert "Confirm it’s you" in looks_like_ours(client, "/accounts/reauthenticate/")
    assert "Enter a code" in looks_like_ours(client, "/accounts/2fa/reauthenticate/")
    stranger = Client()
    stranger.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert "Second step" in looks_like_ours(stranger, "/accounts/2fa/authenticate/")


def test_an_account_without_a_password_sets_one(client: Client, user: User) -> None:
    user.set_unusable_password()
    user.save()
    client.force_login(user)
    assert "Set a password" in looks_like_ours(client, "/accounts/password/change/")


def test_the_rules_for_a_password_are_one_sentence_with_the_real_numbers(client: Client) -> None:
    page = client.get(reverse("account_signup")).content.decode()
    rules = re.findall(r'<div class="field-help" id="id_password1_helptext">([^<]*)</div>', page)
    least = MinimumLengthValidator().min_length
    assert rules == [f"At least {least} characters, not only digits, and nothing that’s easy to guess."]
