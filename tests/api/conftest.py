"""A program that sends requests to a running Sage."""

from collections.abc import AsyncIterator

import aiohttp
import pytest
from django.contrib.auth.models import User

from sessions_app.database import in_database
from tests.api.things import token
from tests.live_sage import LiveSage


@pytest.fixture
async def program(live_sage: LiveSage, user: User) -> AsyncIterator[aiohttp.ClientSession]:
    """A program with all scopes; its name is Dial."""
    secret = await in_database(token, user, name="Dial")
    headers = {"Authorization": f"Bearer {secret}"}
    async with aiohttp.ClientSession(live_sage.origin, headers=headers) as opened:
        yield opened
