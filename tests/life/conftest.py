"""Fixtures for the life pages: somebody in Berlin, and files as the store writes them."""

import hashlib
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from coaching.files.attributes import NO_ATTRIBUTES, FileAttributes
from coaching.files.drafts import build_draft
from coaching.files.objects import StoredObject
from coaching.files.saves import prepare_save
from coaching.files.store import store_version
from coaching.models import Capture, DayPlan, FileSource, FileType, Profile, UserFile
from tests.browsers import browser_of

NOON = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)  # a Wednesday
TODAY = date(2026, 11, 18)

KeepFile = Callable[..., UserFile]
KeepPlan = Callable[..., DayPlan]
KeepCapture = Callable[..., Capture]


@pytest.fixture
def at_noon() -> Iterator[time_machine.Traveller]:
    """The clock is at noon UTC, 13:00 in Berlin."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def person(user: User) -> User:
    """Somebody in Berlin who signed up in summer."""
    user.date_joined = datetime(2026, 7, 1, tzinfo=UTC)
    user.save()
    Profile.unscoped.create(
        user=user, name="Ada", timezone="Europe/Berlin", next_checkin_on=date(2026, 11, 22)
    )
    return user


@pytest.fixture
def browser(person: User) -> Client:
    """The person's browser."""
    return browser_of(person)


@pytest.fixture
def keep_file() -> KeepFile:
    """Save a file through the store, without an object."""

    def keep(
        user: User,
        file_type: FileType,
        body: str = "Some words.",
        *,
        name: str | None = None,
        now: datetime = NOON,
        **attributes: Any,
    ) -> UserFile:
        draft = build_draft(
            file_type=file_type,
            file_name=name,
            content=body,
            attributes=FileAttributes(**attributes) if attributes else NO_ATTRIBUTES,
            now=now,
            timezone=Profile.unscoped.get(user=user).zone,
        )
        draft = prepare_save(user_id=user.pk, draft=draft)
        sha256 = hashlib.sha256(draft.data).hexdigest()
        stored = StoredObject(key=uuid.uuid4().hex, size=len(draft.data), sha256=sha256)
        kept = store_version(user_id=user.pk, draft=draft, stored=stored, source=FileSource.TOOL)
        return UserFile.unscoped.get(pk=kept.file_id)

    return keep


@pytest.fixture
def keep_plan(keep_file: KeepFile) -> KeepPlan:
    """Save today's plan."""

    def keep(user: User, *priorities: str, intention: str = "Unhurried", now: datetime = NOON) -> DayPlan:
        file = keep_file(user, FileType.DAY_PLAN, intention=intention, priorities=list(priorities), now=now)
        return DayPlan.unscoped.get(file=file)

    return keep


@pytest.fixture
def keep_capture(keep_file: KeepFile) -> KeepCapture:
    """Add a capture."""

    def keep(user: User, text: str, *, now: datetime = NOON) -> Capture:
        return Capture.unscoped.get(file=keep_file(user, FileType.CAPTURE, text, now=now))

    return keep
