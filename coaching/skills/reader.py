"""Reads `skills/<name>/SKILL.md`: YAML frontmatter, then the guidance.

It decides nothing about when a skill is used.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


class SkillError(ValueError):
    """A skill file that can't be used. The message names the file and the fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill as its file says it. `text` is the markdown below the frontmatter."""

    name: str
    description: str
    kind: str
    text: str


def read_skill(folder: Path) -> Skill:
    """Read one skill's folder.

    Raises `SkillError` for a missing file, a missing frontmatter or a missing field.
    """
    path = folder / "SKILL.md"
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SkillError(f"{path}: can't be read ({error.strerror}).") from error
    opening, separator, rest = source.partition("---\n")
    header, closing, text = rest.partition("\n---\n")
    if opening.strip() or not separator or not closing:
        raise SkillError(f"{path}: begins with no frontmatter between two lines of ---.")
    fields: Any = yaml.safe_load(header)
    try:
        return Skill(
            name=str(fields["name"]),
            description=str(fields["description"]),
            kind=str(fields["kind"]),
            text=text.strip() + "\n",
        )
    except (KeyError, TypeError) as error:
        raise SkillError(f"{path}: the frontmatter lacks {error}.") from error
