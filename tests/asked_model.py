"""The model that this process asks."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from django.test import override_settings

from coaching.practice.script import Reply
from coaching.practice.server import PracticeServer


@asynccontextmanager
async def asked_model(
    *, answer: Callable[[dict[str, Any]], Reply] | None = None, port: int = 0, **settings: object
) -> AsyncIterator[PracticeServer]:
    """Run a practice model without delay that keeps requests, and ask it as if it were Anthropic's."""
    async with PracticeServer(keeps_bodies=True, port=port, tokens_per_second=0, answer=answer) as server:
        with override_settings(
            IS_PRACTICE_MODEL=False, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="practice", **settings
        ):
            yield server
