"""A small real tool context: each effect commits in its own transaction, once per call."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import transaction

from coaching.engine.tools import ToolResult
from coaching.models import FileSource
from coaching.tools.decisions import Decision
from coaching.tools.tiers import CHAT, Binding, Tier
from sessions_app.database import in_database
from sessions_app.models import SessionKind

BERLIN = ZoneInfo("Europe/Berlin")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittingContext:
    """Like the chat's context, without a turn: `results` are the calls' records."""

    user_id: int
    session_id: UUID | None = None
    effective_kind: str = SessionKind.OPEN_CONVERSATION
    tool_use_id: str = "toolu_1"
    source: FileSource = FileSource.TOOL
    now: datetime = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
    timezone: ZoneInfo = BERLIN
    tier: Tier = CHAT
    binding: Binding | None = None
    is_answer: bool = False
    replaces: int | None = None
    decision: Decision | None = None
    results: dict[str, ToolResult] = field(default_factory=dict)

    async def commit(self, effect: Callable[[], ToolResult]) -> ToolResult:
        """Run `effect` in one transaction, once for each call."""
        return await in_database(self._commit, effect)

    def _commit(self, effect: Callable[[], ToolResult]) -> ToolResult:
        with transaction.atomic():
            if self.tool_use_id not in self.results:
                self.results[self.tool_use_id] = effect()
            return self.results[self.tool_use_id]
