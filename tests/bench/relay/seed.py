"""Seeds the measured product's empty database, and prints what the clients need as JSON.

Runs in its own process with the product's environment, so that the harness needs no Django.
"""

import argparse
import hashlib
import json
import sys
import uuid
from datetime import timedelta
from typing import Any

import django

django.setup()

# The models can be imported now, not before.
from django.conf import settings  # noqa: E402 - needs Django set up
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402 - needs Django set up
from django.contrib.auth.models import User  # noqa: E402 - needs Django set up
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402 - needs Django set up
from django.db import connection, transaction  # noqa: E402 - needs Django set up
from django.utils import timezone  # noqa: E402 - needs Django set up

from coaching.models import FileSource, FileType, UserFile, UserFileVersion  # noqa: E402 - needs Django set up
from sessions_app.models import Message, MessageRole, Session, Turn, TurnStatus  # noqa: E402 - needs Django set up
from tests.bench.stocked import stock_library  # noqa: E402 - needs Django set up

MESSAGES_PER_LONG_SESSION = 30
FILE_TEXT = "# Notes\n\n" + "What was said about work, rest and the people that matter. " * 20


def seed(*, users: int, sessions: int, files: int, documents: int) -> dict[str, Any]:
    """Create `users` people with one session each, and three with many.

    Of these the sessions are empty, have a long history, or are empty with a library.
    """
    with connection.cursor() as cursor:
        # Thousands of rows are built between two statements.
        cursor.execute("SET idle_in_transaction_session_timeout = 0")
    with transaction.atomic():
        many = [_person(f"bench{number}") for number in range(users)]
        fresh, rich = _person("fresh"), _person("rich")
        chats = Session.unscoped.bulk_create(Session(user=user) for user in many)
        empty = Session.unscoped.bulk_create(Session(user=fresh) for _ in range(sessions))
        long = _past(rich, sessions)
        _files(rich, files)
        stocked = _person("stocked")
        of_stocked = Session.unscoped.bulk_create(Session(user=stocked) for _ in range(sessions))
        stock_library(stocked, documents)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum would do
    return {
        "chats": [_entry(user, [session]) for user, session in zip(many, chats, strict=True)],
        "fresh": _entry(fresh, empty),
        "rich": _entry(rich, long),
        "stocked": _entry(stocked, of_stocked),
    }


def _person(name: str) -> User:
    # No password sign-in here, and hashing thousands takes minutes.
    return User.objects.create(username=name, email=f"{name}@example.org", password="!")


def _entry(user: User, sessions: list[Session]) -> dict[str, Any]:
    browser = SessionStore()
    browser[SESSION_KEY] = str(user.pk)
    browser[BACKEND_SESSION_KEY] = "sage.sign_in.OneCheckBackend"
    browser[HASH_SESSION_KEY] = user.get_session_auth_hash()
    browser.save()
    return {
        "cookie": f"{settings.SESSION_COOKIE_NAME}={browser.session_key}",
        "sessions": [str(session.id) for session in sessions],
    }


def _past(user: User, count: int) -> list[Session]:
    now = timezone.now()
    numbers = range(1, MESSAGES_PER_LONG_SESSION + 1)
    sessions = Session.unscoped.bulk_create(
        Session(user=user, title=f"Conversation {number}", last_message_number=numbers[-1])
        for number in range(count)
    )
    turns = Turn.unscoped.bulk_create(
        Turn(session=session, status=TurnStatus.COMPLETED, stop_reason="end_turn", ended_at=now)
        for session in sessions
        for _ in numbers[::2]
    )
    # Old, so that they don't count for the rate limit.
    Turn.unscoped.filter(session__user=user).update(started_at=now - timedelta(days=30))
    Message.unscoped.bulk_create(
        (
            Message(
                session=turn.session,
                turn=turn,
                number=place * 2 + offset,
                role=role,
                content=f"{role.label} said something of a usual length, number {place}. " * 6,
                client_id=str(uuid.uuid4()) if role == MessageRole.USER else None,
            )
            for index, turn in enumerate(turns)
            for place in [index % (MESSAGES_PER_LONG_SESSION // 2)]
            for offset, role in ((1, MessageRole.USER), (2, MessageRole.ASSISTANT))
        ),
        batch_size=2000,
    )
    return sessions


def _files(user: User, count: int) -> None:
    digest = hashlib.sha256(FILE_TEXT.encode()).hexdigest()
    size = len(FILE_TEXT)
    files = UserFile.unscoped.bulk_create(
        UserFile(
            user=user,
            path=f"captures/note-{number:04}.md",
            file_type=FileType.CAPTURE,
            size=size,
            sha256=digest,
            version_number=1,
        )
        for number in range(count)
    )
    UserFileVersion.unscoped.bulk_create(
        UserFileVersion(
            file=file,
            number=1,
            content=FILE_TEXT,
            size=size,
            sha256=digest,
            storage_key=f"bench/{file.pk}",
            source=FileSource.TOOL,
        )
        for file in files
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("users", "sessions", "files", "documents"):
        parser.add_argument(f"--{name}", type=int, required=True)
    json.dump(seed(**vars(parser.parse_args())), sys.stdout)
