"""Why Sage answered so: in short below each answer, in full on the turn's admin page."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from coaching.context.sections import ORDER
from coaching.models import SkillKind
from coaching.skills.reader import read_skills, skills_root
from coaching.transcript.why import SECTION_NAMES
from sessions_app.models import (
    LookOutcome,
    ModelUsage,
    SafetyVerdict,
    Session,
    ToolCallRecord,
    Turn,
    UsagePurpose,
)
from tests.browsers import browser_of
from tests.conftest import MakeUser
from tests.languages.conftest import speaks, translated
from tests.pages.conftest import Exchange

pytestmark = pytest.mark.django_db

TRACE: dict[str, Any] = {
    "skills": {
        "arc": "", "offered": "open_day", "approaches": ["domain-deep-dive"], "said": ["domain-deep-dive"],
        "named": ["decision-helper"],
        "in_play": [
            {"skill": "crisis-support", "caller": "high_intensity", "where": "earlier"},
            {"skill": "domain-deep-dive", "caller": "domain_flagged", "where": "message"},
        ],
        "matches": [
            {"signal": "morning_without_plan", "skill": "open-day", "is_chosen": True,
             "because": "It is morning, and today has no plan"},
            {"signal": "checkin_due", "skill": "weekly-checkin", "is_chosen": False,
             "because": "The weekly check-in is due"},
            {"signal": "domain_flagged", "skill": "domain-deep-dive", "is_chosen": True,
             "because": "health is marked in crisis"},
        ],
    },
    "context": {
        "opening": {"life_plan": 320, "skill:domain-deep-dive": 340}, "earlier": {"life_plan": 30},
        "message": {"session_context": 60}, "frame": 4321, "window": 1234, "left_out": ["pulse_baseline"],
    },
    "build_ms": 12.5,
}  # fmt: skip


@pytest.fixture
def turn(exchange: Exchange, user: User) -> Turn:
    """A finished turn with everything that a trace can contain."""
    turn = exchange("Should I?", "Let us look.")
    turn.metadata = TRACE
    turn.save()
    now = timezone.now()
    calls = [
        ("load_skill", {"name": "decision-helper"}, "## Goal\n\nA choice.", False),
        ("load_skill", {"name": "pattern-review"}, "There is none.", True),
        ("save_file", {}, "{}", False),
        ("save_file", {}, "{}", False),
    ]
    for position, (name, given, result, is_error) in enumerate(calls):
        ToolCallRecord.unscoped.create(
            turn=turn, round_number=1, position=position, tool_use_id=f"t{position}", name=name, input=given,
            result=result, is_error=is_error, state="finished", finished_at=now,
        )  # fmt: skip
    for read, cost in ((900, 2_000), (700, 3_000)):
        ModelUsage.unscoped.create(
            user=user, session=turn.session, turn=turn, model="claude-sonnet-5-5", input_tokens=100,
            cache_read_tokens=read, cache_creation_1h_tokens=100, output_tokens=50, cost_micro_usd=cost,
            first_token_ms=400, duration_ms=1_500,
        )  # fmt: skip
    return turn


def words_of(page: str) -> str:
    """Return the panel's text."""
    panel = page.partition('<details class="why">')[2].partition("</details>")[0]
    return " ".join(panel.replace("<", " <").replace(">", "> ").split())


def test_an_answer_says_in_short_what_was_in_play_in_view_done_and_used(
    signed_in: Client, session: Session, turn: Turn
) -> None:
    panel = words_of(signed_in.get(f"/chat/{session.id}/").content.decode())
    for said in (
        "Crisis support: messages carried a lot",
        "Domain deep dive: health is marked in crisis",
        "Decision helper: you asked for it",
        "Opening the day (offered): it is morning, and today has no plan",
        "Life plan <small> 350 </small>",
        "This conversation <small> 1234 </small>",
        "Couldn’t be loaded: Ratings",
        "Saved 2 files",
        "Loaded 2 skills (1 failed)",
        "3.0 seconds",
        "0.5 US cents",
        "80% of the input came from the cache",
    ):
        assert said in panel, said
    assert "Pattern review" not in panel
    assert "Domain-deep-dive" not in panel


def test_the_panel_speaks_the_readers_language(
    signed_in: Client, session: Session, turn: Turn, user: User
) -> None:
    speaks(user, "de")
    panel = words_of(signed_in.get(f"/chat/{session.id}/").content.decode()).lower()
    for skill, reason in (
        ("Crisis support", "Messages carried a lot"),
        ("Domain deep dive", "A part of life was marked as in trouble"),
        ("Decision helper", "you asked for it"),
    ):
        assert f"{translated(skill, 'de')}: {translated(reason, 'de')}".lower() in panel
    assert translated("It is morning, and today has no plan", "de").lower() in panel


def test_every_approach_has_a_name_in_each_language() -> None:
    for skill in read_skills(skills_root()):
        if skill.kind == SkillKind.APPROACH:
            name = skill.name.replace("-", " ").capitalize()
            assert translated(name, "de") != translated(name, "es")


def test_an_answer_of_which_nothing_is_known_has_no_panel(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("Hello", "From long ago.")
    assert 'class="why"' not in signed_in.get(f"/chat/{session.id}/").content.decode()


@pytest.mark.parametrize(
    "metadata",
    [
        {"skills": [], "context": 3, "build_ms": "soon"},
        {
            "skills": {"in_play": "x", "matches": {"a": 1}, "named": None, "offered": 7},
            "context": {"opening": []},
        },
        {"skills": {"in_play": [1, {}]}, "context": {"message": {"overview": "many"}, "left_out": None}},
    ],
)
def test_a_trace_that_is_not_as_expected_breaks_no_page(
    signed_in: Client, session: Session, turn: Turn, operator: User, metadata: dict[str, Any]
) -> None:
    Turn.unscoped.update(metadata=metadata)
    assert "Saved 2 files" in signed_in.get(f"/chat/{session.id}/").content.decode()
    signed_in.force_login(operator)
    assert signed_in.get(f"/admin/sessions_app/turn/{turn.id}/change/").status_code == 200


@pytest.mark.parametrize(
    ("looked", "level", "said"),
    [
        ("none", "none", "No danger noticed in your message (0.6 seconds)"),
        ("concern", "concern", "A concern noticed in your message (0.6 seconds)"),
        ("immediate", "immediate", "Immediate danger noticed in your message (0.6 seconds)"),
        ("none", "concern", "No danger noticed in your message (0.6 seconds)"),
        ("skipped", "none", "Skipped because today’s budget was used up"),
        ("given_up", "none", "Given up because it took too long (0.6 seconds)"),
        ("failed", "none", "Not possible: the model didn’t answer (0.6 seconds)"),
        ("nonsense", "none", "Not possible: the model’s answer was unusable (0.6 seconds)"),
    ],
)
def test_it_says_how_the_second_look_ended(
    signed_in: Client, operator: User, turn: Turn, looked: str, level: str, said: str
) -> None:
    judge(turn, looked=looked, level=level, milliseconds=0 if looked == "skipped" else 640)
    page = signed_in.get(f"/chat/{turn.session_id}/").content.decode()
    assert f"Safety check </dt> <dd> <p> {said} </p>" in words_of(page)
    signed_in.force_login(operator)
    trace = signed_in.get(f"/admin/sessions_app/turn/{turn.id}/change/").content.decode()
    assert LookOutcome(looked).label in trace.partition("<h2>Second look</h2>")[2]


def test_without_a_second_look_it_says_nothing_about_one(signed_in: Client, turn: Turn) -> None:
    address = f"/chat/{turn.session_id}/"
    assert "Safety check" not in words_of(signed_in.get(address).content.decode())
    judge(turn, looked="", level="concern")  # by the rules, or by Sage
    assert "Safety check" not in words_of(signed_in.get(address).content.decode())


def judge(turn: Turn, **fields: Any) -> None:
    """Store a verdict about the turn's message."""
    message = turn.messages.earliest("number")
    given = {"about": "self", "topic": "life", "model": "m", **fields}
    SafetyVerdict.unscoped.create(session=turn.session, message=message, **given)


def test_a_price_that_is_not_known_is_not_called_nothing(
    signed_in: Client, session: Session, turn: Turn
) -> None:
    ModelUsage.unscoped.filter(cache_read_tokens=700).update(cost_micro_usd=None)
    ModelUsage.unscoped.filter(cache_read_tokens=900).update(purpose=UsagePurpose.TURN)
    panel = words_of(signed_in.get(f"/chat/{session.id}/").content.decode())
    assert "cents" not in panel
    assert "3.0 seconds" in panel


def test_operators_see_the_whole_trace_of_a_turn_and_no_words(make_user: MakeUser, turn: Turn) -> None:
    member = make_user("staff", is_staff=True)
    member.user_permissions.set(Permission.objects.filter(codename="view_turn"))
    client = browser_of(member)
    page = client.get(f"/admin/sessions_app/turn/{turn.id}/change/").content.decode()
    for said in (
        "high_intensity", "with an earlier message", "domain_flagged", "health is marked in crisis",
        "morning_without_plan", "no: another arc came first", "Could offer: open_day", "life_plan", "350",
        "built in 12.5 ms", "pulse_baseline", "1600 (80 %)", "$0.0050", "400 ms",
        "in a call of this turn", "4321",
    ):  # fmt: skip
        assert said in page, said
    assert "Should I?" not in page
    assert "Let us look" not in page


def test_every_section_has_a_name_for_people() -> None:
    assert set(ORDER) <= SECTION_NAMES.keys()
