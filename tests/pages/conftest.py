"""Fixtures for page tests: a signed-in client and conversations without a model."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from coaching.models import FileSource, FileType, UserFile, UserFileVersion
from sessions_app import services
from sessions_app.history import append_message
from sessions_app.models import Message, MessageRole, Session, SessionKind, Turn, TurnStatus

KeepFile = Callable[..., UserFile]
Exchange = Callable[..., Turn]


@pytest.fixture
def session(user: User) -> Session:
    """An open conversation of the person."""
    return services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION)


@pytest.fixture
def signed_in(client: Client, user: User) -> Client:
    """The person's browser."""
    client.force_login(user)
    return client


@pytest.fixture
def exchange(session: Session) -> Exchange:
    """Store a finished exchange: a message and, unless None, its answer."""

    def store(said: str, answer: str | None, *, at: datetime | None = None, **fields: Any) -> Turn:
        metadata = fields.pop("metadata", {"round_ends": [len(answer or "")], "notes": [], "tool_calls": []})
        turn = Turn.unscoped.create(
            session=session, **{"status": TurnStatus.COMPLETED, "ended_at": timezone.now(), **fields}
        )
        words: list[tuple[MessageRole, str, dict[str, Any]]] = [(MessageRole.USER, said, {})]
        if answer is not None:
            words.append((MessageRole.ASSISTANT, answer, metadata))
        for role, content, data in words:
            message = append_message(session=session, turn=turn, role=role, content=content, metadata=data)
            Message.unscoped.filter(id=message.id).update(
                created_at=at or datetime(2026, 11, 21, 12, tzinfo=UTC)
            )
        return turn

    return store


@pytest.fixture
def keep_file(user: User) -> KeepFile:
    """Store a file with one version per text."""

    def keep(path: str, *texts: str, owner: User | None = None) -> UserFile:
        file = UserFile.unscoped.create(
            user=owner or user,
            path=path,
            file_type=FileType.DOMAIN,
            version_number=len(texts),
            updated_at=timezone.now(),
        )
        for number, text in enumerate(texts, start=1):
            UserFileVersion.unscoped.create(
                file=file,
                number=number,
                content=text,
                size=len(text.encode()),
                sha256="",
                storage_key=f"{file.pk}-{number}",
                source=FileSource.TOOL,
            )
        return file

    return keep
