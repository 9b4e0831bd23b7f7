"""Reminders by mail, which mail programs can switch off with one click (RFC 8058).

At most one mail of a kind is sent for a day: it counts as sent when it is handed over, even if the process
dies in the middle of it. It is tried again only if the mail server wasn't reached, or refused it.
"""

from datetime import date, datetime, time
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives, get_connection
from django.template.loader import render_to_string
from django.urls import reverse

from coaching.models import Reminder, SentReminder
from coaching.people.languages import in_language_of
from coaching.reminders.due import is_late, wanted
from coaching.reminders.preferences import off_token
from coaching.reminders.steps import words_of
from coaching.reminders.words import ReminderWords

TEMPLATE = "coaching/mails/reminder.html"


class MailNotTakenError(Exception):
    """The mail server wasn't reached, or refused the mail. Its own words name the address: keep them out."""


def confirmed_address(user_id: int) -> str:
    """Return the person's own address; empty if they haven't confirmed it, as it may be somebody else's."""
    addresses = EmailAddress.objects.filter(user_id=user_id, primary=True, verified=True)
    return addresses.values_list("email", flat=True).first() or ""


def begin_mail(
    *, user_id: int, kind: str, day: date, now: datetime, at: time | None = None
) -> EmailMessage | None:
    """Mark the mail as sent and return it; None if it was sent, came too late or isn't wanted any more.

    `at` is the time of steps.
    """
    sent = SentReminder.of(user_id).filter(kind=kind, day=day, at=at).first()
    address = confirmed_address(user_id)
    if sent is None or is_late(sent, now) or not address or not settings.HAS_MAIL:
        return None
    on = wanted(kind, day, at=at, due_at=sent.due_at).filter(user_id=user_id, by_mail=True)
    reminder = on.select_related("user__profile").first()
    if reminder is None or not _mark(sent, now):
        return None
    with in_language_of(reminder.user):
        return _build(reminder, address, words_of(reminder, sent, now=now))


def give_back_mail(*, user_id: int, kind: str, day: date, at: time | None = None) -> None:
    """Take the mark back, because the mail wasn't taken."""
    SentReminder.of(user_id).filter(kind=kind, day=day, at=at).update(mail_begun_at=None)


def hand_over(message: EmailMessage) -> None:
    """Send a mail. Raises `MailNotTakenError` if it surely wasn't sent."""
    connection = get_connection()
    try:
        connection.open()
    except (OSError, SMTPException) as error:
        raise MailNotTakenError(type(error).__name__) from None
    try:
        connection.send_messages([message])
    except (SMTPResponseException, SMTPRecipientsRefused) as error:
        raise MailNotTakenError(type(error).__name__) from None
    finally:
        connection.close()


def _mark(sent: SentReminder, now: datetime) -> int:
    unsent = SentReminder.of(sent.user_id).filter(pk=sent.pk, mail_begun_at=None)
    return unsent.update(mail_begun_at=now)


def _build(reminder: Reminder, address: str, words: ReminderWords) -> EmailMultiAlternatives:
    origin = reminder.origin
    off_url = origin + reverse("reminder_off", args=[off_token(user_id=reminder.user_id, kind=reminder.kind)])
    context = {
        "words": words,
        "subject": words.title,
        "link": origin + reverse("reminder", args=[reminder.kind]),
        "off_url": off_url,
        "settings_url": origin + reverse("reminders"),
        "current_site": {"domain": urlsplit(origin).netloc},
    }
    text, html = (
        render_to_string(
            TEMPLATE, {**context, "layout": f"mail/action.{ending}", "is_html": ending == "html"}
        )
        for ending in ("txt", "html")
    )
    headers = {
        "List-Unsubscribe": f"<{off_url}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
    message = EmailMultiAlternatives(
        subject=str(words.title), body=f"{text.strip()}\n", to=[address], headers=headers
    )
    message.attach_alternative(html.strip(), "text/html")
    return message
