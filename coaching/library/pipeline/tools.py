"""The tools of the pipeline, and what each gets to run. They reach the call's client and nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils import timezone

from coaching.engine.tools import ToolCall, ToolResult
from coaching.library.pipeline.batch import Item
from coaching.library.pipeline.call_records import run_effect
from coaching.library.pipeline.calls import CallTools
from coaching.models import DocumentCall, FileSource
from coaching.tools import PIPELINE_TOOLS
from coaching.tools.decisions import Decision
from coaching.tools.tiers import PIPELINE, Binding, Tier
from sessions_app.database import in_database
from sessions_app.models import SessionKind


def pipeline_tools(items: Sequence[Item]) -> CallTools[Any]:
    """Return the tools that a call about these documents offers."""
    projects = {item.document.project_id for item in items}
    project_id = projects.pop() if len(projects) == 1 else None
    return CallTools(toolset=PIPELINE_TOOLS, context_for=partial(_context, project_id))


def _context(project_id: int | None, call: DocumentCall, each: ToolCall) -> "PipelineContext":
    binding = Binding(client_id=call.client_id, project_id=project_id, document_ids=tuple(call.documents))
    return PipelineContext(call=call, tool_use_id=each.tool_use_id, binding=binding, now=timezone.now())


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineContext:
    """`coaching.tools.context.ToolContext` for a call about documents."""

    call: DocumentCall
    tool_use_id: str
    binding: Binding
    now: datetime
    session_id: UUID | None = None
    effective_kind: str = SessionKind.OPEN_CONVERSATION
    source: FileSource = FileSource.TOOL
    tier: Tier = PIPELINE
    is_answer: bool = False
    replaces: int | None = None
    decision: Decision | None = None

    @property
    def timezone(self) -> ZoneInfo:
        return ZoneInfo("UTC")

    @property
    def user_id(self) -> int:
        return self.call.user_id

    async def commit(self, effect: Callable[[], ToolResult]) -> ToolResult:
        """Run `effect` in one transaction with the record of this call's result, at most once."""
        return await in_database(run_effect, self.call, self.tool_use_id, effect)
