"""A program's call of a tool: the same object as in a conversation, by the scope that the program has."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from django.db import DatabaseError, transaction
from django.utils import timezone

from coaching.api.mcp.access import Access
from coaching.engine.errors import ToolError, ToolInputError
from coaching.engine.tools import ToolResult
from coaching.models import FileSource, Profile, Scope
from coaching.people.languages import in_model_language
from coaching.programs.callers import NotKnown
from coaching.tools import PROGRAM_TOOLS
from coaching.tools.decisions import Decision
from coaching.tools.presentation import SageTool
from coaching.tools.tiers import Binding, Tier, program_tier
from sessions_app.database import in_database
from sessions_app.errors import Refused
from sessions_app.models import SessionKind

UNKNOWN = "There is no such tool here."
UNREADABLE = "The arguments can't be read. Send one JSON object."
ENDED = "This program has no access any more."
FAILED = "Something went wrong here. Nothing was changed. Try again in a moment."

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramContext:
    """`coaching.tools.context.ToolContext` for a program's call."""

    access: Access
    tool_use_id: str
    now: datetime
    timezone: ZoneInfo
    tier: Tier
    session_id: UUID | None = None
    effective_kind: str = SessionKind.OPEN_CONVERSATION
    source: FileSource = FileSource.TOOL
    binding: Binding | None = None
    is_answer: bool = False
    replaces: int | None = None
    decision: Decision | None = None

    @property
    def user_id(self) -> int:
        return self.access.caller.user_id

    async def commit(self, effect: Callable[[], ToolResult]) -> ToolResult:
        """Run `effect` in one transaction, if the program's access holds to its end. Raises `NotKnown`."""

        @transaction.atomic
        def committed() -> ToolResult:
            result = effect()
            self.access.check()  # last: what it has waited for may be the end of the access
            return result

        return await in_database(committed)


def offered(scopes: frozenset[Scope]) -> Sequence[SageTool[Any]]:
    """Return the tools that a program with these scopes may call."""
    return [tool for scope, tool in PROGRAM_TOOLS.values() if Scope(scope) in scopes]


async def run_call(access: Access, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Run a call; whatever is wrong with it is a result that says so."""
    scope, tool = PROGRAM_TOOLS.get(name, (None, None))
    if scope is None or tool is None:
        return ToolResult.error(UNKNOWN)
    if Scope(scope) not in access.caller.scopes:
        return ToolResult.error(f"This program isn't allowed to do that: it needs the scope {scope}.")
    try:
        written = json.dumps(arguments)
    except (ValueError, RecursionError):
        return ToolResult.error(UNREADABLE)
    try:
        with in_model_language():
            return await tool.run(await _context_of(access), tool.parse(written))
    except (ToolError, ToolInputError, Refused) as refusal:
        return ToolResult.error(str(refusal))
    except NotKnown:
        return ToolResult.error(ENDED)  # over HTTP, 401 is the answer instead
    except DatabaseError as error:
        logger.warning("program_call_failed", tool=name, error=type(error).__name__)
        return ToolResult.error(FAILED)


async def _context_of(access: Access) -> ProgramContext:
    zone = await in_database(_zone_of, access)
    return ProgramContext(
        access=access,
        tool_use_id=f"program_{uuid.uuid4().hex}",
        now=timezone.now(),
        timezone=zone,
        tier=program_tier(access.caller.name),
    )


def _zone_of(access: Access) -> ZoneInfo:
    """Return the person's time zone, if the program's access holds. Raises `NotKnown`."""
    access.check()
    profile, _made = Profile.of(access.caller.user_id).get_or_create()
    return profile.zone
