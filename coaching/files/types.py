"""The file types: a literal table of folder, naming and attributes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from coaching.models import FileType, LifeDomain
from coaching.models.life import DomainStatus

Naming = Literal["fixed", "domain", "date", "month", "moment", "slug"]
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

ATTRIBUTE_NAMES: Mapping[str, Promise] = {
    "date": gettext_lazy("Date"),
    "domains_touched": gettext_lazy("Parts of life"),
    "energy": gettext_lazy("Energy"),
    "intention": gettext_lazy("Intention"),
    "mood_signal": gettext_lazy("Mood"),
    "preview_line": gettext_lazy("One-line summary"),
    "priorities": gettext_lazy("Priorities"),
    "status": gettext_lazy("Status"),
    "themes": gettext_lazy("Themes"),
    "updated": gettext_lazy("Updated"),
    "updated_rating": gettext_lazy("Rating"),
}
"""What people call the facts at the head of a file."""

VALUE_NAMES: Mapping[str, Mapping[str, str | Promise]] = {
    "domains_touched": {one.value: one.label for one in LifeDomain},
    "status": {one.value: one.label for one in DomainStatus},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """A file type. `place` is a `fixed` type's path, else a folder; `days_*` limit the date in a name.

    `purpose` tells the model what it doesn't know by the type's name, or from the skill that writes it.
    """

    naming: Naming
    place: str
    attributes: frozenset[AttributeName]
    purpose: str = ""
    days_back: int = 0
    days_ahead: int = 0


def _takes(*names: AttributeName) -> frozenset[AttributeName]:
    return frozenset({*names, "preview_line"})


RULES: dict[FileType, TypeRule] = {
    FileType.DOMAIN: TypeRule(
        naming="domain",
        place="life-map",
        purpose="status, updated_rating 1 (worst) to 5",
        attributes=_takes("status", "updated_rating"),
    ),
    FileType.OVERVIEW: TypeRule(
        naming="fixed",
        place="life-map/_overview.md",
        attributes=_takes("domains_touched", "themes"),
    ),
    FileType.LIFE_PLAN: TypeRule(
        naming="fixed",
        place="life-plan/current.md",
        attributes=_takes("domains_touched", "themes"),
    ),
    FileType.CHECK_IN: TypeRule(
        naming="date",
        place="check-ins",
        purpose="themes, energy, mood_signal",
        attributes=_takes("themes", "energy", "mood_signal", "domains_touched"),
        days_back=366,
        days_ahead=1,
    ),
    FileType.DAILY_LOG: TypeRule(
        naming="date",
        place="daily-logs",
        purpose="energy, mood_signal",
        attributes=_takes("energy", "mood_signal", "domains_touched", "themes"),
        days_back=366,
        days_ahead=1,
    ),
    FileType.DAY_PLAN: TypeRule(
        naming="date",
        place="day-plans",
        purpose="intention, priorities",
        attributes=_takes("intention", "priorities", "energy", "mood_signal", "domains_touched"),
        days_back=366,
        days_ahead=31,
    ),
    FileType.WEEKLY_PLAN: TypeRule(
        naming="fixed",
        place="life-plan/weekly.md",
        attributes=_takes("intention", "priorities", "domains_touched", "themes"),
    ),
    FileType.SAGE_CONTEXT: TypeRule(
        naming="fixed",
        place="sage/context.md",
        purpose="what you must always know",
        attributes=_takes("themes"),
    ),
    FileType.SAGE_PATTERNS: TypeRule(
        naming="fixed",
        place="sage/patterns.md",
        attributes=_takes("domains_touched", "themes"),
    ),
    FileType.CAPTURE: TypeRule(
        naming="moment",
        place="captures",
        purpose="a passing thought, always a new file",
        attributes=_takes("energy", "mood_signal", "domains_touched"),
    ),
    FileType.REFLECTION_PROMPT: TypeRule(
        naming="slug",
        place="reflections",
        attributes=_takes("domains_touched", "themes"),
    ),
    FileType.NOTE: TypeRule(naming="slug", place="notes", attributes=_takes()),
    # Without attributes: a preview would be shown in lists of files.
    FileType.SAFETY_PLAN: TypeRule(
        naming="fixed",
        place="sage/safety-plan.md",
        attributes=frozenset(),
    ),
    FileType.LETTER: TypeRule(naming="month", place="letters", attributes=_takes()),
}
