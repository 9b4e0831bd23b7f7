"""Shows a session's new title to its readers, in this process and in others."""

import uuid

from coaching.events import TitleChanged
from coaching.live.runner import Runner


async def show_title(runner: Runner, session_id: uuid.UUID, title: str) -> None:
    """Publish a title that was stored, and notify the other processes."""
    hub = runner.readers.hubs.get(session_id)
    if hub is not None:
        hub.publish(TitleChanged(session_id=str(session_id), title=title))
    await runner.notifier.notify(session_id)
