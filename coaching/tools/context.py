"""What a tool run gets: who asks, when, and the one way to make an effect last.

A Protocol, so that chat and pipeline each bring their own and no tool knows which one it runs in.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from coaching.engine.tools import ToolResult
from coaching.models import FileSource


class ToolContext(Protocol):
    """The context of one call. `now` is aware and in UTC; `effective_kind` decides what may be written."""

    @property
    def user_id(self) -> int:
        """The user, whom every read and write is bound to."""
        ...

    @property
    def session_id(self) -> UUID | None:
        """The conversation, if there is one."""
        ...

    @property
    def effective_kind(self) -> str:
        """What the conversation is now, as a `SessionKind` value."""
        ...

    @property
    def tool_use_id(self) -> str:
        """The call's id."""
        ...

    @property
    def source(self) -> FileSource:
        """What a version that the call writes names as its source."""
        ...

    @property
    def now(self) -> datetime:
        """The time of the call."""
        ...

    @property
    def timezone(self) -> ZoneInfo:
        """The user's time zone."""
        ...

    async def commit(self, effect: Callable[[], ToolResult]) -> ToolResult:
        """Run `effect` (synchronous ORM code) in one transaction with the record of this call's result.

        A result that is recorded already is returned instead, and `effect` doesn't run. What `effect`
        raises undoes the transaction and comes out here.
        """
        ...


class AnswerContext(Protocol):
    """What a tool gets with the user's answer to its call; inside the transaction that records it."""

    @property
    def user_id(self) -> int:
        """The user who answered."""
        ...

    @property
    def session_id(self) -> UUID:
        """The conversation."""
        ...

    @property
    def now(self) -> datetime:
        """The time of the answer, aware and in UTC."""
        ...
