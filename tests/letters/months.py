"""Months of conversations for tests about letters."""

import hashlib
import uuid
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User

from coaching.files.attributes import FileAttributes
from coaching.files.drafts import build_draft
from coaching.files.objects import StoredObject
from coaching.files.store import store_version
from coaching.models import FileSource, FileType, Profile
from coaching.safety.card import metadata_of
from sessions_app.models import Message, MessageRole, Session, Turn, TurnStatus
from tests.messages import append_message

OCTOBER = date(2026, 10, 1)
FIRST = datetime(2026, 11, 1, 22, tzinfo=UTC)
"""The end of the first day of the next month, when each letter is due."""
TOLD = (
    (3, "I sleep badly since we moved to the new flat."),
    (12, "I told my boss that I want Fridays off."),
    (28, "I slept through the night for the first time."),
)


def at(day: int, *, month: int = 10, hour: int = 12) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


def talk(user: User, moment: datetime, *texts: str, answer: str = "I hear you.", **given: Any) -> Session:
    """Store a conversation of its own, with a turn for each text. `given` is metadata of the messages."""
    session = Session.unscoped.create(user=user, started_at=moment, last_active_at=moment)
    for text in texts:
        add(session, moment, text, answer=answer, **given)
    return session


def add(
    session: Session, moment: datetime, text: str, *, answer: str = "I hear you.", **given: Any
) -> Message:
    """Add a turn to a conversation; the rules judge its text unless `given` says what they saw."""
    turn = Turn.unscoped.create(
        id=uuid.uuid4(), session=session, status=TurnStatus.COMPLETED, started_at=moment, ended_at=moment
    )
    metadata = {**metadata_of(text), **given}
    message = append_message(
        session=session, turn=turn, role=MessageRole.USER, content=text, metadata=metadata
    )
    append_message(session=session, turn=turn, role=MessageRole.ASSISTANT, content=answer)
    Message.unscoped.filter(turn=turn).update(created_at=moment)
    Session.unscoped.filter(id=session.id).update(last_active_at=moment)
    return message


def wanting(user: User, **profile: Any) -> Profile:
    """Give somebody a profile that wants letters."""
    given = {"name": "Ada", "timezone": "UTC", "wants_letters": True, **profile}
    return Profile.unscoped.update_or_create(user=user, defaults=given)[0]


def october(user: User) -> list[Session]:
    """Let somebody who wants letters have had three conversations in October."""
    wanting(user)
    return [talk(user, at(day), text) for day, text in TOLD]


def keep(
    user: User,
    file_type: FileType,
    name: str,
    *,
    session: Session | None = None,
    source: FileSource = FileSource.TOOL,
    **attributes: Any,
) -> None:
    """Store a file as a conversation or a job writes it, without an object."""
    draft = build_draft(
        file_type=file_type,
        file_name=name,
        content="Some words.",
        attributes=FileAttributes(**attributes),
        now=at(20),
        timezone=ZoneInfo("UTC"),
    )
    sha256 = hashlib.sha256(draft.data).hexdigest()
    stored = StoredObject(key=uuid.uuid4().hex, size=len(draft.data), sha256=sha256)
    session_id = session.pk if session else None
    store_version(user_id=user.pk, draft=draft, stored=stored, source=source, session_id=session_id)
