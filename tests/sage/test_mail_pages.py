"""Every mail that can be sent is ours, in text and in HTML, and asks no other host for anything."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import allauth
import pytest
from allauth.core.context import request_context
from django.contrib.auth.models import AnonymousUser
from django.core.mail import EmailMultiAlternatives
from django.template import Engine
from django.test import RequestFactory
from pytest_django import Settings

from sage.accounts import AccountAdapter

NEVER_SENT = {
    "account/email/email_confirm": "nothing of allauth sends it",
    "account/email/login_code": "signing in by a code in a mail is off",
    "account/email/password_reset_code": "a link resets a password",
}
ORIGIN = "http://sage.test"
LINK = f"{ORIGIN}/accounts/something/abc-123/"
LINKS = {
    "email_confirmation": "activate_url",
    "email_confirmation_signup": "activate_url",
    "password_reset_key": "password_reset_url",
    "account_already_exists": "password_reset_url",
    "unknown_account": "signup_url",
}
FACTS = {
    "timestamp": datetime(2026, 11, 23, 9, 30, tzinfo=UTC),
    "ip": "192.0.2.7",
    "user_agent": "Browser <b>1</b> & co",
    "from_email": "old&x@sage.test",
    "to_email": "new@sage.test",
    "deleted_email": "old&x@sage.test",
}


def all_mails() -> list[str]:
    """Return the mails of allauth's own templates."""
    folder = Path(allauth.__path__[0]) / "templates"
    subjects = [path for app in ("account", "mfa") for path in (folder / app / "email").glob("*_subject.txt")]
    return sorted(str(path.relative_to(folder)).removesuffix("_subject.txt") for path in subjects)


SENT = [name for name in all_mails() if name not in NEVER_SENT]


def rendered(prefix: str, **context: Any) -> tuple[EmailMultiAlternatives, str, str]:
    """Render a mail as the adapter does; return it, its text and its HTML."""
    request = RequestFactory().get("/", HTTP_HOST="sage.test")
    request.user = AnonymousUser()
    site = {"current_site": {"domain": "sage.test"}, "request": request}
    with request_context(request):
        adapter = AccountAdapter(request)
        message = adapter.render_mail(prefix, "ada@sage.test", FACTS | site | context)
    assert message.message().get_content_type() == "multipart/alternative"
    ((html, kind),) = message.alternatives
    assert kind == "text/html"
    return message, str(message.body), str(html)


@pytest.fixture(autouse=True)
def open_to_all(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["sage.test"]
    settings.SAGE_SIGNUP = "open"


def test_the_list_of_mails_is_known() -> None:
    assert len(SENT) >= 15
    assert set(NEVER_SENT) <= set(all_mails())
    assert {f"account/email/{name}" for name in LINKS} <= set(SENT)


@pytest.mark.parametrize("prefix", SENT)
def test_a_mail_has_two_parts_that_say_the_same(prefix: str) -> None:
    name = prefix.rpartition("/")[2]
    linked = {LINKS[name]: LINK} if name in LINKS else {}
    message, text, html = rendered(prefix, **linked)
    assert "site-packages" not in Engine.get_default().get_template(f"{prefix}_message.html").origin.name
    assert 5 < len(message.subject) < 60
    for part in (str(message.subject), text, html):
        assert not re.search(r"\{[{%#]|[%#}]\}|example\.com|None", part)
    assert "sage.test" in text
    assert text.count(LINK) == len(linked)
    assert html.count(f'href="{LINK}"') == 2 * len(linked)
    # The words of the text, one after the other, are in the HTML.
    seen = re.sub(r"<style>.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL)
    words = " ".join(seen.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">").split())
    for line in filter(None, (line.strip(": ") for line in text.splitlines() if line != "--")):
        assert line in words
    # Nothing comes from elsewhere, and dark is designed.
    assert not re.search(r"<(img|script|link|iframe|object)|url\(|@import|\sstyle=", html)
    assert set(re.findall(r'(?:href|src)="([^"]*)"', html)) <= {LINK}
    assert 'content="light dark"' in html
    assert "prefers-color-scheme: dark" in html
    assert "<b>1</b>" not in html


def test_nobody_is_sent_to_a_closed_sign_up(settings: Settings) -> None:
    settings.SAGE_SIGNUP = "closed"
    _, text, html = rendered("account/email/unknown_account", signup_url=LINK)
    assert LINK not in text + html
    assert "Create an account" not in text + html
