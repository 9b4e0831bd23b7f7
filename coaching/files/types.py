"""The file types: a literal table of folder, naming and attributes."""

from dataclasses import dataclass
from typing import Literal, get_args

from coaching.models import FileType

Naming = Literal["fixed", "domain", "date", "moment", "slug"]
# In the order of the frontmatter.
AttributeName = Literal[
    "status",
    "updated_rating",
    "energy",
    "mood_signal",
    "domains_touched",
    "intention",
    "priorities",
    "themes",
    "preview_line",
]
ATTRIBUTE_ORDER: tuple[AttributeName, ...] = get_args(AttributeName)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """A file type. `place` is a `fixed` type's path, else a folder; `days_*` limit the date in a name."""

    naming: Naming
    place: str
    purpose: str
    attributes: frozenset[AttributeName]
    days_back: int = 0
    days_ahead: int = 0


def _takes(*names: AttributeName) -> frozenset[AttributeName]:
    return frozenset({*names, "preview_line"})


RULES: dict[FileType, TypeRule] = {
    FileType.DOMAIN: TypeRule(
        naming="domain",
        place="life-map",
        purpose="one life domain as it is now; file_name is the domain",
        attributes=_takes("status", "updated_rating"),
    ),
    FileType.OVERVIEW: TypeRule(
        naming="fixed",
        place="life-map/_overview.md",
        purpose="the life map as a whole: how the domains affect each other",
        attributes=_takes("domains_touched", "themes"),
    ),
    FileType.LIFE_PLAN: TypeRule(
        naming="fixed",
        place="life-plan/current.md",
        purpose="where the user wants to go, and the next steps there",
        attributes=_takes("domains_touched", "themes"),
    ),
    FileType.CHECK_IN: TypeRule(
        naming="date",
        place="check-ins",
        purpose="the weekly check-in",
        attributes=_takes("themes", "energy", "mood_signal", "domains_touched"),
        days_back=366,
        days_ahead=1,
    ),
    FileType.DAILY_LOG: TypeRule(
        naming="date",
        place="daily-logs",
        purpose="the log of a day, written when it ends",
        attributes=_takes("energy", "mood_signal", "domains_touched", "themes"),
        days_back=366,
        days_ahead=1,
    ),
    FileType.DAY_PLAN: TypeRule(
        naming="date",
        place="day-plans",
        purpose="the plan of a day; give intention and priorities as attributes too",
        attributes=_takes("intention", "priorities", "energy", "mood_signal", "domains_touched"),
        days_back=366,
        days_ahead=31,
    ),
    FileType.WEEKLY_PLAN: TypeRule(
        naming="fixed",
        place="life-plan/weekly.md",
        purpose="the plan of this week",
        attributes=_takes("intention", "priorities", "domains_touched", "themes"),
    ),
    FileType.SAGE_CONTEXT: TypeRule(
        naming="fixed",
        place="sage/context.md",
        purpose="what you should know about the user in every conversation",
        attributes=_takes("themes"),
    ),
    FileType.SAGE_PATTERNS: TypeRule(
        naming="fixed",
        place="sage/patterns.md",
        purpose="patterns over time that the user agreed to, with what shows them",
        attributes=_takes("domains_touched", "themes"),
    ),
    FileType.CAPTURE: TypeRule(
        naming="moment",
        place="captures",
        purpose="a passing thought in the user's own words; each one is a new file",
        attributes=_takes("energy", "mood_signal", "domains_touched"),
    ),
    FileType.REFLECTION_PROMPT: TypeRule(
        naming="slug",
        place="reflections",
        purpose="a question for the user to come back to; file_name may be a short title",
        attributes=_takes("domains_touched", "themes"),
    ),
    FileType.NOTE: TypeRule(
        naming="slug", place="notes", purpose="a note that its user wrote", attributes=_takes()
    ),
    # Without attributes: a preview would stand in lists of files.
    FileType.SAFETY_PLAN: TypeRule(
        naming="fixed",
        place="sage/safety-plan.md",
        purpose="what helps them in a crisis, as the skill safety-plan says; sections left out stay",
        attributes=frozenset(),
    ),
}
