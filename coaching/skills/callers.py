"""Who called a skill: a signal by its name, the arc, the model, or the user, who may ask for one by name.

Words only: it reads no database and decides nothing about when a skill is used.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from coaching.skills.rules import HEADINGS, skill_of_arc

ARC, MODEL, USER = "arc", "model", "user"
"""Callers that are no signal. `ARC`: the session is in it."""

_FIRST_HEADING = f"## {HEADINGS[0]}"
_SPACES = re.compile(r"[\s_-]+")


def as_name(text: str) -> str:
    """Return what somebody calls a skill as a skill's name: “Decision Helper” is `decision-helper`."""
    return _SPACES.sub("-", text.strip()).lower()


def is_named(name: str, text: str) -> bool:
    """Say whether a person's words name a skill."""
    return bool(_pattern_of(name).search(text))


def named_in(text: str, names: Iterable[str]) -> list[str]:
    """Return the skills of `names` that a person's words name."""
    return [name for name in names if is_named(name, text)]


def skill_brought(tool: str, given: object, result: str | None) -> str:
    """Return the skill whose text a call's result holds; empty for every other call."""
    values = given if isinstance(given, dict) else {}
    if _FIRST_HEADING not in (result or ""):
        return ""
    match tool:
        case "enter_structured_arc":
            return skill_of_arc(str(values.get("arc", "")).strip())
        case "load_skill":
            return as_name(str(values.get("name", "")))
        case _:
            return ""


def caller_of(tool: str, *, is_asked: bool) -> str:
    """Return who called the skill that a call of this tool brought; `is_asked`: the user had named it."""
    if tool == "enter_structured_arc":
        return ARC
    return USER if is_asked else MODEL


@lru_cache(maxsize=256)
def _pattern_of(name: str) -> re.Pattern[str]:
    words = r"[\s_-]*".join(map(re.escape, name.split("-")))
    return re.compile(rf"\b{words}\b", re.IGNORECASE)
