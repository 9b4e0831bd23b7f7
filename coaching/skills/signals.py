"""The table of signals: which facts load which skill.

The first arc that matches is offered, never forced; every approach that matches is used. No I/O.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from coaching.skills.life_facts import LifeFacts
from coaching.skills.rules import arc_of
from sessions_app.models import SessionKind

CAPTURES_WAITING = 5
QUARTER_END_DAYS = 7
TROUBLED = ("needs_attention", "in_crisis")
DAY_ARCS = (SessionKind.OPEN_DAY, SessionKind.CLOSE_DAY)
"""Arcs of two or three minutes, too short for most approaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One row. `because` states in plain words what was seen; it never quotes the user.

    `was` states it in the past tense, for a skill that is still loaded when the signal no longer matches, and
    for readers in another language where `because` has figures or names in it.
    `fits_day_arcs`: the approach is used in the arcs of a day, too; `stays_in_care`: also where the last
    messages carry a lot, and in the days after danger, in which nothing is offered unasked.
    """

    name: str
    skill: str
    is_arc: bool
    is_met: Callable[[LifeFacts], bool]
    because: Callable[[LifeFacts], str]
    was: str
    fits_day_arcs: bool = False
    stays_in_care: bool = False


def _arc(
    name: str, skill: str, is_met: Callable[[LifeFacts], bool], because: Callable[[LifeFacts], str], was: str
) -> Signal:
    return Signal(name=name, skill=skill, is_arc=True, is_met=is_met, because=because, was=was)


def _approach(
    name: str,
    skill: str,
    is_met: Callable[[LifeFacts], bool],
    because: Callable[[LifeFacts], str],
    was: str,
    *,
    fits_day_arcs: bool = False,
    stays_in_care: bool = False,
) -> Signal:
    return Signal(
        name=name,
        skill=skill,
        is_arc=False,
        is_met=is_met,
        because=because,
        was=was,
        fits_day_arcs=fits_day_arcs,
        stays_in_care=stays_in_care,
    )


# decision-helper and pattern-review have no signal: the model loads them.
SIGNALS: tuple[Signal, ...] = (
    _arc(
        "no_life_map", "life-mapping",
        lambda facts: not facts.has_life_map and not facts.is_map_begun,
        lambda _: gettext_noop("There is no life map yet"),
        gettext_noop("There was no life map yet"),
    ),
    _arc(
        "morning_without_plan", "open-day",
        lambda facts: facts.time_bracket == "morning" and not facts.has_plan_today,
        lambda _: gettext_noop("It is morning, and today has no plan"),
        gettext_noop("It was morning, and the day had no plan"),
    ),
    _arc(
        "evening_without_log", "close-day",
        lambda facts: facts.time_bracket == "evening" and facts.has_plan_today and not facts.has_log_today,
        lambda _: gettext_noop("It is evening, and today has a plan and no log"),
        gettext_noop("It was evening, and the day had a plan and no log"),
    ),
    _arc(
        "checkin_due", "weekly-checkin",
        lambda facts: facts.is_checkin_due,
        lambda _: gettext_noop("The weekly check-in is due"),
        gettext_noop("The weekly check-in was due"),
    ),
    # Last, so that a map that takes its time doesn't keep days and weeks from being offered.
    _arc(
        "no_life_map", "life-mapping",
        lambda facts: not facts.has_life_map and facts.is_map_begun,
        lambda _: gettext_noop("The life map isn't complete yet"),
        gettext_noop("There was no life map yet"),
    ),
    _approach(
        "first_talk", "first-talk",
        lambda facts: facts.is_first_talk and facts.messages <= 1 and not facts.arc,
        lambda _: gettext_noop("This is the first conversation"),
        gettext_noop("It was the first conversation"),
    ),
    _approach(
        "domain_flagged", "domain-deep-dive",
        # What they came with comes first, and it may be danger.
        lambda facts: bool(_troubled(facts)) and (facts.messages > 1 or bool(facts.arc)),
        lambda facts: "; ".join(f"{name} is marked {status}" for name, status in _troubled(facts)),
        gettext_noop("A part of life was marked as in trouble"),
    ),
    _approach(
        "high_intensity", "crisis-support",
        lambda facts: facts.intensity.is_high,
        lambda _: gettext_noop("The last messages carry a lot"),
        gettext_noop("Messages carried a lot"),
        fits_day_arcs=True, stays_in_care=True,
    ),
    _approach(
        "plan_asked_for", "safety-plan",
        lambda facts: facts.asks_for_plan,
        lambda _: gettext_noop("The last message asks about a safety plan"),
        gettext_noop("A message asked about a safety plan"),
        stays_in_care=True,
    ),
    _approach(
        "grief", "grief",
        lambda facts: facts.is_grieving,
        lambda _: gettext_noop("The last messages speak of a loss"),
        gettext_noop("Messages spoke of a loss"),
        fits_day_arcs=True, stays_in_care=True,
    ),
    _approach(
        "calm_after_danger", "safety-plan",
        lambda facts: facts.is_plan_fitting and not facts.intensity.is_high,
        lambda _: gettext_noop("Danger was days ago, and there is no safety plan"),
        gettext_noop("Danger was days ago, and there was no safety plan"),
        stays_in_care=True,
    ),
    _approach(
        "captures_waiting", "capture-review",
        lambda facts: facts.unfolded_captures >= CAPTURES_WAITING,
        lambda facts: f"{facts.unfolded_captures} captures wait",
        gettext_noop("Captures had piled up"),
    ),
    _approach(
        "quarter_end", "life-plan-revision",
        lambda facts: facts.days_to_quarter_end < QUARTER_END_DAYS,
        lambda facts: f"The quarter's last day is {_in_days(facts.days_to_quarter_end)}",
        gettext_noop("A quarter was ending"),
    ),
)  # fmt: skip


def says_of_the_past(name: str) -> str:
    """Return what a signal saw, in the past tense; empty for an unknown name."""
    return next((signal.was for signal in SIGNALS if signal.name == name), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A signal that matched, with its skill, the reason, and whether the skill was chosen.

    Of several arcs only the first is chosen.
    """

    signal: str
    skill: str
    because: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The result of all signals. `arc` is a session's kind (`open_day`), approaches are names of skills."""

    arc: str | None
    approaches: tuple[str, ...]
    trace: tuple[Match, ...]


def call_skills(facts: LifeFacts) -> Called:
    """Return the arc to offer, the approaches to use, and the signals that matched.

    No arc is offered in a first conversation, which has ten minutes and one next step, nor in one about
    somebody else.
    """
    arc: str | None = None
    approaches: dict[str, None] = {}
    trace = []
    for signal in SIGNALS:
        is_too_long = not (signal.is_arc or signal.fits_day_arcs) and facts.arc in DAY_ARCS
        is_at_rest = (facts.holds_offers or facts.intensity.is_high) and not signal.stays_in_care
        is_out_of_place = signal.is_arc and (facts.is_first_talk or facts.is_about_client)
        if is_too_long or is_at_rest or is_out_of_place or not signal.is_met(facts):
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
