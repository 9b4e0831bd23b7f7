"""The practice model: the Messages API server with the scripted coach."""

from typing import Any

from coaching.practice.api.server import MessagesServer
from coaching.practice.coach.answer import answer
from coaching.practice.script import Reply


class PracticeServer(MessagesServer):
    """A Messages API server with the scripted coach: `async with PracticeServer() as server`."""

    def default_answer(self, body: dict[str, Any]) -> Reply:
        """Answer as the scripted coach."""
        return answer(body)
