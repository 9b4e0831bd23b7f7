"""The practice model for the runners of this process."""

from collections.abc import AsyncIterator

import pytest
from django.test import override_settings

from coaching.practice import PracticeServer
from sessions_app.limits import RateLimit


@pytest.fixture
async def practice() -> AsyncIterator[PracticeServer]:
    """The model that runners of this process ask, without a limit that a test could reach."""
    async with PracticeServer(keeps_bodies=True, tokens_per_second=0) as server:
        with override_settings(
            IS_PRACTICE_MODEL=False,
            ANTHROPIC_BASE_URL=server.url,
            ANTHROPIC_API_KEY="practice",
            SAGE_RATE_LIMIT=RateLimit(turns=1000, seconds=60),
        ):
            yield server
