"""A safety plan as text: read leniently, written in one form, and nothing is lost."""

import random

import pytest

from coaching.safety.plan import (
    HEADINGS,
    PlanSection,
    SafetyPlan,
    apply_save,
    make_plan,
    names_plan,
    parse_plan,
    render_plan,
)
from coaching.safety.plan_lines import MAX_LINES_ON_CARD, excerpt_of, lines_of

CALLS = PlanSection.WHOM_TO_CALL
HELPS = PlanSection.WHAT_HELPS
LINES = (
    "## What helps me", "# x", "**Fachleute**", "a", "", "\\## x", "\\\\## What matters to me", "- b",
    "# Safety plan", "## Other notes", "### y", "   ## Places and people", "**bold**", "\\", "#tag",
)  # fmt: skip


def test_the_stored_form_has_all_headings_in_order_and_is_read_back() -> None:
    plan = make_plan({CALLS: "- Tom, 030 123456", HELPS: "- walk\n- tea"}, "my own line")
    body = render_plan(plan)
    headings = [line.removeprefix("## ") for line in body.splitlines() if line.startswith("## ")]
    assert headings == [*HEADINGS.values(), "Other notes"]
    assert parse_plan(body) == plan
    assert render_plan(parse_plan(body)) == body


@pytest.mark.slow
def test_whatever_is_written_in_a_field_stays_in_it() -> None:
    chance = random.Random(13)
    for _ in range(3_000):
        texts = {section: "\n".join(chance.choices(LINES, k=chance.randint(0, 4))) for section in PlanSection}
        plan = make_plan(texts, "\n".join(chance.choices(LINES, k=chance.randint(0, 4))))
        assert parse_plan(render_plan(plan)) == plan


@pytest.mark.parametrize(
    "heading",
    [
        "## What helps me", "# WHAT HELPS ME", "### 2. What helps me:", "**What helps me**",
        "**What helps me:**", "**What helps me**:", "## **What helps me**", "## Was mir hilft",
        "## Lo que me ayuda", "  ## What helps me ##",
    ],
)  # fmt: skip
def test_headings_are_known_as_models_and_people_write_them(heading: str) -> None:
    assert parse_plan(f"# Safety plan\n\n{heading}\n\n- walk\n") == make_plan({HELPS: "- walk"})


def test_what_belongs_to_no_section_is_kept_and_a_heading_that_stands_twice_adds_to_its_section() -> None:
    body = "Hello\n\n## What helps me\n\n- walk\n\n## My dog\n\nRex\n\n## What helps me\n\n- tea"
    plan = parse_plan(body)
    assert plan == make_plan({HELPS: "- walk\n\n- tea"}, "Hello\n\n## My dog\n\nRex")
    assert parse_plan(render_plan(plan)) == plan


def test_a_save_keeps_the_sections_that_it_leaves_out() -> None:
    held = make_plan({HELPS: "- walk", CALLS: "- Tom"}, "note")
    saved = parse_plan("## Whom I can call\n\n- Ana\n\n## What helps me\n\n## Professionals\n- Dr X\n")
    assert apply_save(held, saved) == make_plan(
        {HELPS: "- walk", CALLS: "- Ana", PlanSection.PROFESSIONALS: "- Dr X"}, "note"
    )
    assert apply_save(held, parse_plan("## What helps me\n-\n")) == make_plan({CALLS: "- Tom"}, "note")
    assert apply_save(held, parse_plan("more")).rest == "note\n\nmore"
    assert apply_save(held, parse_plan("note")).rest == "note"
    assert apply_save(held, SafetyPlan()) == held


@pytest.mark.parametrize(
    ("line", "dialled"),
    [
        ("- Tom: 030 123456 (9-17)", ["030123456"]),
        ("Ana +49 (0)30 1234567, or +44 20 7946 0018", ["+49301234567", "+442079460018"]),
        ("988, 112, 116 123, 13 11 14", ["988", "112", "116123", "131114"]),
        ("(030) 44 55 66 / 0800/111 0 111", ["030445566", "08001110111"]),
        ("24.11.2026, 2026-11-24, 10115 Berlin, 24/7, 9-17, room 12", []),
        ("1. 0171-5556677", ["01715556677"]),
        ("**Dr X**: 555.123.4567", ["5551234567"]),
    ],
)  # fmt: skip
def test_phone_numbers_can_be_tapped_and_dates_cannot(line: str, dialled: list[str]) -> None:
    (shown,) = lines_of(CALLS, line)
    assert [part.dialled for part in shown.parts if part.dialled] == dialled
    assert "".join(part.text for part in shown.parts) == line.removeprefix("- ").removeprefix("1. ").replace(
        "**", ""
    )


def test_short_numbers_are_dialled_only_where_numbers_are_what_a_section_is_for() -> None:
    assert not any(part.dialled for line in lines_of(PlanSection.PLACES, "Room 304") for part in line.parts)


def test_a_card_shows_what_helps_and_whom_to_call_and_nothing_else() -> None:
    plan = make_plan(
        dict.fromkeys(PlanSection, "secret") | {HELPS: "- walk\n\n- tea", CALLS: "\n".join(["Tom"] * 99)}
    )
    excerpt = excerpt_of(plan)
    assert excerpt is not None
    assert [line.parts[0].text for line in excerpt.what_helps] == ["walk", "tea"]
    assert len(excerpt.whom_to_call) == MAX_LINES_ON_CARD
    assert "secret" not in repr(excerpt)
    assert excerpt_of(make_plan({PlanSection.SAFER: "pills to Tom"}, "notes")) is None


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Can we write a safety plan?", True), ("my crisis plan from the clinic", True),
        ("Ich brauche einen Sicherheitsplan", True), ("¿Hacemos un plan de seguridad?", True),
        ("a plan for safety goggles", False), ("Plan my day", False),
    ],
)  # fmt: skip
def test_a_message_that_names_a_plan_is_known(text: str, is_named: bool) -> None:
    assert names_plan(text) is is_named
