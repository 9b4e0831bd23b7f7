"""The practice model: the Messages API server with the guided tour."""

from typing import Any

from coaching.practice.api.server import MessagesServer
from coaching.practice.coach.tour import answer
from coaching.practice.script import Reply


class PracticeServer(MessagesServer):
    """A Messages API server with the guided tour: `async with PracticeServer() as server`."""

    def default_answer(self, body: dict[str, Any]) -> Reply:
        """Answer as the guided tour."""
        return answer(body)
