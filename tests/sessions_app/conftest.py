"""An open conversation."""

import pytest
from django.contrib.auth.models import User

from sessions_app.models import Session
from tests.stored_turns import open_conversation


@pytest.fixture
def session(user: User) -> Session:
    return open_conversation(user)
