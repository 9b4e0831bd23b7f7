"""Sends mails by SMTP, and notes for operators whether the server takes them."""

from collections.abc import Sequence
from smtplib import SMTPException

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from coaching.people.mail_failures import note_failure, note_sent

MAIL_ERRORS = (OSError, SMTPException)


class NotedEmailBackend(EmailBackend):
    """Django's backend for EMAIL_URL."""

    def open(self) -> bool | None:
        """Connect, unless that has happened."""
        try:
            return super().open()
        except MAIL_ERRORS as error:
            note_failure(self.host, error)
            raise

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send mails; return how many were taken."""
        is_open = self.connection is not None
        try:
            sent = super().send_messages(email_messages)
        except MAIL_ERRORS as error:
            if is_open or self.connection is not None:  # else `open` has noted it
                note_failure(self.host, error)
            raise
        if sent:
            note_sent()
        return sent
