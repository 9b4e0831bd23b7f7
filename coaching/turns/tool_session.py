"""The context of a conversation's tools: the session's state, and the commit of an effect."""

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils import timezone

from coaching.context.foreign import foreign_names
from coaching.engine.errors import StaleRunnerError
from coaching.engine.tools import ToolCall, ToolResult
from coaching.events import CallPending
from coaching.job_queue.sessions import enqueue_arc_summary, enqueue_summary
from coaching.models import FileSource
from coaching.tools import TOOLS
from coaching.tools.decisions import Decision
from coaching.tools.evidence import decide
from coaching.tools.tainted import Ruling, rule_on
from coaching.tools.tiers import CHAT, Binding, Tier
from coaching.turns.setup import SessionState, TurnSetup, read_state
from sessions_app import turn_records
from sessions_app.database import in_database
from sessions_app.errors import StaleFence
from sessions_app.models import Session, SessionStatus
from sessions_app.turn_records import CallResult

LATE_COMMIT_SECONDS = 1.0
HOLDING = frozenset(tool.name for tool in TOOLS if tool.holds)
"""The tools that may hold a call whatever was read."""


class ToolSession:
    """Shared by the tools of one turn: its setup, and the session's state as of the last commit.

    `committed` are the results that were recorded together with their effect. `sources` are the texts of
    others that the model has read so far, `rulings` what was decided about calls because of them, and
    `decisions` those about calls that rest on the user's words.
    """

    def __init__(self, setup: TurnSetup) -> None:
        self.setup = setup
        self.state = setup.state
        self.committed: dict[str, ToolResult] = {}
        self.sources = setup.sources
        self.rulings = dict(setup.rulings)
        self.decisions = dict(setup.decisions)

    def context_for(self, call: ToolCall) -> "ChatToolContext":
        ruling = self.rulings.get(call.tool_use_id)
        return ChatToolContext(
            tool_session=self,
            tool_use_id=call.tool_use_id,
            effective_kind=self.state.effective_kind,
            now=timezone.now(),
            replaces=ruling.replaces if ruling else None,
            is_answer=call.tool_use_id in self.setup.allowed,
            decision=self.decisions.get(call.tool_use_id),
        )

    def decide(self, calls: Sequence[ToolCall]) -> Mapping[str, Decision]:
        """Decide about the calls of a round that rest on the user's words. Sync ORM code."""
        tools = {tool.name: tool for tool in TOOLS}
        made = {
            call.tool_use_id: decision
            for call in calls
            if (tool := tools.get(call.name)) is not None
            and (decision := decide(tool, self.context_for(call), call, is_tainted=bool(self.sources)))
        }
        self.decisions |= made
        return made

    def has_to_ask(self, call: ToolCall) -> bool:
        """Whether a call that rests on the user's words waits for their yes; an undecided one does."""
        decision = self.decisions.get(call.tool_use_id)
        return decision is None or decision.asks

    def has_to_rule(self, calls: Sequence[ToolCall]) -> bool:
        """Whether some calls are ruled on: texts of others were read, or a tool may hold its call anyway."""
        return bool(calls) and (bool(self.sources) or any(call.name in HOLDING for call in calls))

    def rule(self, calls: Sequence[ToolCall]) -> Mapping[str, Ruling]:
        """Rule on the calls of a round that is about to be recorded. Sync ORM code."""
        tools = {tool.name: tool for tool in TOOLS}
        ruled = rule_on(
            [(call, tools.get(call.name), self.context_for(call)) for call in calls], self.sources
        )
        self.rulings |= ruled
        return ruled

    def is_held(self, call: ToolCall) -> bool:
        """Whether a call waits for a yes because of texts of others, and hasn't got it."""
        ruling = self.rulings.get(call.tool_use_id)
        return ruling is not None and ruling.is_held and call.tool_use_id not in self.setup.allowed

    def with_sources(self, pending: CallPending) -> CallPending:
        """Return a call that waits with the texts of others that may have asked for it."""
        ruling = self.rulings.get(pending.tool_use_id)
        return replace(pending, sources=ruling.sources) if ruling else pending

    def read(self, result: ToolResult) -> None:
        """Note the texts of others in a result: the next round's request has them."""
        self.sources = foreign_names(self.sources, result.foreign)

    async def commit(self, tool_use_id: str, effect: Callable[[], ToolResult]) -> ToolResult:
        """Commit an effect with the record of its call's result; take in what it changed in the session."""

        def effect_with_record() -> CallResult:
            result = effect()
            return CallResult(content=result.content, is_error=result.is_error)

        @transaction.atomic
        def committed() -> tuple[CallResult, SessionState]:
            stored = turn_records.run_effect(self.setup.key, tool_use_id, effect_with_record)
            state = read_state(self.setup.session_id)
            if is_completed_now(self.state, state):
                enqueue_summary(self.setup.session_id)  # in this transaction: never one without the other
            elif is_arc_over(self.state, state):
                enqueue_arc_summary(Session.of(self.setup.user_id).get(id=self.setup.session_id))
            return stored, state

        committing = asyncio.ensure_future(in_database(committed))
        committing.add_done_callback(partial(self._take_in, tool_use_id))
        try:
            await asyncio.shield(committing)
        except StaleFence as error:
            raise StaleRunnerError(str(error)) from error
        except asyncio.CancelledError:
            # Cancelling doesn't stop the thread, so wait briefly for its commit.
            await asyncio.wait([committing], timeout=LATE_COMMIT_SECONDS)
            raise
        return self.committed[tool_use_id]

    def _take_in(
        self, tool_use_id: str, committing: "asyncio.Future[tuple[CallResult, SessionState]]"
    ) -> None:
        """Keep the committed result and the new state, even if nobody waits for them any more."""
        if committing.cancelled() or committing.exception() is not None:
            return
        stored, self.state = committing.result()
        self.committed[tool_use_id] = ToolResult(content=stored.content, is_error=stored.is_error)


def is_completed_now(before: SessionState, state: SessionState) -> bool:
    """Whether the session was completed between two states."""
    return state.status == SessionStatus.COMPLETED != before.status


def is_arc_over(before: SessionState, state: SessionState) -> bool:
    """Whether an open conversation left an arc between two states, and goes on."""
    return bool(before.active_arc and not state.active_arc) and state.status == SessionStatus.ACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatToolContext:
    """`coaching.tools.context.ToolContext` for a conversation."""

    tool_session: ToolSession
    tool_use_id: str
    effective_kind: str
    now: datetime
    source: FileSource = FileSource.TOOL
    tier: Tier = CHAT
    binding: Binding | None = None
    is_answer: bool = False
    replaces: int | None = None
    decision: Decision | None = None

    @property
    def user_id(self) -> int:
        return self.tool_session.setup.user_id

    @property
    def session_id(self) -> uuid.UUID:
        return self.tool_session.setup.session_id

    @property
    def timezone(self) -> ZoneInfo:
        return self.tool_session.setup.timezone

    async def commit(self, effect: Callable[[], ToolResult]) -> ToolResult:
        """Run `effect` in one transaction with the record of this call's result, at most once."""
        return await self.tool_session.commit(self.tool_use_id, effect)
