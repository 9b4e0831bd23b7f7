"""Who called a skill: a signal, the arc, the model, or the user, who can ask for a skill by name.

No database access; `signals` decides when a skill is used.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from coaching.models.skills import SkillKind
from coaching.skills.rules import HEADINGS

ARC, MODEL, USER = "arc", "model", "user"
"""Callers other than signals. `ARC`: the session is in the skill's arc."""

_FIRST_HEADING = f"## {HEADINGS[0]}"
_SPACES = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTool:
    """A tool whose results contain skills of one kind; `field` of its input names the skill."""

    kind: SkillKind
    field: str

    def skill_brought(self, given: object, result: str | None) -> str:
        """Return the skill whose text a call's result contains, or an empty string."""
        values = given if isinstance(given, Mapping) else {}
        return as_name(str(values.get(self.field, ""))) if _FIRST_HEADING in (result or "") else ""

    def caller(self, *, is_asked: bool) -> str:
        """Return who called a skill of this tool; `is_asked`: the user named it."""
        if self.kind == SkillKind.ARC:
            return ARC
        return USER if is_asked else MODEL


SkillTools = Mapping[str, SkillTool]
"""The tools whose results contain skills, by name."""


def as_name(text: str) -> str:
    """Normalise the name of a skill: “Decision Helper” becomes `decision-helper`."""
    return _SPACES.sub("-", text.strip()).lower()


def is_named(name: str, text: str) -> bool:
    return bool(_pattern_of(name).search(text))


def named_in(text: str, names: Iterable[str]) -> list[str]:
    """Return the skills of `names` that a user's text names."""
    return [name for name in names if is_named(name, text)]


def names_by_kind(tools: SkillTools) -> Mapping[SkillKind, str]:
    return {tool.kind: name for name, tool in tools.items()}


@lru_cache(maxsize=256)
def _pattern_of(name: str) -> re.Pattern[str]:
    words = r"[\s_-]*".join(map(re.escape, name.split("-")))
    return re.compile(rf"\b{words}\b", re.IGNORECASE)
