"""`sync_skills --check` on what the model reads: who speaks, when, how long, and no wasted tokens."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from coaching.context.fences import TAGS
from coaching.context.prompt_rules import (
    SPEAKING,
    definition_faults,
    offer_faults,
    section_faults,
    text_faults,
)
from coaching.management.commands.sync_skills import TERMS
from coaching.skills.reader import find_faults, read_skill, skills_root
from coaching.tools import CHAT_TOOLS
from tests.skills.conftest import SKILL_TEXT, WriteSkill

SPEAKERS = " ".join(f"`<{name}>`" for name in SPEAKING)


def faults_of(root: Path, name: str = "calm") -> list[str]:
    """Return the faults of one skill, without its name."""
    lead = f"{name}/SKILL.md: "
    return [fault.removeprefix(lead) for fault in find_faults(root, TERMS) if fault.startswith(lead)]


def definition(**changed: Any) -> dict[str, Any]:
    usual = {"name": "note", "description": "Note it. Use it when told.", "input_schema": {"type": "object"}}
    return {**usual, **changed}


def test_the_command_checks_tools_and_sections_without_a_database() -> None:
    said = io.StringIO()
    call_command("sync_skills", "--check", stdout=said)
    assert "no faults" in said.getvalue()


@pytest.mark.parametrize("kind", ["arc", "approach"])
@pytest.mark.parametrize("description", ["be calm", "when it is loud", ", when it is loud"])
def test_a_line_of_the_directory_says_what_and_when(
    write_skill: WriteSkill, root: Path, kind: str, description: str
) -> None:
    write_skill(kind=kind, description=f'"{description}"')
    assert faults_of(root) == ["its description doesn't say when: “<what it does> when <they need it>”"]
    write_skill(kind=kind)
    assert faults_of(root) == []


def test_an_arc_says_how_long_it_takes_in_its_line_and_its_text(write_skill: WriteSkill, root: Path) -> None:
    fields = {"kind": "arc", "signals": "[morning_without_plan]"}
    write_skill("open-day", **fields)
    assert faults_of(root, "open-day") == [
        "its description doesn't say that it takes two minutes",
        "its text doesn't say that it takes two minutes",
    ]
    text = SKILL_TEXT.replace("Words.", "Under two\nminutes.", 1)
    write_skill("open-day", text=text, description='"plan, when it is early (two minutes)"', **fields)
    assert faults_of(root, "open-day") == []


def test_the_base_names_exactly_the_sections_that_speak_for_sage(write_skill: WriteSkill, root: Path) -> None:
    write_skill(kind="base", text=f"{SKILL_TEXT}\n{SPEAKERS}\n")
    assert faults_of(root) == []
    write_skill(kind="base", text=f"{SKILL_TEXT}\n`<skill>` and `<captures>`\n")
    assert faults_of(root) == [
        *(f"it doesn't say that <{name}> speaks for Sage" for name in SPEAKING if name != "skill"),
        "it names <captures>, which doesn't speak for Sage",
    ]


def test_a_section_that_no_request_has_is_a_fault(write_skill: WriteSkill, root: Path) -> None:
    write_skill(text=SKILL_TEXT + "\nSee `<horoscope>`, and `<captures>`.\n")
    assert faults_of(root) == ["its text names <horoscope>, which no request has"]


def test_the_shipped_skills_and_tools_have_no_fault() -> None:
    assert find_faults(skills_root(), TERMS) == []
    assert [*definition_faults(CHAT_TOOLS.definitions()), *section_faults()] == []
    assert {*SPEAKING} <= {*TAGS}
    assert "Who speaks for Sage" in read_skill(skills_root() / "open-conversation").text


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"description": "Note it."}, "its description doesn't say when: “Use it when…”"),
        (
            {"input_schema": {"properties": {"day": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}},
            "its schema has a null: a field that may be left out needs none",
        ),
        (
            {"input_schema": {"$defs": {"Day": {"title": "Day", "type": "string"}}}},
            "its schema has a title, which repeats a name",
        ),
    ],
)
def test_a_tool_that_wastes_tokens_or_never_says_when_is_a_fault(changed: dict[str, Any], fault: str) -> None:
    assert list(definition_faults([definition(**changed)])) == [f"note: {fault}"]


def test_a_property_may_be_called_title() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    assert list(definition_faults([definition(input_schema=schema)])) == []


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("<captures>\nOn Tuesday 2026-11-24.\n</captures>", []),
        ('<captures date="Tuesday 2026-11-24" path="captures/2026-11-24-0700.md">', []),
        ("next on 2026-11-29", ["2026-11-29 has no weekday"]),
        ('<capture date="2026-11-24">', ["2026-11-24 has no weekday"]),
        ("Monday 2026-11-24", ["2026-11-24 has no weekday"]),
        ("<horoscope>\nLuck.", ["<horoscope> isn't fenced, so a file could fake it"]),
    ],
)
def test_a_section_gives_each_date_its_weekday_and_can_t_be_faked(text: str, faults: list[str]) -> None:
    assert list(text_faults("captures", text)) == [f"<captures>: {fault}" for fault in faults]


def test_an_offer_names_its_arc_and_how_long_it_takes() -> None:
    assert list(offer_faults("open_day", "Offer open_day: two minutes.", takes="two minutes")) == []
    assert list(offer_faults("open_day", "Offer it.", takes="two minutes")) == [
        "<offer> of open_day: it doesn't say that the arc takes two minutes",
        "<offer> of open_day: it doesn't name the arc",
    ]
