"""Django's `sendtestemail`, which says in one line what came of it."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import sendtestemail

from sage.noted_mail import MAIL_ERRORS


class Command(sendtestemail.Command):
    """Django's command."""

    def handle(self, *args: Any, **options: Any) -> None:
        server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
        try:
            super().handle(*args, **options)
        except MAIL_ERRORS as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise CommandError(f"The mail server {server} didn't take the mail ({reason}).") from None
        if settings.HAS_MAIL:
            self.stdout.write(f"The mail server {server} took the mail from {settings.DEFAULT_FROM_EMAIL}.")
        else:
            self.stdout.write("EMAIL_URL is unset, so the mail was printed and not sent.")
