"""Fixtures for page tests: a signed-in client and conversations without a model."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from coaching.files.attributes import FileAttributes
from coaching.files.drafts import build_draft
from coaching.files.objects import store_object
from coaching.files.store import store_version
from coaching.models import FileSource, FileType, UserFile, UserFileVersion
from sessions_app.models import Message, MessageRole, Session, Turn, TurnStatus
from tests.messages import append_message
from tests.pages.file_pages import NOW, Write

KeepFile = Callable[..., UserFile]
Exchange = Callable[..., Turn]


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


@pytest.fixture
def storage(settings: Settings, tmp_path: Path) -> None:
    """Store objects in the test's own folder."""
    default = {**settings.STORAGES["default"]}
    default["OPTIONS"] = {**default["OPTIONS"], "location": tmp_path / "files"}
    settings.STORAGES = {**settings.STORAGES, "default": default}


@pytest.fixture
def write(user: User, storage: None) -> Write:
    """Write a file's version as Sage does, and return its URL."""

    def write_one(content: str, file_type: FileType = FileType.DOMAIN, **given: Any) -> str:
        source, session_id = given.pop("source", FileSource.TOOL), given.pop("session_id", None)
        name = given.pop("name", "career" if file_type == FileType.DOMAIN else None)
        draft = build_draft(
            file_type=file_type,
            file_name=name,
            content=content,
            attributes=FileAttributes.model_validate(given),
            now=NOW,
            timezone=ZoneInfo("UTC"),
        )
        stored = store_version(
            user_id=user.pk,
            draft=draft,
            stored=async_to_sync(store_object)(user_id=user.pk, data=draft.data),
            source=source,
            session_id=session_id,
        )
        return f"/files/{stored.path}"

    return write_one
