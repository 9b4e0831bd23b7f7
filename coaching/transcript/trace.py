"""Reads a turn's trace: the prompt's part of it (`context.trace`), the calls, and the cost.

Names are those that are stored; `why` puts them in words. A trace of an older version may lack anything:
unexpected values are left out and never raise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coaching.context.statement import SKILL_KEY
from coaching.tools import SKILL_TOOLS
from sessions_app.models import LookOutcome, SafetyVerdict, ToolCallRecord, ToolCallState, Turn
from sessions_app.money import small_dollars
from sessions_app.spending import Spending

PLACES = ("opening", "earlier", "message")
_WAITING = (
    ToolCallState.PENDING,
    ToolCallState.ANSWERED,
    ToolCallState.DISMISSED,
    ToolCallState.SUPERSEDED,
    ToolCallState.EXPIRED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillInPlay:
    """A skill whose text was in the prompt. `caller` is a signal, or arc, model or user; empty if unknown.

    `because` is what a signal saw in this turn. `where` is the place of the text: in the opening, with an
    earlier message, with this one, in an earlier call's result, or in one of this turn.
    """

    name: str
    caller: str
    where: str
    tokens: int = 0
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalMet:
    """A signal that matched, and whether its skill was chosen: of several arcs only the first is."""

    signal: str
    skill: str
    because: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSent:
    """A section with its tokens in the opening, in earlier messages, and in the newest one."""

    name: str
    opening: int
    earlier: int
    message: int

    @property
    def tokens(self) -> int:
        return self.opening + self.earlier + self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """A call; `milliseconds` is None if it waited for the user or never ended."""

    name: str
    is_error: bool
    milliseconds: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLook:
    """How the second look at the turn's message ended, a `LookOutcome`."""

    outcome: str
    milliseconds: int

    @property
    def label(self) -> str:
        """The outcome, as operators see it."""
        return str(LookOutcome(self.outcome).label)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTrace:
    """A turn's trace. `offered` is the arc that Sage could offer, `left_out` the sections that failed.

    `brief_version` is that of the brief in the opening, 0 for none; it covers the messages to `brief_covers`.
    `look` is None where no second look was taken.
    """

    skills: Sequence[SkillInPlay]
    signals: Sequence[SignalMet]
    offered: str
    sections: Sequence[SectionSent]
    left_out: Sequence[str]
    frame_tokens: int
    window_tokens: int
    tools: Sequence[ToolRun]
    spending: Spending | None
    build_ms: float | None
    look: SecondLook | None
    brief_version: int = 0
    brief_covers: int = 0

    @property
    def milliseconds(self) -> int:
        """The time of model and tools together, without waiting for the user."""
        tools = sum(run.milliseconds or 0 for run in self.tools)
        return tools + (self.spending.model_ms if self.spending else 0)

    @property
    def cache_percent(self) -> int:
        return round(self.spending.cache_share * 100) if self.spending else 0

    @property
    def dollars(self) -> str:
        """The cost, as operators see it."""
        return small_dollars(self.spending.cost_micro_usd if self.spending else None)


def read_trace(
    turn: Turn,
    calls: Iterable[ToolCallRecord],
    spending: Spending | None,
    verdict: SafetyVerdict | None = None,
) -> TurnTrace:
    """Read the trace of a turn with its calls, in order, its cost, and the verdict about its message."""
    calls = list(calls)
    skills, context = _mapping(turn.metadata, "skills"), _mapping(turn.metadata, "context")
    signals = [
        SignalMet(
            signal=str(match.get("signal", "")),
            skill=str(match.get("skill", "")),
            because=str(match.get("because", "")),
            is_chosen=bool(match.get("is_chosen")),
        )
        for match in _mappings(skills.get("matches"))
    ]
    sections = _sections(context)
    build_ms = turn.metadata.get("build_ms")
    brief = _mapping(context, "brief")
    return TurnTrace(
        skills=_skills_in_play(skills, sections, signals, calls),
        signals=signals,
        offered=str(skills.get("offered") or ""),
        sections=[section for section in sections if not section.name.startswith(SKILL_KEY)],
        left_out=[str(name) for name in context.get("left_out") or ()],
        frame_tokens=_number(context.get("frame")),
        window_tokens=_number(context.get("window")),
        tools=[_run_of(call) for call in calls],
        spending=spending,
        build_ms=build_ms if isinstance(build_ms, int | float) else None,
        look=_look_of(verdict) if verdict else None,
        brief_version=_number(brief.get("version")),
        brief_covers=_number(brief.get("covers")),
    )


def _skills_in_play(
    skills: Mapping[str, Any],
    sections: Sequence[SectionSent],
    signals: Sequence[SignalMet],
    calls: Sequence[ToolCallRecord],
) -> list[SkillInPlay]:
    """Return the skills of the prompt, then those in results of the turn's own calls."""
    seen = {met.signal: met.because for met in signals}
    named = skills.get("named") or ()
    tokens = {section.name.removeprefix(SKILL_KEY): section.tokens for section in sections}
    found = {
        str(each.get("skill")): SkillInPlay(
            name=str(each.get("skill")),
            caller=(caller := str(each.get("caller", ""))),
            where=str(each.get("where", "")),
            tokens=tokens.get(str(each.get("skill")), 0),
            because=seen.get(caller, ""),
        )
        for each in _mappings(skills.get("in_play"))
    }
    for call in calls:
        tool = None if call.is_error else SKILL_TOOLS.get(call.name)
        name = tool.skill_brought(call.input, call.result) if tool else ""
        if tool and name and name not in found:
            caller = tool.caller(is_asked=name in named)
            found[name] = SkillInPlay(name=name, caller=caller, where="call")
    return list(found.values())


def _sections(context: Mapping[str, Any]) -> list[SectionSent]:
    """Return all sections, including the texts of skills."""
    sizes = {place: _mapping(context, place) for place in PLACES}
    names = dict.fromkeys(name for place in PLACES for name in sizes[place])
    return [
        SectionSent(name=name, **{place: _number(sizes[place].get(name)) for place in PLACES})
        for name in names
    ]


def _look_of(verdict: SafetyVerdict) -> SecondLook | None:
    if verdict.looked not in LookOutcome.values:
        return None
    return SecondLook(outcome=verdict.looked, milliseconds=verdict.milliseconds)


def _run_of(call: ToolCallRecord) -> ToolRun:
    is_timed = call.finished_at is not None and call.state not in _WAITING
    took = (call.finished_at - call.created_at).total_seconds() if is_timed and call.finished_at else None
    return ToolRun(
        name=call.name,
        is_error=call.is_error,
        milliseconds=None if took is None else max(0, round(took * 1000)),
    )


def _mapping(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
