"""Sends mails by SMTP, and notes for operators whether the server takes them."""

from collections.abc import Sequence
from smtplib import SMTPException

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from coaching.people.mail_failures import note_failure, note_sent

MAIL_ERRORS = (OSError, SMTPException)


class NotedEmailBackend(EmailBackend):
    """Django's backend for EMAIL_URL."""

    _noted: Exception | None = None

    def open(self) -> bool | None:
        """Connect, unless that has happened."""
        try:
            return super().open()
        except MAIL_ERRORS as error:
            self._note(error)
            raise

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send mails; return how many were taken."""
        try:
            sent = super().send_messages(email_messages)
        except MAIL_ERRORS as error:
            if error is not self._noted:
                self._note(error)
            raise
        if sent:
            note_sent()
        return sent

    def _note(self, error: Exception) -> None:
        self._noted = error
        note_failure(self.host, error)
