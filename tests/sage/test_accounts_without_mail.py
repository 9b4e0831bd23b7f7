"""Accounts without EMAIL_URL: nothing can be confirmed, so sign-up is for this machine only."""

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User

from tests.conftest import PASSWORD, MakeUser
from tests.sage.test_accounts import MINE, begin_change, sign_in, sign_up

pytestmark = pytest.mark.django_db


def test_an_address_that_is_taken_is_refused_openly() -> None:
    assert sign_up("ada@example.org", MINE)["Location"] == "/welcome/"
    assert "already an account" in sign_up("Ada@example.org", MINE).content.decode()
    assert User.objects.count() == 1


def test_an_address_is_changed_at_once_by_the_password(make_user: MakeUser) -> None:
    make_user("grace")
    ada = make_user("ada")
    client = sign_in("ada", PASSWORD)
    assert client
    begin_change(client, "new@example.org", PASSWORD)
    ada.refresh_from_db()
    assert ada.email == "new@example.org"
    assert [address.email for address in EmailAddress.objects.filter(user=ada)] == ["new@example.org"]
    taken = client.post("/accounts/email/", {"action_add": "1", "email": "grace@example.org"})
    assert "already an account" in taken.content.decode()
