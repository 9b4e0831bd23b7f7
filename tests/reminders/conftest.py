"""People who want to be reminded."""

from datetime import UTC, datetime, time
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.models import Profile, Reminder, ReminderKind

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
ORIGIN = "https://sage.example"


@pytest.fixture(autouse=True)
def with_mail(settings: Settings) -> None:
    """The settings with EMAIL_URL."""
    settings.HAS_MAIL = True


def confirmed(user: User) -> None:
    """Confirm somebody's email address."""
    EmailAddress.objects.get_or_create(user=user, email=user.email, primary=True, verified=True)


def reminded(
    user: User, kind: ReminderKind = ReminderKind.DAY, at: time = time(8), *, zone: str = "", **fields: Any
) -> Reminder:
    """Switch a reminder of somebody on, by mail unless other ways are given."""
    confirmed(user)
    values = {"by_mail": True, "origin": ORIGIN, "changed_at": LONG_AGO} | fields
    Profile.unscoped.get_or_create(user=user, defaults={"timezone": zone or "UTC"})
    return Reminder.unscoped.create(user=user, kind=kind, at=at, **values)
