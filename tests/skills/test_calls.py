"""The table of who may call what when: the project's own has no fault, and each kind of fault is found."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coaching.files.permissions import WRITABLE
from coaching.models.skills import SkillKind
from coaching.skills.calls import Listed, SkillRow, find_table_faults, read_table, table_faults
from coaching.skills.reader import skills_root
from coaching.tools import CHAT_TOOLS
from tests.skills.conftest import WriteSkill

DESCRIPTIONS = {tool["name"]: tool["description"] for tool in CHAT_TOOLS.definitions()}
GOOD: Mapping[str, Any] = {
    "during": ["open_conversation", "weekly_checkin"],
    "saves": ["domain"],
    "tools": {"save_file": "agreed", "read_file": "unasked"},
}
SKILL = Listed(kind=SkillKind.APPROACH, tools=("read_file", "save_file"), saved_types=("domain",))


def faults(
    row: Mapping[str, Any], skill: Listed = SKILL, *, name: str = "calm", **descriptions: str
) -> list[str]:
    table = {name: SkillRow.model_validate({**GOOD, **row})}
    return list(
        table_faults(table, {name: skill}, saving="save_file", writable=WRITABLE, descriptions=descriptions)
    )


def test_the_projects_own_table_has_no_fault() -> None:
    assert (
        find_table_faults(skills_root(), saving="save_file", writable=WRITABLE, descriptions=DESCRIPTIONS)
        == []
    )


def test_a_good_row_has_no_fault() -> None:
    assert faults({}) == []


@pytest.mark.parametrize(
    ("row", "skill", "fault"),
    [
        ({"tools": {"save_file": "agreed"}}, SKILL, "its frontmatter has read_file, the table doesn't"),
        ({}, replace(SKILL, tools=("save_file",)), "its frontmatter doesn't have read_file"),
        ({"saves": ["daily-log", "domain"]}, SKILL, "daily-log can't be saved in open_conversation"),
        ({}, replace(SKILL, saved_types=("overview",)), "its text saves overview, the table doesn't"),
        ({"saves": []}, replace(SKILL, saved_types=()), "save_file and the types that it saves go together"),
    ],
)
def test_a_row_that_disagrees_is_a_fault(row: Mapping[str, Any], skill: Listed, fault: str) -> None:
    assert f"calls.yaml: calm: {fault}" in faults(row, skill)


def test_a_pattern_cant_be_saved_while_a_day_is_opened() -> None:
    row = {"during": ["open_day"], "saves": ["sage-patterns"]}
    found = faults(row, replace(SKILL, saved_types=()))
    assert found == ["calls.yaml: calm: sage-patterns can't be saved in open_day"]


def test_an_approach_that_a_signal_brings_to_a_days_arc_says_so() -> None:
    row = {"tools": {"read_file": "unasked"}, "saves": []}
    skill = replace(SKILL, tools=("read_file",), saved_types=())
    assert faults(row, skill, name="grief") == ["calls.yaml: grief: signal grief brings it in a day's arc"]
    everywhere = {**row, "during": list(WRITABLE)}
    assert faults(everywhere, skill, name="capture-review") == [
        "calls.yaml: capture-review: signal captures_waiting never brings it in a day's arc"
    ]


def test_a_tool_for_when_they_ask_isnt_called_unasked() -> None:
    found = faults({}, read_file="Reads a file. Use it when the user asks for one.")
    assert found == [
        "calls.yaml: read_file's description says only when asked, and calm call it unasked",
    ]
    assert faults({}, read_file="Reads a file. Use it when the user asks for one, or a skill says so.") == []


def test_every_skill_of_a_conversation_has_a_row_and_nothing_else() -> None:
    document = replace(SKILL, kind=SkillKind.DOCUMENT)
    found = table_faults(
        {"calm": SkillRow.model_validate(GOOD), "reader": SkillRow.model_validate(GOOD)},
        {"calm": SKILL, "reader": document, "loud": SKILL},
        saving="save_file",
        writable=WRITABLE,
        descriptions={},
    )
    assert found == ["calls.yaml: loud has no row", "calls.yaml: reader is no skill of a conversation"]


def test_an_unreadable_table_is_one_line(root: Path, write_skill: WriteSkill) -> None:
    write_skill()
    (missing,) = find_table_faults(root, saving="save_file", writable=WRITABLE, descriptions={})
    assert missing == "calls.yaml: can't be read (No such file or directory)"
    for text in (
        "calm: [",
        "calm: {during: [nowhere], tools: {}}",
        "[calm]",
        "calm: {during: [], tools: {a: no}}",
    ):
        (root / "calls.yaml").write_text(text)
        (fault,) = find_table_faults(root, saving="save_file", writable=WRITABLE, descriptions={})
        assert fault.startswith("calls.yaml: ")
        assert "\n" not in fault
    (root / "calls.yaml").write_text("calm: {during: [open_conversation], tools: {}}")
    assert set(read_table(root)) == {"calm"}
