"""A test's own skills folder, and the project's skills in the database."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from coaching.skills.reader import read_skills, skills_root
from coaching.skills.rules import HEADINGS
from coaching.skills.store import sync_skills

SKILL_TEXT = "\n\n".join(f"## {heading}\n\nWords." for heading in HEADINGS) + "\n"
DESCRIPTION = "be calm, when it is loud"

# The shipped approaches; there are also four arcs, four document skills and the base.
APPROACHES = {
    "domain-deep-dive",
    "first-talk",
    "crisis-support",
    "decision-helper",
    "grief",
    "pattern-review",
    "life-plan-revision",
    "capture-review",
    "safety-plan",
}
SHIPPED = len(APPROACHES) + 4 + 6 + 2

WriteSkill = Callable[..., Path]


@pytest.fixture
def root(settings: Settings, tmp_path: Path) -> Path:
    """An empty folder used as the skills folder."""
    settings.BASE_DIR = tmp_path
    folder = tmp_path / "skills"
    folder.mkdir()
    return folder


@pytest.fixture
def write_skill(root: Path) -> WriteSkill:
    """Write a skill that is valid except for the given errors."""

    def write(folder: str = "calm", text: str = SKILL_TEXT, **fields: str) -> Path:
        usual = {
            "name": folder,
            "description": "be calm, when it is loud",
            "kind": "approach",
            "signals": "[]",
            "tools": "[]",
        }
        values = {**usual, **fields}
        header = "".join(f"{key}: {value}\n" for key, value in values.items() if value)
        (root / folder).mkdir(exist_ok=True)
        (root / folder / "SKILL.md").write_text(f"---\n{header}---\n\n{text}")
        return root / folder

    return write


@pytest.fixture
def synced_skills(db: None) -> None:
    """The project's own skills are in the database."""
    sync_skills(files=read_skills(skills_root()))
