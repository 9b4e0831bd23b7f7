"""People with an open conversation each, who are signed in."""

from uuid import uuid4

from django.contrib.auth.models import User

from tests.live_sage import session_cookie
from tests.stored_turns import open_conversation


def seed(count: int) -> list[tuple[str, str]]:
    """Make that many people; return each one's conversation and Cookie header. Sync ORM code."""
    return [_person(number) for number in range(count)]


def _person(number: int) -> tuple[str, str]:
    name = f"drill-{number}-{uuid4().hex[:8]}"
    user = User.objects.create(username=name, email=f"{name}@example.org", password="!")
    session = open_conversation(user)
    return str(session.id), session_cookie(user)
