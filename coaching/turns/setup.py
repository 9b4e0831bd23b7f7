"""A turn's setup before its next round, and the rules that starting and resuming share."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from django.conf import settings
from django.utils import timezone

from coaching.context.foreign import foreign_names
from coaching.context.prompt import BuiltPrompt
from coaching.engine.budget import PartLimits
from coaching.engine.messages import ModelRequest, canonical_json
from coaching.engine.setup import ResumedRound
from coaching.events import RoundShown
from coaching.model_client.patience import turn_seconds
from coaching.tools.decisions import Decision
from coaching.tools.tainted import Ruling
from sessions_app.history import FOREIGN_KEY, TAINT_KEY
from sessions_app.models import Session, ToolCallRecord, Turn
from sessions_app.stored_prompts import StoredPrompt
from sessions_app.turn_locks import TurnKey

MAX_UPSTREAM_REQUESTS = PartLimits().max_upstream_requests


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """Session fields that a tool can change mid-turn."""

    status: str
    active_arc: str
    effective_kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSetup:
    """Everything that a turn needs before its next round.

    `closing_stop_reason` is set if the last committed round was the answer's last: the turn only has to be
    closed. `is_cut`: that round is incomplete, and nothing can follow it. Only turns of an earlier version
    can run after such a round, which is now stored when the turn is closed. `is_opening`: Sage speaks first,
    and the user hasn't answered. `sources` are the texts of others that the turn has read so far, `rulings`
    what was decided about its calls because of such texts, and `allowed` the held calls that got a yes.
    `decisions` are those about calls that rest on the user's words. `began_with` are the tools that the
    turn's first request offered, if others are offered by now.
    """

    key: TurnKey
    user_id: int
    session_id: uuid.UUID
    timezone: ZoneInfo
    state: SessionState
    request: ModelRequest
    limits: PartLimits
    rounds: tuple[RoundShown, ...] = ()
    call_ids: tuple[str, ...] = ()
    resumed: ResumedRound | None = None
    closing_stop_reason: str | None = None
    is_cut: bool = False
    is_stop_requested: bool = False
    is_opening: bool = False
    sources: tuple[str, ...] = ()
    rulings: Mapping[str, Ruling] = field(default_factory=dict)
    allowed: frozenset[str] = frozenset()
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    began_with: frozenset[str] = frozenset()

    @property
    def offered(self) -> frozenset[str]:
        """The names of the tools that its calls may name."""
        return self.began_with.union(tool["name"] for tool in self.request.tools)

    def after(self, seconds: float) -> "TurnSetup":
        """Return the setup with `seconds` less time for the part."""
        left = max(0.0, self.limits.seconds - seconds)
        return replace(self, limits=replace(self.limits, seconds=left))

    @property
    def is_too_late(self) -> bool:
        """Whether the part's time is up and the turn isn't complete: no request is possible."""
        return self.limits.seconds <= 0 and self.closing_stop_reason is None


def with_taint(
    setup: TurnSetup, metadata: Mapping[str, Any], calls: Iterable[ToolCallRecord] = ()
) -> TurnSetup:
    """Return the setup with what the turn has read of others, and what was decided about its calls so far."""
    calls = list(calls)
    rulings = {call.tool_use_id: ruling for call in calls if (ruling := Ruling.of(call.metadata))}
    return replace(
        setup,
        sources=foreign_names(
            metadata.get(TAINT_KEY, ()), *(call.metadata.get(FOREIGN_KEY, ()) for call in calls)
        ),
        rulings=rulings,
        decisions={call.tool_use_id: made for call in calls if (made := Decision.of(call.metadata))},
        allowed=frozenset(call.tool_use_id for call in calls if call.is_allowed),
    )


def stored_prompt_of(built: BuiltPrompt) -> StoredPrompt:
    request = built.request
    prefix = {"tools": request.tools, "system": request.system, "messages": request.messages}
    return StoredPrompt(
        model=request.model,
        prefix=_json_of(prefix),
        message_metadata=built.message_metadata,
        turn_metadata=built.turn_metadata,
        opening=built.opening,
        session_metadata=built.session_metadata,
    )


def _json_of(prefix: Mapping[str, Any]) -> str:
    """Return JSON text that makes the same request again. Python's own encoder takes four times as long."""
    try:
        return orjson.dumps(prefix).decode()
    except orjson.JSONEncodeError:  # numbers over 64 bits and lone surrogates are JSON too
        return canonical_json(prefix)


def limits_left(turn: Turn, *, rounds: int = 0, calls: int = 0, requests: int = 0) -> PartLimits:
    """Return what is left of a part's budget."""
    spent_seconds = (timezone.now() - turn.part_started_at).total_seconds()
    whole_seconds = turn_seconds()
    return PartLimits(
        max_rounds=max(1, settings.SAGE_MAX_ROUNDS - rounds),
        seconds=min(whole_seconds, max(0.0, whole_seconds - spent_seconds)),
        max_tool_calls=max(0, settings.SAGE_MAX_TOOL_CALLS - calls),
        max_upstream_requests=max(1, MAX_UPSTREAM_REQUESTS - requests),
    )


def read_state(session_id: uuid.UUID) -> SessionState:
    return state_of(Session.unscoped.only("status", "active_arc", "kind").get(id=session_id))


def state_of(session: Session) -> SessionState:
    """Take the state from a loaded session."""
    return SessionState(
        status=session.status, active_arc=session.active_arc, effective_kind=session.effective_kind
    )
