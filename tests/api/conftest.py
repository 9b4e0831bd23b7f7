"""A program that sends requests to a running Sage."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
from django.contrib.auth.models import User

from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind
from tests.api.things import token
from tests.live_sage import LiveSage


@pytest.fixture
async def session(user: User) -> Session:
    """An open conversation of the person."""
    return await in_database(
        session_services.open_session, user_id=user.pk, kind=SessionKind.OPEN_CONVERSATION
    )


@pytest.fixture
async def program(live_sage: LiveSage, user: User) -> AsyncIterator[aiohttp.ClientSession]:
    """A program with all scopes; its name is Dial."""
    secret = await in_database(token, user, name="Dial")
    headers = {"Authorization": f"Bearer {secret}"}
    async with aiohttp.ClientSession(live_sage.origin, headers=headers) as opened:
        yield opened
