"""The panel “Why this answer”: a turn's trace in plain words. Operators see the trace itself."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import get_language, gettext, gettext_noop

from coaching.skills.callers import ARC, MODEL, USER
from coaching.skills.rules import arc_of
from coaching.skills.signals import says_of_the_past
from coaching.tools import presentation_of
from coaching.transcript.names import arc_words, in_words
from coaching.transcript.trace import SecondLook, SkillInPlay, ToolRun, TurnTrace
from sessions_app.models import LookOutcome
from sessions_app.spending import Spending

SECTION_NAMES: Mapping[str, str] = {
    "session_context": gettext_noop("Your name, the time and your check-in"),
    "sage_context": gettext_noop("Sage’s notes about you"),
    "overview": gettext_noop("Life map"),
    "life_plan": gettext_noop("Life plan"),
    "weekly_plan": gettext_noop("Weekly plan"),
    "patterns": gettext_noop("Patterns"),
    "pulse_baseline": gettext_noop("Ratings"),
    "check_ins": gettext_noop("Last check-ins"),
    "daily_logs": gettext_noop("Last daily logs"),
    "recent_sessions": gettext_noop("Your last conversations"),
    "left_open": gettext_noop("What you left open"),
    "captures": gettext_noop("Captures"),
    "todays_plan": gettext_noop("Today’s plan"),
    "yesterdays_plan": gettext_noop("Yesterday’s plan"),
    "yesterdays_journal": gettext_noop("Yesterday’s log"),
    "todays_calendar": gettext_noop("Today’s calendar"),
    "flagged_domains": gettext_noop("Parts of life that need attention"),
    "library_headlines": gettext_noop("Library"),
    "client": gettext_noop("The client this is about"),
    "scope": gettext_noop("What this conversation is about"),
    "document": gettext_noop("A document"),
    "finding": gettext_noop("What was found in a document"),
    "brief": gettext_noop("What Sage remembers of this conversation"),
    "offer": gettext_noop("What’s due"),
    "help_lines": gettext_noop("Help lines"),
    "next_steps": gettext_noop("Your next steps"),
    "steps_due": gettext_noop("Steps to ask you about"),
    "steps_week": gettext_noop("Your steps this week"),
    "care": gettext_noop("Danger that you wrote about"),
    "care_ask": gettext_noop("To ask how you are"),
}

_REASONS = {
    ARC: gettext_noop("you are in it"),
    USER: gettext_noop("you asked for it"),
    MODEL: gettext_noop("it fits what you said"),
}
_SKILL_NAMES: Mapping[str, str] = {
    "capture-review": gettext_noop("Capture review"),
    "crisis-support": gettext_noop("Crisis support"),
    "decision-helper": gettext_noop("Decision helper"),
    "first-talk": gettext_noop("First talk"),
    "domain-deep-dive": gettext_noop("Domain deep dive"),
    "grief": gettext_noop("Grief"),
    "life-plan-revision": gettext_noop("Life plan revision"),
    "pattern-review": gettext_noop("Pattern review"),
}
_LOOKS: Mapping[str, str] = {
    LookOutcome.NONE: gettext_noop("no danger noticed in your message"),
    LookOutcome.CONCERN: gettext_noop("a concern noticed in your message"),
    LookOutcome.IMMEDIATE: gettext_noop("immediate danger noticed in your message"),
    LookOutcome.GIVEN_UP: gettext_noop("given up because it took too long"),
    LookOutcome.SKIPPED: gettext_noop("skipped because today’s budget was used up"),
    LookOutcome.FAILED: gettext_noop("not possible: the model didn’t answer"),
    LookOutcome.NONSENSE: gettext_noop("not possible: the model’s answer was unusable"),
}
_MICRO_USD_PER_CENT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WhySkill:
    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WhySection:
    """A section of the prompt, with its size in tokens. `is_care`: it is about danger that is remembered."""

    name: str
    tokens: int
    is_care: bool = False


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
            WhySection(
                name=section_name(section.name),
                tokens=section.tokens,
                is_care=section.name.startswith("care"),
            )
            for section in trace.sections
        ],
        left_out=[section_name(name) for name in trace.left_out],
        conversation_tokens=trace.window_tokens,
        tools=_tools(trace.tools),
        used=_used(trace),
        look=_look(trace.look) if trace.look else "",
    )


def section_name(name: str) -> str:
    name = name.partition(":")[0]
    known = SECTION_NAMES.get(name)
    return gettext(known) if known else in_words(name.replace("_", "-"))


def _skill(skill: SkillInPlay) -> WhySkill:
    known = _REASONS.get(skill.caller)
    reason = gettext(known) if known else _seen(skill.because, skill.caller)
    return WhySkill(name=_skill_name(skill.name), reason=_inside_a_sentence(reason))


def _skill_name(name: str) -> str:
    words = arc_words(arc_of(name))
    if words:
        return words.name
    return gettext(_SKILL_NAMES[name]) if name in _SKILL_NAMES else in_words(name)


def _seen(because: str, signal: str) -> str:
    """Return what a signal saw; in another language without the figures and names in it."""
    shown = gettext(because) if because else ""
    was = says_of_the_past(signal)
    is_english = (get_language() or "en").startswith("en")
    return shown if shown and (is_english or shown != because or not was) else gettext(was) if was else ""


def _offer(trace: TurnTrace) -> WhySkill | None:
    words = arc_words(trace.offered)
    if words is None:
        return None
    chosen = (met for met in trace.signals if met.is_chosen and arc_of(met.skill) == trace.offered)
    because = next((_seen(met.because, met.signal) for met in chosen), "")
    return WhySkill(name=words.name, reason=_inside_a_sentence(because))


def _inside_a_sentence(text: str) -> str:
    return text[:1].lower() + text[1:]


def _tools(runs: Sequence[ToolRun]) -> list[str]:
    counts = Counter(run.name for run in runs)
    failed = Counter(run.name for run in runs if run.is_error)
    return [_done(name, count, failed[name]) for name, count in counts.items()]


def _done(name: str, count: int, failed: int) -> str:
    presentation = presentation_of(name)
    words = gettext(presentation.once) if count == 1 else gettext(presentation.often).format(count=count)
    if not failed:
        return words
    if failed == count:
        return gettext("%(action)s (failed)") % {"action": words}
    return gettext("%(action)s (%(number)s failed)") % {"action": words, "number": failed}


def _look(look: SecondLook) -> str:
    words = gettext(_LOOKS[look.outcome])
    return f"{words} ({_seconds(look.milliseconds)})" if look.milliseconds else words


def _seconds(milliseconds: int) -> str:
    return gettext("%(number)s seconds") % {"number": number_format(round(milliseconds / 1000, 1), 1)}


def _used(trace: TurnTrace) -> list[str]:
    if trace.spending is None:
        return []
    used = [_seconds(trace.milliseconds), _cost(trace.spending)]
    share = {"percent": round(trace.spending.cache_share * 100)}
    used.append(gettext("%(percent)s%% of the input came from the cache") % share)
    return [part for part in used if part]


def _cost(spending: Spending) -> str:
    if spending.cost_micro_usd is None:
        return ""
    if not spending.cost_micro_usd:
        return gettext("free")
    cents = spending.cost_micro_usd / _MICRO_USD_PER_CENT
    if cents < 0.1:
        return gettext("less than 0.1 US cents")
    return gettext("%(number)s US cents") % {"number": number_format(round(cents, 1), 1)}
