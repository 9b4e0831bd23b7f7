"""Which facts trigger which skill, and that the trace records it."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from coaching.safety.intensity import Intensity
from coaching.skills.life_facts import LifeFacts
from coaching.skills.reader import read_skills, skills_root
from coaching.skills.signals import SIGNALS, call_skills

LISBON = ZoneInfo("Europe/Lisbon")


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, 18, hour, minute, tzinfo=LISBON)


# An afternoon without any signal.
QUIET = LifeFacts(
    local_time=at(15),
    has_life_map=True,
    has_plan_today=True,
    has_log_today=False,
    is_checkin_due=False,
    messages=2,
)


def test_nothing_is_called_on_a_quiet_afternoon() -> None:
    called = call_skills(QUIET)
    assert (called.arc, called.approaches, called.trace) == (None, (), ())


@pytest.mark.parametrize(
    ("facts", "arc", "signal", "because"),
    [
        (replace(QUIET, has_life_map=False), "life_mapping", "no_life_map", "There is no life map yet"),
        (
            replace(QUIET, has_life_map=False, is_map_begun=True),
            "life_mapping", "no_life_map", "The life map isn't complete yet",
        ),
        (
            replace(QUIET, local_time=at(8), has_plan_today=False),
            "open_day", "morning_without_plan", "It is morning, and today has no plan",
        ),
        (
            replace(QUIET, local_time=at(21)),
            "close_day", "evening_without_log", "It is evening, and today has a plan and no log",
        ),
        (replace(QUIET, is_checkin_due=True), "weekly_checkin", "checkin_due", "The weekly check-in is due"),
    ],
)  # fmt: skip
def test_a_signal_calls_its_arc(facts: LifeFacts, arc: str, signal: str, because: str) -> None:
    called = call_skills(facts)
    assert called.arc == arc
    assert called.approaches == ()
    [match] = called.trace
    assert (match.signal, match.skill, match.because, match.is_chosen) == (
        signal, arc.replace("_", "-"), because, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "approach", "because"),
    [
        (
            replace(QUIET, domain_statuses=(("career", "good"), ("health", "needs_attention"))),
            "domain-deep-dive", "health is marked needing attention",
        ),
        (
            replace(QUIET, domain_statuses=(("finances", "in_crisis"), ("play", "needs_attention"))),
            "domain-deep-dive", "finances is marked in crisis; play is marked needing attention",
        ),
        (
            replace(QUIET, intensity=Intensity(weight=4)),
            "crisis-support", "The last messages carry a lot",
        ),
        (replace(QUIET, is_grieving=True), "grief", "The last messages speak of a loss"),
        (
            replace(QUIET, is_plan_fitting=True, holds_offers=True),
            "safety-plan", "Danger was days ago, and there is no safety plan",
        ),
        (
            replace(QUIET, asks_for_plan=True), "safety-plan", "The last message asks about a safety plan",
        ),
        (replace(QUIET, unfolded_captures=5), "capture-review", "5 captures wait"),
        (replace(QUIET, days_to_quarter_end=6), "life-plan-revision", "The quarter's last day is in 6 days"),
        (replace(QUIET, days_to_quarter_end=1), "life-plan-revision", "The quarter's last day is tomorrow"),
        (replace(QUIET, days_to_quarter_end=0), "life-plan-revision", "The quarter's last day is today"),
    ],
)  # fmt: skip
def test_a_signal_calls_its_approach(facts: LifeFacts, approach: str, because: str) -> None:
    called = call_skills(facts)
    assert called.arc is None
    assert called.approaches == (approach,)
    assert [match.because for match in called.trace] == [because]


@pytest.mark.parametrize(
    "facts",
    [
        replace(QUIET, local_time=at(8)),
        replace(QUIET, local_time=at(12), has_plan_today=False),
        replace(QUIET, local_time=at(3, 59), has_plan_today=False),
        replace(QUIET, local_time=at(17, 59)),
        replace(QUIET, local_time=at(21), has_log_today=True),
        replace(QUIET, local_time=at(21), has_plan_today=False),
        replace(QUIET, domain_statuses=(("career", "okay"), ("play", "thriving"))),
        replace(QUIET, domain_statuses=(("health", "in_crisis"),), messages=1),
        replace(QUIET, intensity=Intensity(weight=2)),
        replace(QUIET, unfolded_captures=4),
        replace(QUIET, days_to_quarter_end=7),
    ],
)
def test_what_is_just_short_of_a_signal_calls_nothing(facts: LifeFacts) -> None:
    assert call_skills(facts).trace == ()


@pytest.mark.parametrize(
    ("hour", "arc"), [(4, "open_day"), (11, "open_day"), (18, "close_day"), (3, "close_day")]
)
def test_the_users_day_lasts_until_four_in_the_night(hour: int, arc: str) -> None:
    facts = replace(QUIET, local_time=at(hour), has_plan_today=arc == "close_day")
    assert call_skills(facts).arc == arc


def test_the_first_arc_is_offered_and_those_after_it_stay_in_the_trace() -> None:
    facts = replace(
        QUIET, local_time=at(8), has_life_map=False, has_plan_today=False, is_checkin_due=True
    )  # fmt: skip
    called = call_skills(facts)
    assert called.arc == "life_mapping"
    assert [(match.signal, match.is_chosen) for match in called.trace] == [
        ("no_life_map", True), ("morning_without_plan", False), ("checkin_due", False),
    ]  # fmt: skip
    assert call_skills(replace(facts, has_life_map=True)).arc == "open_day"
    assert call_skills(replace(facts, has_life_map=True, has_plan_today=True)).arc == "weekly_checkin"


def test_a_map_that_is_begun_or_was_offered_comes_after_days_and_weeks() -> None:
    facts = replace(QUIET, has_life_map=False, is_map_begun=True)
    assert call_skills(replace(facts, local_time=at(8), has_plan_today=False)).arc == "open_day"
    assert call_skills(replace(facts, local_time=at(21))).arc == "close_day"
    assert call_skills(replace(facts, is_checkin_due=True)).arc == "weekly_checkin"
    assert call_skills(facts).arc == "life_mapping"


TROUBLED_EVENING = replace(
    QUIET,
    local_time=at(21),
    domain_statuses=(("health", "in_crisis"),),
    unfolded_captures=9,
    days_to_quarter_end=0,
)


@pytest.mark.parametrize("arc", ["open_day", "close_day"])
def test_an_arc_of_minutes_gets_no_approach_but_steady_ground(arc: str) -> None:
    called = call_skills(replace(TROUBLED_EVENING, arc=arc, intensity=Intensity(weight=5)))
    assert called.approaches == ("crisis-support",)
    assert "domain_flagged" not in [match.signal for match in called.trace]


@pytest.mark.parametrize("arc", ["", "weekly_checkin", "life_mapping"])
def test_all_approaches_can_be_used_elsewhere(arc: str) -> None:
    called = call_skills(replace(TROUBLED_EVENING, arc=arc))
    assert called.arc == "close_day"
    assert called.approaches == ("domain-deep-dive", "capture-review", "life-plan-revision")
    assert all(match.is_chosen for match in called.trace)
    assert len(called.trace) == 4


@pytest.mark.parametrize("arc", ["", "weekly_checkin", "life_mapping"])
def test_where_messages_carry_a_lot_nothing_is_offered_and_nothing_else_is_looked_into(arc: str) -> None:
    called = call_skills(replace(TROUBLED_EVENING, arc=arc, intensity=Intensity(weight=5), is_grieving=True))
    assert (called.arc, called.approaches) == (None, ("crisis-support", "grief"))


def test_the_first_conversation_is_for_getting_acquainted_and_offers_no_arc() -> None:
    facts = replace(QUIET, local_time=at(8), has_life_map=False, has_plan_today=False)
    facts = replace(facts, is_first_talk=True, messages=1)
    called = call_skills(facts)
    assert (called.arc, called.approaches) == (None, ("first-talk",))
    assert call_skills(replace(facts, messages=2)).approaches == ()
    assert call_skills(replace(facts, arc="life_mapping")).approaches == ()
    assert call_skills(replace(facts, is_first_talk=False)).arc == "life_mapping"


def test_every_signal_calls_a_skill_that_says_so_and_no_other_skill_has_one() -> None:
    skills = {skill.name: skill for skill in read_skills(skills_root())}
    for signal in SIGNALS:
        assert signal.name in skills[signal.skill].signals
        assert skills[signal.skill].kind == ("arc" if signal.is_arc else "approach")
    silent = {skill.name for skill in skills.values() if not skill.signals}
    assert silent == skills.keys() - {signal.skill for signal in SIGNALS}
