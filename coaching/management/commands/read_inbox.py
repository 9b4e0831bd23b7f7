"""`manage.py read_inbox`: runs the periodic job by hand, at once, and says what came of it."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from coaching.inbox.polling import Reading

FAILURES = {
    "certificate": "The server’s certificate isn’t valid for its name, or its issuer isn’t known here.",
    "folder": "The folder can’t be opened.",
    "login": "The server refuses the name or the password.",
    "move": "The server refuses to move taken mails to the folder Sage.",
    "protocol": "The server’s answers aren’t understood.",
    "timeout": "The server doesn’t answer in time.",
    "tls": "The server speaks no TLS that is accepted here.",
    "unreachable": "The server can’t be reached.",
}


class Command(BaseCommand):
    help = "Read the mailbox in SAGE_INBOX_URL now, and say how many mails were taken, refused, or wait."
    requires_system_checks = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        if settings.SAGE_INBOX is None:
            raise CommandError("No mail comes in: set SAGE_INBOX_URL and SAGE_INBOX_AUTHSERV_ID.")
        reading = Reading(settings.SAGE_INBOX, server=settings.SAGE_INBOX_AUTHSERV_ID)
        reading.run(is_due_only=False)
        counts = reading.counts
        self.stdout.write(
            f"Mails taken: {counts['taken']}. Taken before: {counts['known']}. "
            f"Refused: {counts['refused']}. Waiting: {counts['waiting']}."
        )
        if reading.is_replaced:
            raise CommandError("Another reader has taken over.")
        if reading.error:
            raise CommandError(FAILURES.get(reading.error, f"The mailbox wasn’t read: {reading.error}."))
