"""How a tool waits for a job: some seconds, then the conversation goes on without the result."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from sessions_app.database import in_database

T = TypeVar("T")

WAIT_SECONDS = 20.0
POLL_SECONDS = 0.3


async def wait_for(read: Callable[[], T], is_ready: Callable[[T], bool]) -> T | None:
    """Return what `read` (sync ORM code) gives once it is ready; None if that takes too long."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + WAIT_SECONDS
    while True:
        found = await in_database(read)
        if is_ready(found):
            return found
        if clock() > deadline:
            return None
        await asyncio.sleep(POLL_SECONDS)
