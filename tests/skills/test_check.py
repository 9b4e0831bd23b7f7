"""`sync_skills --check`: one line per error, exit code 1, no database."""

import io
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command

from coaching.management.commands import sync_skills
from coaching.skills import reader
from coaching.skills.reader import skills_root
from coaching.skills.rules import HEADINGS
from tests.sage.processes import PROJECT, blank_environment
from tests.skills.conftest import SHIPPED, SKILL_TEXT, WriteSkill

TERMS = replace(sync_skills.TERMS, takes={}, speaking=())


def find_faults(root: Path) -> list[str]:
    return reader.find_faults(root, TERMS)


def without(heading: str) -> str:
    return SKILL_TEXT.replace(f"## {heading}\n\nWords.", "").replace("\n\n\n\n", "\n\n")


def test_the_projects_own_skills_have_no_fault() -> None:
    assert reader.find_faults(skills_root(), sync_skills.TERMS) == []


def test_a_good_skill_has_no_fault(write_skill: WriteSkill, root: Path) -> None:
    write_skill()
    write_skill("open-day", kind="arc", signals="[morning_without_plan]", tools="[save_file]")
    assert find_faults(root) == []


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_missing_heading_is_a_fault(write_skill: WriteSkill, root: Path, heading: str) -> None:
    write_skill(text=without(heading))
    assert find_faults(root) == [f"calm/SKILL.md: missing heading “## {heading}”"]


@pytest.mark.parametrize(
    ("extra", "shown"),
    [
        ("## Script", "## Script"),
        ("# Sage", "# Sage"),
        ("### Beats", "### Beats"),
        ("## goal", "## goal"),
        ("##  Goal of it ##", "## Goal of it"),
    ],
)
def test_an_extra_heading_is_a_fault(write_skill: WriteSkill, root: Path, extra: str, shown: str) -> None:
    write_skill(text=SKILL_TEXT + f"\n{extra}\n\nWords.\n")
    assert find_faults(root) == [f"calm/SKILL.md: heading “{shown}” is not one of the six"]


def test_a_heading_in_a_code_block_is_none(write_skill: WriteSkill, root: Path) -> None:
    write_skill(text=SKILL_TEXT + "\n```\n## Script\n```\n")
    assert find_faults(root) == []


def test_headings_in_another_order_are_a_fault(write_skill: WriteSkill, root: Path) -> None:
    swapped = (
        SKILL_TEXT.replace("## Goal", "## X").replace("## Guidance", "## Goal").replace("## X", "## Guidance")
    )
    write_skill(text=swapped)
    [fault] = find_faults(root)
    assert fault == (
        "calm/SKILL.md: the headings are out of order: Guidance, When to Use, Context Needed, Tools to Use, "
        "Constraints, Goal"
    )


def test_a_heading_that_stands_twice_or_over_nothing_is_a_fault(write_skill: WriteSkill, root: Path) -> None:
    write_skill(text=SKILL_TEXT + "\n## Guidance\n")
    assert find_faults(root) == [
        "calm/SKILL.md: heading “## Guidance” stands twice",
        "calm/SKILL.md: nothing stands under “Guidance”",
    ]


def test_words_before_the_first_heading_are_a_fault(write_skill: WriteSkill, root: Path) -> None:
    write_skill(text="Listen.\n\n" + SKILL_TEXT)
    assert find_faults(root) == ["calm/SKILL.md: text before the first heading: “Listen.”"]


def test_an_unknown_tool_is_a_fault(write_skill: WriteSkill, root: Path) -> None:
    write_skill(tools="[save_file, send_mail]")
    [fault] = find_faults(root)
    assert fault == "calm/SKILL.md: its frontmatter names the tool send_mail, which isn't offered"


@pytest.mark.parametrize("named", ["`send_mail`", "send_mail", "(send_mail:", "**send_mail**."])
def test_a_tool_that_is_not_offered_is_a_fault_wherever_it_is_named(
    write_skill: WriteSkill, root: Path, named: str
) -> None:
    write_skill(text=SKILL_TEXT + f"\nThen use {named}\n")
    assert find_faults(root) == ["calm/SKILL.md: its text names send_mail, which is not an offered tool"]
    write_skill()
    (root / "calm" / "more.md").write_text(f"# More\n\n{named}\n")
    assert find_faults(root) == [
        "calm/SKILL.md: more.md: its text names send_mail, which is not an offered tool"
    ]


def test_attributes_arcs_and_parts_of_paths_are_no_tools(write_skill: WriteSkill, root: Path) -> None:
    write_skill(text=SKILL_TEXT + "\nFill `mood_signal` in close_day; see notes/my_page.md and a_b/c.\n")
    assert find_faults(root) == []


def test_a_tool_that_only_the_text_names_is_a_fault(write_skill: WriteSkill, root: Path) -> None:
    write_skill(text=SKILL_TEXT + "\nThen `save_file` it, if they agree on `mood_signal`.\n")
    assert find_faults(root) == ["calm/SKILL.md: its text names the tool save_file, its frontmatter doesn't"]


def test_an_unknown_signal_is_a_fault(write_skill: WriteSkill, root: Path) -> None:
    write_skill(signals="[full_moon]")
    assert find_faults(root) == ["calm/SKILL.md: unknown signal full_moon"]


def test_a_signal_that_calls_another_skill_is_a_fault_on_both_sides(
    write_skill: WriteSkill, root: Path
) -> None:
    write_skill(signals="[high_intensity]")
    write_skill("crisis-support")
    assert find_faults(root) == [
        "calm/SKILL.md: signal high_intensity calls crisis-support, not calm",
        "crisis-support/SKILL.md: signal high_intensity calls it and isn't among its signals",
    ]


@pytest.mark.parametrize(
    ("folder", "kind", "signals", "budget"),
    [
        ("base", "base", "[]", 2800),
        ("life-mapping", "arc", "[no_life_map]", 500),
        ("open-day", "arc", "[morning_without_plan]", 350),
        ("close-day", "arc", "[evening_without_log]", 300),
        ("weekly-checkin", "arc", "[checkin_due]", 450),
        ("calm", "approach", "[]", 350),
        ("pattern-review", "approach", "[]", 250),
        ("life-plan-revision", "approach", "[quarter_end]", 250),
        ("capture-review", "approach", "[captures_waiting]", 250),
    ],
)
def test_a_text_over_its_budget_is_a_fault_and_one_at_it_is_none(
    write_skill: WriteSkill, root: Path, folder: str, kind: str, signals: str, budget: int
) -> None:
    filled = SKILL_TEXT.strip() + "x" * (budget * 4 - len(SKILL_TEXT))
    write_skill(folder, text=filled, kind=kind, signals=signals)
    assert find_faults(root) == []
    write_skill(folder, text=filled + "x", kind=kind, signals=signals)
    assert find_faults(root) == [f"{folder}/SKILL.md: {budget + 1} tokens, the budget is {budget}"]


def test_the_lines_of_the_directory_have_a_budget_together(write_skill: WriteSkill, root: Path) -> None:
    for number in range(6):
        write_skill(f"calm-{number}", description="be calm, when it is loud, " * 7)
    [fault] = find_faults(root)
    assert fault.startswith("skills: the directory of arcs and approaches takes 2")
    assert fault.endswith("tokens, the budget is 200")


def test_a_name_that_differs_from_its_folder_is_a_fault(write_skill: WriteSkill, root: Path) -> None:
    write_skill(name="quiet")
    assert find_faults(root) == ["calm/SKILL.md: its name is quiet, its folder calm"]


def test_a_name_that_two_skills_have_is_a_fault(write_skill: WriteSkill, root: Path) -> None:
    write_skill()
    write_skill("quiet", name="calm")
    assert find_faults(root) == [
        "quiet/SKILL.md: its name is calm, its folder quiet",
        "quiet/SKILL.md: duplicate name calm: calm has it too",
    ]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("## Goal\n\nNo frontmatter.\n", "there is none between two lines of ---"),
        ("---\nname: calm\n", "there is none between two lines of ---"),
        ("---\nname: [calm\n---\n\n## Goal\n", "it isn't YAML"),
        ("---\n- calm\n---\n\n## Goal\n", "valid dictionary"),
        ("---\nname: calm\ndescription: x\nkind: approach\nsignals: []\n---\n\n", "tools: Field required"),
        (
            "---\nname: calm\ndescription: x\nkind: mood\nsignals: []\ntools: []\n---\n\n",
            "kind: Input should be",
        ),
        (
            "---\nname: calm\ndescription: x\nkind: base\nsignals: full\ntools: []\n---\n\n",
            "signals: Input should be",
        ),
        (
            "---\nname: Calm Now\ndescription: x\nkind: base\nsignals: []\ntools: []\n---\n\n",
            "name: String should",
        ),
        (
            "---\nname: calm\ndescription: x\nkind: base\nsignals: []\ntools: []\nmood: y\n---\n\n",
            "mood: Extra inputs are not permitted",
        ),
    ],
)
def test_a_bad_frontmatter_is_a_fault(root: Path, source: str, says: str) -> None:
    (root / "calm").mkdir()
    (root / "calm" / "SKILL.md").write_text(source)
    [fault] = find_faults(root)
    assert fault.startswith("calm/SKILL.md: bad frontmatter: ")
    assert says in fault
    assert "\n" not in fault


def test_a_folder_without_its_file_and_one_that_is_no_text_are_faults(root: Path) -> None:
    (root / "bytes").mkdir()
    (root / "bytes" / "SKILL.md").write_bytes(b"---\n\xff\xfe")
    (root / "empty").mkdir()
    assert find_faults(root) == [
        "bytes/SKILL.md: is not text in UTF-8",
        "empty/SKILL.md: can't be read (No such file or directory)",
    ]


def test_no_skills_at_all_are_a_fault(root: Path) -> None:
    assert find_faults(root) == ["skills: there are no skills"]
    assert find_faults(root / "nowhere") == ["nowhere: there are no skills"]


def test_the_command_says_each_fault_on_a_line_and_exits_with_one_without_a_database(
    write_skill: WriteSkill,
) -> None:
    write_skill(tools="[send_mail]", signals="[full_moon]", text=without("Goal"))
    said = io.StringIO()
    for arguments in (["--check"], []):
        with pytest.raises(SystemExit) as ended:
            call_command("sync_skills", *arguments, stderr=said)
        assert ended.value.code == 1
    lines = said.getvalue().splitlines()
    assert lines[:3] == [
        "calm/SKILL.md: its frontmatter names the tool send_mail, which isn't offered",
        "calm/SKILL.md: unknown signal full_moon",
        "calm/SKILL.md: missing heading “## Goal”",
    ]
    assert len(lines) == 6


@pytest.mark.slow
def test_the_command_is_content_where_no_database_answers(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "sync_skills", "--check"],
        cwd=PROJECT,
        env=blank_environment()
        | {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "SAGE_DATA_DIR": str(tmp_path)}
        | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(rf"{SHIPPED} skills, \d+ references, no faults\.\n", done.stdout)
