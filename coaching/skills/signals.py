"""Which facts of a life call which skill: one table. The first arc that matches is offered,
and every approach that matches is used.

Pure: it reads no database and no clock. It offers and never forces: what becomes of an arc is between the
person and Sage.
"""

from collections.abc import Callable
from dataclasses import dataclass

from coaching.skills.life_facts import LifeFacts
from coaching.skills.rules import arc_of

CAPTURES_WAITING = 5
QUARTER_END_DAYS = 7
TROUBLED = ("needs_attention", "in_crisis")


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One row. `because` says in plain words what was seen; it never repeats a person's words.

    `was` says it of the past and in general, for a skill that is still in play when the signal has gone.
    """

    name: str
    skill: str
    is_arc: bool
    is_met: Callable[[LifeFacts], bool]
    because: Callable[[LifeFacts], str]
    was: str


def _arc(
    name: str, skill: str, is_met: Callable[[LifeFacts], bool], because: Callable[[LifeFacts], str], was: str
) -> Signal:
    return Signal(name=name, skill=skill, is_arc=True, is_met=is_met, because=because, was=was)


def _approach(
    name: str, skill: str, is_met: Callable[[LifeFacts], bool], because: Callable[[LifeFacts], str], was: str
) -> Signal:
    return Signal(name=name, skill=skill, is_arc=False, is_met=is_met, because=because, was=was)


# SPEC 5's table, in its order. decision-helper and pattern-review have no signal: the model loads them.
SIGNALS: tuple[Signal, ...] = (
    _arc(
        "no_life_map", "life-mapping",
        lambda facts: not facts.has_life_map,
        lambda _: "There is no life map yet",
        "There was no life map yet",
    ),
    _arc(
        "morning_without_plan", "open-day",
        lambda facts: facts.time_bracket == "morning" and not facts.has_plan_today,
        lambda _: "It is morning, and today has no plan",
        "It was morning, and the day had no plan",
    ),
    _arc(
        "evening_without_log", "close-day",
        lambda facts: facts.time_bracket == "evening" and facts.has_plan_today and not facts.has_log_today,
        lambda _: "It is evening, and today has a plan and no log",
        "It was evening, and the day had a plan and no log",
    ),
    _arc(
        "checkin_due", "weekly-checkin",
        lambda facts: facts.is_checkin_due,
        lambda _: "The weekly check-in is due",
        "The weekly check-in was due",
    ),
    _approach(
        "domain_flagged", "domain-deep-dive",
        lambda facts: bool(_troubled(facts)),
        lambda facts: "; ".join(f"{name} is marked {status}" for name, status in _troubled(facts)),
        "A part of life was marked as in trouble",
    ),
    _approach(
        "high_intensity", "crisis-support",
        lambda facts: facts.intensity.is_high,
        lambda _: "The last messages carry a lot",
        "Messages carried a lot",
    ),
    _approach(
        "captures_waiting", "capture-review",
        lambda facts: facts.unfolded_captures >= CAPTURES_WAITING,
        lambda facts: f"{facts.unfolded_captures} captures wait",
        "Captures had piled up",
    ),
    _approach(
        "quarter_end", "life-plan-revision",
        lambda facts: facts.days_to_quarter_end < QUARTER_END_DAYS,
        lambda facts: f"The quarter's last day is {_in_days(facts.days_to_quarter_end)}",
        "A quarter was ending",
    ),
)  # fmt: skip


def says_of_the_past(name: str) -> str:
    """Return what a signal had seen, in general; empty for an unknown name."""
    return next((signal.was for signal in SIGNALS if signal.name == name), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One signal that was met: the skill that it called, why, and whether the skill was chosen.

    An arc isn't chosen where one before it matched.
    """

    signal: str
    skill: str
    because: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What the facts call for. `arc` is a session's kind (`open_day`), approaches are names of skills."""

    arc: str | None
    approaches: tuple[str, ...]
    trace: tuple[Match, ...]


def call_skills(facts: LifeFacts) -> Called:
    """Return the arc to offer, the approaches to use, and which signal called what."""
    arc: str | None = None
    approaches: dict[str, None] = {}
    trace = []
    for signal in SIGNALS:
        if not signal.is_met(facts):
            continue
        is_chosen = not signal.is_arc or arc is None
        if signal.is_arc:
            arc = arc or arc_of(signal.skill)
        else:
            approaches[signal.skill] = None
        trace.append(
            Match(signal=signal.name, skill=signal.skill, because=signal.because(facts), is_chosen=is_chosen)
        )
    return Called(arc=arc, approaches=tuple(approaches), trace=tuple(trace))


def _troubled(facts: LifeFacts) -> list[tuple[str, str]]:
    words = {"needs_attention": "needing attention", "in_crisis": "in crisis"}
    return [(name, words[status]) for name, status in facts.domain_statuses if status in TROUBLED]


def _in_days(days: int) -> str:
    return {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")
