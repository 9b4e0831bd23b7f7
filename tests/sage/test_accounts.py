"""Accounts with mail: nobody gets one with somebody else's address, or learns who has one."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from io import StringIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail import EmailMessage
from django.core.mail.backends.locmem import EmailBackend
from django.core.management import call_command
from django.http import HttpResponseBase
from django.test import Client
from pytest_django import Settings

from sage import mail as sage_mail
from tests.conftest import PASSWORD, MakeUser

pytestmark = pytest.mark.django_db(transaction=True)

VICTIM, ATTACKER = "victim@example.org", "attacker@example.org"
MINE, THEIRS, NEW = "victims-own-password-1", "attackers-password-2", "another-good-password-3"
WAIT_SECONDS = 20

Known = Callable[[str], User]


@pytest.fixture(autouse=True)
def with_mail(settings: Settings) -> Iterator[None]:
    """The settings with EMAIL_URL."""
    settings.HAS_MAIL = True
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.ACCOUNT_PREVENT_ENUMERATION = "strict"
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    yield
    until_sent()


@pytest.fixture
def known(make_user: MakeUser) -> Known:
    """Make a person whose address is confirmed."""

    def make(email: str) -> User:
        person = make_user()
        User.objects.filter(pk=person.pk).update(email=email)
        EmailAddress.objects.create(user=person, email=email, verified=True, primary=True)
        person.refresh_from_db()
        return person

    return make


def until_sent() -> None:
    """Wait until all work after responses is done."""
    deadline = time.monotonic() + WAIT_SECONDS
    while sage_mail._places._value < sage_mail.MAX_WAITING:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def mails_to(address: str) -> list[EmailMessage]:
    until_sent()
    return [message for message in mail.outbox if message.to == [address]]


def link_in(message: EmailMessage, kind: str) -> str:
    found = re.search(rf"http://[^/]+(/accounts/{kind}/\S+)", str(message.body))
    assert found, message.body
    return found[1]


def sign_up(email: str, password: str, *, language: str = "en") -> Any:
    fields = {"email": email, "password1": password, "password2": password}
    return Client().post("/accounts/signup/", fields, headers={"Accept-Language": language})


def confirm(message: EmailMessage) -> None:
    assert Client().post(link_in(message, "confirm-email")).status_code == HTTPStatus.FOUND


def sign_in(login: str, password: str) -> Client | None:
    """Return a signed-in browser, None if the sign-in is refused."""
    client = Client()
    client.post("/accounts/login/", {"login": login, "password": password})
    return client if client.get("/settings/").status_code == HTTPStatus.OK else None


def ask_for_reset(email: str) -> list[EmailMessage]:
    before = len(mails_to(email))
    Client().post("/accounts/password/reset/", {"email": email})
    return mails_to(email)[before:]


def set_password_by(message: EmailMessage, password: str) -> None:
    client = Client()
    form = client.get(link_in(message, "password/reset/key"), follow=True)
    client.post(form.redirect_chain[-1][0], {"password1": password, "password2": password})


def begin_change(client: Client, email: str, password: str) -> HttpResponseBase:
    """Request another address, with the password where it is required."""
    asked = client.post("/accounts/email/", {"action_add": "1", "email": email})
    assert asked["Location"].startswith("/accounts/reauthenticate/"), asked["Location"]
    return client.post(asked["Location"], {"password": password, "next": "/accounts/email/"})


def test_a_take_over_by_an_address_that_was_never_confirmed_fails_at_each_step() -> None:
    attackers = Client()
    fields = {"email": VICTIM, "password1": THEIRS, "password2": THEIRS}
    response = attackers.post("/accounts/signup/", fields)
    assert response["Location"] == "/accounts/confirm-email/"
    (invitation,) = mails_to(VICTIM)
    assert "ignore this message" in invitation.body
    # Not signed in, neither by the sign-up nor with the password.
    assert attackers.get("/settings/").status_code == HTTPStatus.FOUND
    assert sign_in(VICTIM, THEIRS) is None
    # No second address.
    asked = attackers.post("/accounts/email/", {"action_add": "1", "email": ATTACKER})
    assert asked["Location"].startswith("/accounts/login/")
    assert not EmailAddress.objects.filter(email=ATTACKER).exists()
    # The victim's reset doesn't open the attacker's account, and the mail says why.
    (told,) = ask_for_reset(VICTIM)
    assert "there’s nothing to reset" in told.body
    assert "/password/reset/key/" not in told.body
    # Nor does the attacker's.
    (told,) = ask_for_reset(ATTACKER)
    assert "/password/reset/key/" not in told.body
    # The victim gets their own account with their own password.
    sign_up(VICTIM, MINE)
    confirm(mails_to(VICTIM)[-1])
    assert sign_in(VICTIM, MINE)
    assert sign_in(VICTIM, THEIRS) is None
    # The first link is no longer valid.
    Client().post(link_in(invitation, "confirm-email"))
    assert EmailAddress.objects.filter(email=VICTIM, verified=True).count() == 1
    assert sign_in(VICTIM, MINE)
    assert sign_in(VICTIM, THEIRS) is None


def test_a_stranger_who_confirms_by_mistake_gets_the_account_by_a_reset_for_good() -> None:
    sign_up(VICTIM, THEIRS)
    confirm(mails_to(VICTIM)[0])
    attackers = sign_in(VICTIM, THEIRS)
    assert attackers
    begin_change(attackers, ATTACKER, THEIRS)
    (waiting,) = mails_to(ATTACKER)
    (reset,) = ask_for_reset(VICTIM)
    set_password_by(reset, MINE)
    # The session, the pending change and the second address are invalid.
    assert attackers.get("/settings/").status_code == HTTPStatus.FOUND
    Client().post(link_in(waiting, "confirm-email"))
    assert not EmailAddress.objects.filter(email=ATTACKER).exists()
    (told,) = ask_for_reset(ATTACKER)
    assert "/password/reset/key/" not in told.body
    assert sign_in(VICTIM, MINE)
    assert sign_in(VICTIM, THEIRS) is None
    assert "was reset" in mails_to(VICTIM)[-1].body


def test_an_address_that_waits_to_be_confirmed_resets_no_password(known: Known) -> None:
    person = known(VICTIM)
    EmailAddress.objects.create(user=person, email=ATTACKER, verified=False, primary=False)
    (told,) = ask_for_reset(ATTACKER)
    assert "/password/reset/key/" not in told.body
    (told,) = ask_for_reset(VICTIM)
    assert "/password/reset/key/" in told.body


def test_an_address_is_changed_by_password_and_link_and_the_old_one_is_notified(known: Known) -> None:
    person = known(VICTIM)
    client = sign_in(VICTIM, PASSWORD)
    assert client
    begin_change(client, "new@example.org", PASSWORD)
    person.refresh_from_db()
    assert person.email == VICTIM
    page = client.get("/accounts/email/").content.decode()
    assert "We’ve sent a link to <strong>new@example.org</strong>" in page
    assert f"You sign in with <strong>{VICTIM}</strong>" in page
    (asked,) = mails_to("new@example.org")
    confirm(asked)
    (told,) = mails_to(VICTIM)
    assert f"changed from {VICTIM} to new@example.org" in told.body
    assert [address.email for address in EmailAddress.objects.all()] == ["new@example.org"]
    assert sign_in("new@example.org", PASSWORD)
    assert sign_in(VICTIM, PASSWORD) is None


def test_a_change_that_waits_can_be_cancelled_and_the_own_address_never_removed(known: Known) -> None:
    known(VICTIM)
    client = sign_in(VICTIM, PASSWORD)
    assert client
    begin_change(client, "new@example.org", PASSWORD)
    for email in ("new@example.org", VICTIM):
        client.post("/accounts/email/", {"action_remove": "1", "email": email})
    assert [address.email for address in EmailAddress.objects.all()] == [VICTIM]


def test_a_password_change_requires_the_old_one_and_is_notified(known: Known) -> None:
    known(VICTIM)
    client = sign_in(VICTIM, PASSWORD)
    assert client
    fields = {"oldpassword": "wrong", "password1": NEW, "password2": NEW}
    assert client.post("/accounts/password/change/", fields).status_code == HTTPStatus.OK
    assert mails_to(VICTIM) == []
    response = client.post("/accounts/password/change/", fields | {"oldpassword": PASSWORD})
    assert response["Location"] == "/accounts/login/"
    (told,) = mails_to(VICTIM)
    assert "was changed" in told.body
    assert sign_in(VICTIM, NEW)


def words_of(response: Any) -> str:
    """Return a response's text, without what always differs and what the visitor typed."""
    page = re.sub(r"csrfmiddlewaretoken[^>]*", "", response.content.decode())
    page = re.sub(r"[a-z]+@example\.org", "", page)
    varying = {"Content-Length", "Expires"}
    headers = sorted((name, value) for name, value in response.headers.items() if name not in varying)
    return repr((response.status_code, headers, sorted(response.cookies), page))


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/accounts/login/", {"login": "{}", "password": THEIRS}),
        ("/accounts/signup/", {"email": "{}", "password1": THEIRS, "password2": THEIRS}),
        ("/accounts/signup/", {"email": "{}", "password1": "short", "password2": "short"}),
        ("/accounts/password/reset/", {"email": "{}"}),
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
def test_known_and_unknown_addresses_get_the_same_words(
    known: Known, path: str, fields: dict[str, str], kind: str
) -> None:
    known(VICTIM)
    sign_up("waiting@example.org", MINE)
    until_sent()
    answers = set()
    for email in (VICTIM, "waiting@example.org", "nobody@example.org"):
        client = Client(headers={"Accept": kind})
        sent = {name: value.replace("{}", email) for name, value in fields.items()}
        first = client.post(path, sent)
        answers.add(words_of(first))
        if first.status_code == HTTPStatus.FOUND:
            answers.add(words_of(client.get(first["Location"])))
        until_sent()
    assert len(answers) == (2 if first.status_code == HTTPStatus.FOUND else 1)


class CountingHasher(MD5PasswordHasher):
    """The suite's hasher, counting its calls, which dominate the time."""

    algorithm = "counting"
    worked = 0

    def encode(self, password: str, salt: str) -> str:
        """Count and hash."""
        type(self).worked += 1
        return super().encode(password, salt)


@pytest.mark.slow
def test_as_many_hashes_are_made_for_an_unknown_address_as_for_a_known_one(
    known: Known, settings: Settings
) -> None:
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher"]
    person = known(VICTIM)
    sign_up("waiting@example.org", MINE)
    until_sent()
    names = (VICTIM, person.username, "waiting@example.org", "nobody@example.org", "nobody")

    def hashes(work: Callable[[], object]) -> int:
        before = CountingHasher.worked
        work()
        until_sent()
        return CountingHasher.worked - before

    assert [hashes(lambda name=name: sign_in(name, "wrong")) for name in names] == [1] * 5  # type: ignore[misc]
    emails = (VICTIM, "waiting@example.org", "somebody@example.org")
    assert [hashes(lambda email=email: sign_up(email, MINE)) for email in emails] == [1] * 3  # type: ignore[misc]
    assert [hashes(lambda email=email: ask_for_reset(email)) for email in emails] == [0] * 3  # type: ignore[misc]


class HangingBackend(EmailBackend):
    """A mail server that hangs until it is released."""

    released = threading.Event()

    def send_messages(self, messages: list[EmailMessage]) -> int:  # type: ignore[override]
        """Wait and send."""
        assert self.released.wait(WAIT_SECONDS)
        return super().send_messages(messages)


def test_a_slow_mail_server_holds_up_no_answer(known: Known, make_user: MakeUser, settings: Settings) -> None:
    known(VICTIM)
    unconfirmed = make_user("ada")
    settings.EMAIL_BACKEND = f"{__name__}.HangingBackend"
    HangingBackend.released.clear()
    assert sign_in(unconfirmed.email, PASSWORD) is None
    for email in (VICTIM, "nobody@example.org"):
        Client().post("/accounts/password/reset/", {"email": email})
        sign_up(email, MINE)
    assert mail.outbox == []
    HangingBackend.released.set()
    until_sent()
    told = ["ada@example.org", *["nobody@example.org"] * 2, *[VICTIM] * 2]
    assert sorted(message.to[0] for message in mail.outbox) == told


def test_a_mail_that_can_not_be_sent_is_logged_without_its_address(
    known: Known, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    known(VICTIM)
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_PORT = 1
    response = Client().post("/accounts/password/reset/", {"email": VICTIM})
    assert response["Location"] == "/accounts/password/reset/done/"
    until_sent()
    assert "mail_failed" in caplog.text
    assert VICTIM not in caplog.text


def test_an_operator_without_an_address_signs_in_and_can_add_one(make_user: MakeUser) -> None:
    operator = make_user("olive", is_staff=True)
    User.objects.filter(pk=operator.pk).update(email="")
    client = sign_in("olive", PASSWORD)
    assert client
    begin_change(client, "olive@example.org", PASSWORD)
    confirm(mails_to("olive@example.org")[0])
    operator.refresh_from_db()
    assert operator.email == "olive@example.org"


def test_a_person_of_the_time_before_mail_confirms_at_their_next_sign_in(make_user: MakeUser) -> None:
    person = make_user("ada")
    assert sign_in(person.email, PASSWORD) is None
    # Nobody else can sign up with the address meanwhile.
    sign_up(person.email, THEIRS)
    confirmation, told = mails_to(person.email)
    assert "already has an account" in told.body
    confirm(confirmation)
    assert sign_in(person.email, PASSWORD)
    assert User.objects.count() == 1


def test_an_address_is_known_by_its_letters_and_not_by_ones_that_look_alike(known: Known) -> None:
    known("mike@example.org")
    (told,) = ask_for_reset("mıke@example.org")
    assert "/password/reset/key/" not in told.body
    assert mails_to("mike@example.org") == []


def create_operator(name: str, email: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Create one at the server; return what the command has written to its errors."""
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", MINE)
    errors = StringIO()
    call_command("createsuperuser", "--noinput", username=name, email=email, stdout=StringIO(), stderr=errors)
    return errors.getvalue()


def test_an_operator_who_was_created_at_the_server_confirms_no_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert create_operator("root", "Root@Example.org", monkeypatch) == ""
    client = Client()
    for login in ("root", "root@example.org"):
        answer = client.post("/accounts/login/", {"login": login, "password": MINE, "next": "/admin/"})
        assert answer["Location"] == "/admin/"
        assert client.get("/admin/").status_code == HTTPStatus.OK
        client.post("/accounts/logout/")
    assert mails_to("root@example.org") == []


def test_an_operator_gets_no_address_that_somebody_else_has_confirmed(
    known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = known(VICTIM)
    assert "belongs to another account" in create_operator("root", VICTIM, monkeypatch)
    assert EmailAddress.objects.get(email=VICTIM).user == victim
    client = Client()
    answer = client.post("/accounts/login/", {"login": "root", "password": MINE, "next": "/admin/"})
    assert answer["Location"] == "/admin/"


def test_without_a_mail_server_the_page_says_that_no_mail_was_sent(settings: Settings) -> None:
    for has_mail, words in ((True, "sent an email"), (False, "This server sends no mail")):
        settings.HAS_MAIL = has_mail
        page = Client().post("/accounts/password/reset/", {"email": "ada@example.org"}, follow=True)
        assert words in page.content.decode()
