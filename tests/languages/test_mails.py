"""Mails and notifications are in their reader's language, whoever or whatever sends them."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.mail import EmailMultiAlternatives
from django.utils.translation import get_language

from coaching.models import ReminderKind, SentReminder
from coaching.reminders.devices import read_push
from coaching.reminders.mails import begin_mail
from tests.conftest import PASSWORD
from tests.languages.conftest import speaks, translated
from tests.reminders.conftest import reminded
from tests.reminders.push_service import Subscription, device_of
from tests.sage.test_accounts import ask_for_reset, known, mails_to, sign_up, with_mail

__all__ = ["known", "with_mail"]

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2035, 11, 14, 8, tzinfo=UTC)
KIND, DAY = ReminderKind.DAY, NOW.date()


@pytest.fixture
def due(german: User) -> None:
    """A reminder that is due, by both ways."""
    reminded(german, by_push=True)
    SentReminder.unscoped.create(user=german, due_at=NOW - timedelta(minutes=1), kind=KIND, day=DAY)


def test_a_reminder_by_mail_is_in_the_persons_language(german: User, due: None) -> None:
    message = begin_mail(user_id=german.pk, now=NOW, kind=KIND, day=DAY)
    assert isinstance(message, EmailMultiAlternatives)
    assert message.subject == translated("Time to plan your day", "de")
    ((html, _),) = message.alternatives
    assert '<html lang="de"' in str(html)
    for text in (str(message.body), str(html)):
        assert translated("Take a few minutes to choose what matters today.", "de") in text
    assert get_language() == "en"


def test_a_notification_is_in_the_persons_language(german: User, due: None) -> None:
    device = device_of(german, Subscription("https://push.example/1"))
    push = read_push(device_id=device.pk, now=NOW, kind=KIND, day=DAY)
    assert push is not None
    assert json.loads(push.payload)["title"] == translated("Time to plan your day", "de")


def test_a_mail_that_others_ask_for_is_in_its_readers_language(known: Callable[[str], User]) -> None:
    speaks(known("ada@sage.test"), "de")
    (message,) = ask_for_reset("ada@sage.test")
    assert message.subject == translated("Reset your password", "de")
    assert translated("Choose a new password", "de") in str(message.body)


def test_the_first_mail_is_in_the_language_of_the_form() -> None:
    sign_up("ada@sage.test", PASSWORD, language="es")
    (message,) = mails_to("ada@sage.test")
    assert message.subject == translated("Confirm your email address", "es")
