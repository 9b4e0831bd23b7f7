"""Fixtures of the socket tests: a running Sage, and the person's session."""

import pytest
from django.contrib.auth.models import User

from sessions_app import session_services
from sessions_app.models import Session, SessionKind
from tests.live_sage import session_cookie


@pytest.fixture
def session(user: User) -> Session:
    """An open conversation of the person."""
    return session_services.open_session(user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION)


@pytest.fixture
def cookie(user: User) -> str:
    """The person's browser session."""
    return session_cookie(user)
