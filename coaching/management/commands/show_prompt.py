"""`manage.py show_prompt --user U`: what would be sent to the model for a person's next message."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from coaching.management.people import user_named
from coaching.turns.preview import NEXT_WORDS, preview_request
from sessions_app.models import Session, SessionKind, SessionStatus


class Command(BaseCommand):
    help = "Print what would be sent to the model for a person's next message now. Sends and writes nothing."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, metavar="U", help="a username, an address, or a number")
        parser.add_argument("--session", type=UUID, metavar="S", help="a conversation; without: a new one")
        parser.add_argument(
            "--kind",
            choices=SessionKind.values,
            default=SessionKind.OPEN_CONVERSATION,
            help="the kind of a new conversation",
        )
        parser.add_argument("--text", default=NEXT_WORDS, help="the next message")

    def handle(self, *_args: Any, **options: Any) -> None:
        user_id = user_named(options["user"]).pk
        preview = preview_request(
            user_id=user_id,
            now=timezone.now(),
            session=_session_of(user_id, options["session"]) if options["session"] else None,
            kind=options["kind"],
            text=options["text"],
        )
        self.stdout.write(preview.to_text(), ending="")


def _session_of(user_id: int, session_id: UUID) -> Session:
    session = Session.of(user_id).filter(id=session_id).first()
    if session is None:
        raise CommandError(f"This person has no conversation {session_id}.")
    if session.status != SessionStatus.ACTIVE:
        raise CommandError("This conversation has ended. The next message begins a new one: omit --session.")
    return session
