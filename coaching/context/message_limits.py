"""How much of each message of a history is in a request, and what that takes."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from coaching.context.budget import count_tokens
from coaching.context.history import HistoryLimits, count_message
from coaching.context.pictures import pictures_since
from coaching.context.prompt_tools import PromptTools
from coaching.context.sizes import PromptSizes
from sessions_app.models import Message, Session

LEAST_WORDS = 200
"""How far a message that doesn't fit is shortened, in tokens."""
WORDS_KEY = "most_words"
"""In a session's metadata: to how many tokens a message was shortened that a model had called too long."""


class MessageLimits:
    """The limits of a session's last messages, `tail`: the newest may be longer than those before."""

    def __init__(
        self, session: Session, tail: Sequence[Message], *, sizes: PromptSizes, tools: PromptTools[Any]
    ) -> None:
        self._sizes, self._tools = sizes, tools
        self._newest = tail[-1].number
        self._pictures_since = pictures_since(tail[:-1])
        self._limit_words(min(sizes.window, _words_that_fitted(session) or sizes.window))
        self._counted: dict[int, int] = {}

    def _limit_words(self, most: int) -> None:
        older, size = min(most, self._sizes.older_message), self._sizes.result_bytes
        self._of_newest = HistoryLimits(words=most, result_bytes=size)
        self._of_older = HistoryLimits(words=older, result_bytes=size)

    def of(self, message: Message) -> HistoryLimits:
        return self._of_newest if message.number == self._newest else self._of_older

    def count(self, message: Message) -> int:
        """Estimate the tokens of a message in this request. The newest's change while it is built."""
        known = self._counted.get(message.number)
        if known is not None:
            return known
        tokens = count_message(
            message,
            saved_fields=self._tools.saved_fields,
            pictures_since=self._pictures_since,
            limits=self.of(message),
        )
        if message.number != self._newest:
            self._counted[message.number] = tokens
        return tokens

    def count_all(self, messages: Sequence[Message]) -> int:
        return sum(map(self.count, messages))

    def shorten(self, newest: Message, *, by: int) -> Mapping[str, Any]:
        """Shorten the newest message by some tokens; return what is to be kept of that in the session.

        That is nothing where it isn't too long, or would become too short.
        """
        words = count_tokens(self.of(newest).words_of(newest)) - by
        if by <= 0 or words < LEAST_WORDS:
            return {}
        self._limit_words(words)
        self._counted.clear()
        return {WORDS_KEY: {"model": settings.SAGE_MODEL, "tokens": words}}


def _words_that_fitted(session: Session) -> int | None:
    """Return how many tokens of a message fit, where one was too long for it."""
    found = session.metadata.get(WORDS_KEY, {})
    return found["tokens"] if found.get("model") == settings.SAGE_MODEL else None
