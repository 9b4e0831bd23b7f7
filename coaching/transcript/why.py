"""The panel “Why this answer”: a turn's trace in plain words. Operators see the trace itself."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coaching.skills.callers import ARC, MODEL, USER
from coaching.skills.rules import arc_of
from coaching.skills.signals import says_of_the_past
from coaching.tools import presentation_of
from coaching.transcript.names import ARC_WORDS, in_words
from coaching.transcript.trace import SecondLook, SkillInPlay, ToolRun, TurnTrace
from sessions_app.models import LookOutcome
from sessions_app.spending import Spending

SECTION_NAMES: Mapping[str, str] = {
    "session_context": "Your name, the time and your check-in",
    "sage_context": "Sage’s notes about you",
    "overview": "Life map",
    "life_plan": "Life plan",
    "weekly_plan": "Weekly plan",
    "patterns": "Patterns",
    "pulse_baseline": "Ratings",
    "check_ins": "Last check-ins",
    "daily_logs": "Last daily logs",
    "captures": "Captures",
    "todays_plan": "Today’s plan",
    "yesterdays_plan": "Yesterday’s plan",
    "yesterdays_journal": "Yesterday’s log",
    "todays_calendar": "Today’s calendar",
    "flagged_domains": "Parts of life that need attention",
    "library_headlines": "Library",
    "client": "The client that this is about",
    "document": "A document",
    "finding": "What was found in a document",
    "brief": "What Sage remembers of this conversation",
    "offer": "What’s due",
    "help_lines": "Help lines",
}

_REASONS = {ARC: "you are in it", USER: "you asked for it", MODEL: "it fits what you said"}
_LOOKS: Mapping[str, str] = {
    LookOutcome.NONE: "no danger noticed in your message",
    LookOutcome.CONCERN: "a concern noticed in your message",
    LookOutcome.IMMEDIATE: "immediate danger noticed in your message",
    LookOutcome.GIVEN_UP: "given up because it took too long",
    LookOutcome.SKIPPED: "skipped, because the day’s tokens were used up",
    LookOutcome.FAILED: "not possible: the model didn’t answer",
    LookOutcome.NONSENSE: "not possible: the model’s answer made no sense",
}
_MICRO_USD_PER_CENT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WhySkill:
    """A skill that was used, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WhySection:
    """A section of the prompt, with its size in tokens."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyItem:
    """The panel below an answer. `offer` is what Sage could offer; `used` are time, cost and cache.

    `look` is how the second look at the message ended, empty without one.
    """

    skills: Sequence[WhySkill]
    offer: WhySkill | None
    sections: Sequence[WhySection]
    left_out: Sequence[str]
    conversation_tokens: int
    tools: Sequence[str]
    used: Sequence[str]
    look: str = ""


def why_of(trace: TurnTrace) -> WhyItem | None:
    """Return the panel of a turn; None if nothing is known about it."""
    if trace.spending is None and not (trace.sections or trace.skills or trace.tools or trace.look):
        return None
    return WhyItem(
        skills=[_skill(skill) for skill in trace.skills],
        offer=_offer(trace),
        sections=[
            WhySection(name=section_name(section.name), tokens=section.tokens) for section in trace.sections
        ],
        left_out=[section_name(name) for name in trace.left_out],
        conversation_tokens=trace.window_tokens,
        tools=_tools(trace.tools),
        used=_used(trace),
        look=_look(trace.look) if trace.look else "",
    )


def section_name(name: str) -> str:
    """Return a section's name on pages."""
    name = name.partition(":")[0]
    return SECTION_NAMES.get(name) or in_words(name.replace("_", "-"))


def _skill(skill: SkillInPlay) -> WhySkill:
    reason = _REASONS.get(skill.caller) or skill.because or says_of_the_past(skill.caller)
    return WhySkill(name=_skill_name(skill.name), reason=_inside_a_sentence(reason))


def _skill_name(name: str) -> str:
    words = ARC_WORDS.get(arc_of(name))
    return words.name if words else in_words(name)


def _offer(trace: TurnTrace) -> WhySkill | None:
    words = ARC_WORDS.get(trace.offered)
    if words is None:
        return None
    because = next(
        (met.because for met in trace.signals if met.is_chosen and arc_of(met.skill) == trace.offered), ""
    )
    return WhySkill(name=words.name, reason=_inside_a_sentence(because))


def _inside_a_sentence(text: str) -> str:
    return text[:1].lower() + text[1:]


def _tools(runs: Sequence[ToolRun]) -> list[str]:
    counts = Counter(run.name for run in runs)
    failed = Counter(run.name for run in runs if run.is_error)
    return [_done(name, count, failed[name]) for name, count in counts.items()]


def _done(name: str, count: int, failed: int) -> str:
    presentation = presentation_of(name)
    words = presentation.once if count == 1 else presentation.often.format(count=count)
    if not failed:
        return words
    return f"{words} (which failed)" if failed == count else f"{words} ({failed} failed)"


def _look(look: SecondLook) -> str:
    words = _LOOKS[look.outcome]
    return f"{words} ({look.milliseconds / 1000:.1f} seconds)" if look.milliseconds else words


def _used(trace: TurnTrace) -> list[str]:
    if trace.spending is None:
        return []
    used = [f"{trace.milliseconds / 1000:.1f} seconds", _cost(trace.spending)]
    used.append(f"{trace.spending.cache_share:.0%} of the input came from the cache")
    return [part for part in used if part]


def _cost(spending: Spending) -> str:
    if spending.cost_micro_usd is None:
        return ""
    if not spending.cost_micro_usd:
        return "free"
    cents = spending.cost_micro_usd / _MICRO_USD_PER_CENT
    return f"{cents:.1f} US cents" if cents >= 0.1 else "less than 0.1 US cents"
