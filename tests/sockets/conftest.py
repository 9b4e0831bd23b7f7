"""Fixtures of the socket tests: a running Sage, and the person's session."""

import pytest
from django.contrib.auth.models import User

from tests.live_sage import session_cookie


@pytest.fixture
def cookie(user: User) -> str:
    """The person's browser session."""
    return session_cookie(user)
