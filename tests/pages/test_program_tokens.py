"""The page of programs: who makes a token confirms first that it is them, and hears of it by mail."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail import EmailMessage
from django.db import connection, transaction
from pytest_django import Settings

from coaching.models import ProgramToken
from coaching.programs.callers import NotKnown
from coaching.programs.tokens import find_caller, make_token
from sage.accounts import AccountAdapter
from tests.browsers import browser_of, confirmed_browser_of

pytestmark = pytest.mark.django_db

PAGE = "/settings/programs/"
FORM = {"name": "Shell", "scopes": ["capture", "read"], "days": "90"}


def the_mail() -> EmailMessage:
    """Wait for the one mail, which is sent after the response."""
    until = time.monotonic() + 30
    while not mail.outbox and time.monotonic() < until:
        time.sleep(0.05)
    (sent,) = mail.outbox
    return sent


def test_a_token_is_made_only_after_the_password_was_given_again(user: User) -> None:
    browser = browser_of(user)
    response = browser.post(PAGE, FORM)
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/reauthenticate/")
    assert not ProgramToken.of(user.pk).exists()


def test_a_secret_is_shown_once_and_a_mail_says_what_was_allowed(user: User, settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    browser = confirmed_browser_of(user)
    response = browser.post(PAGE, FORM)
    (secret,) = re.findall(r"<code>(sage_[\w-]{43})</code>", response.content.decode())
    assert response["Cache-Control"] == "private, no-store"
    assert find_caller(secret).name == "Shell"
    assert secret not in browser.get(PAGE).content.decode()
    sent = the_mail()
    assert sent.to == [user.email]
    assert "“Shell”" in sent.body
    assert "Add captures; Read files, next steps, documents and summaries" in sent.body
    assert "sage_" not in sent.message().as_string()
    token = ProgramToken.of(user.pk).get()
    assert browser.post(f"{PAGE}{token.pk}/revoke/").status_code == 303
    with pytest.raises(NotKnown):
        find_caller(secret)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": " "}, "Give it a name of up to 60 characters."),
        ({"scopes": []}, "Choose what the program may do."),
        ({"scopes": ["admin"]}, "admin"),
        ({"days": "366"}, "366"),
    ],
)
def test_a_form_that_isnt_right_says_so_and_keeps_what_was_typed(
    user: User, changed: dict[str, object], words: str
) -> None:
    browser = confirmed_browser_of(user)
    response = browser.post(PAGE, {**FORM, **changed})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert not ProgramToken.of(user.pk).exists()


def test_the_twenty_first_token_is_refused_in_a_sentence(user: User) -> None:
    for number in range(20):
        make_token(user_id=user.pk, name=f"Shell {number}", scopes=["read"], days=90)
    browser = confirmed_browser_of(user)
    response = browser.post(PAGE, FORM)
    assert response.status_code == 422
    assert "You have 20 tokens already. Revoke one first." in response.content.decode()


@pytest.mark.django_db(transaction=True)
def test_no_token_that_is_made_at_the_moment_of_a_new_password_survives_it(user: User) -> None:
    browser = confirmed_browser_of(user)

    def make(_: int) -> int:
        try:
            return browser.post(PAGE, FORM).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            AccountAdapter().set_password(user, "another long passphrase")
            making = pool.submit(make, 0)
            with pytest.raises(TimeoutError):
                making.result(timeout=0.5)
        assert making.result(timeout=30) in {422, 302}, "302: it came late, and the browser is signed out"
    assert not ProgramToken.of(user.pk).exists()


def test_operators_see_how_many_programs_and_nothing_else_of_them(user: User, operator: User) -> None:
    browser = browser_of(user)
    browser.get("/settings/")
    make_token(user_id=user.pk, name="Very own name", scopes=["read"], days=90)
    admin = browser_of(operator)
    page = admin.get("/admin/coaching/profile/").content.decode()
    assert '<td class="field-programs">1</td>' in page
    assert "Very own name" not in page
