"""What a tool gets to run: the user, the session, the time, and a way to commit its effect.

Protocols, so that a tool doesn't depend on where it runs.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from coaching.engine.tools import ToolResult
from coaching.models import FileSource
from coaching.tools.decisions import Decision
from coaching.tools.tiers import Binding, Tier


class CallContext(Protocol):
    """What a call and a user's answer to one have in common.

    `binding` is what the call is about, where it may reach nothing else. `now` is aware and in UTC.
    `is_answer`: the user has seen what is written, and has answered. `decision` is what was decided about a
    call that rests on the user's words, None for any other.
    """

    @property
    def user_id(self) -> int: ...

    @property
    def session_id(self) -> UUID | None: ...

    @property
    def tool_use_id(self) -> str: ...

    @property
    def now(self) -> datetime: ...

    @property
    def tier(self) -> Tier: ...

    @property
    def binding(self) -> Binding | None: ...

    @property
    def is_answer(self) -> bool: ...

    @property
    def decision(self) -> Decision | None: ...


class ToolContext(CallContext, Protocol):
    """The context of one call.

    `effective_kind` is the conversation's current `SessionKind`, which decides what may be written.
    `source` is recorded with the versions that the call writes. `replaces` is the version of a file that the
    call may replace, 0 for a new file; None for any.
    """

    @property
    def effective_kind(self) -> str: ...

    @property
    def replaces(self) -> int | None: ...

    @property
    def source(self) -> FileSource: ...

    @property
    def timezone(self) -> ZoneInfo: ...

    async def commit(self, effect: Callable[[], ToolResult]) -> ToolResult:
        """Run `effect` (synchronous ORM code) and record its result in one transaction.

        If a result is recorded already, it is returned and `effect` doesn't run. Errors of `effect` roll
        back the transaction and are raised here.
        """
        ...


class AnswerContext(CallContext, Protocol):
    """The context of a user's answer, inside the transaction that records it."""

    @property
    def session_id(self) -> UUID: ...
