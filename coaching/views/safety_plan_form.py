"""The form of a safety plan: its fields, and what two people or tabs that wrote at once make of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from coaching.safety.plan import PlanSection, SafetyPlan, make_plan
from coaching.sandbox.differences import merge
from coaching.transcript.plans import PLAN_HEADINGS

REST = "rest"
HINTS = {
    PlanSection.WARNING_SIGNS: gettext_lazy(
        "Thoughts, feelings or situations that tell you that a crisis may be coming."
    ),
    PlanSection.WHAT_HELPS: gettext_lazy("What you can do by yourself to get through the next hour."),
    PlanSection.PLACES: gettext_lazy("Where you feel better, and who takes your mind off it."),
    PlanSection.WHOM_TO_CALL: gettext_lazy(
        "People you can ask for help, one per line, with their numbers to tap."
    ),
    PlanSection.PROFESSIONALS: gettext_lazy("A doctor, a therapist, a clinic or a help line, with numbers."),
    PlanSection.SAFER: gettext_lazy(
        "What you can put out of reach, and who keeps it for you. Cards with help lines never show this."
    ),
    PlanSection.WHAT_MATTERS: gettext_lazy("What is worth staying for."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A section in the form. `theirs` is what the newest version says, where both changed it."""

    name: str
    heading: str
    hint: str
    text: str
    theirs: str = ""


def fields_of(plan: SafetyPlan, theirs: Mapping[str, str]) -> Sequence[Field]:
    """Return the fields: the sections, and other notes where there are any."""
    fields = [
        Field(
            name=section,
            heading=str(PLAN_HEADINGS[section]),
            hint=str(HINTS[section]),
            text=plan.text(section),
            theirs=theirs.get(section, ""),
        )
        for section in PlanSection
    ]
    if not (plan.rest or REST in theirs):
        return fields
    hint = _("Anything that fits none of the sections.")
    rest = Field(name=REST, heading=_("Other notes"), hint=hint, text=plan.rest, theirs=theirs.get(REST, ""))
    return [*fields, rest]


def merge_plans(
    base: SafetyPlan, mine: SafetyPlan, theirs: SafetyPlan
) -> tuple[SafetyPlan, Mapping[str, str]]:
    """Merge by section; what both changed in the same place stays mine, and theirs is shown beside it."""
    beside: dict[str, str] = {}

    def merged_text(name: str, was: str, own: str, other: str) -> str:
        if other in (own, was):
            return own
        if own == was:
            return other
        both = merge(base=was, mine=own, theirs=other)
        if both is None:
            beside[name] = other
        return own if both is None else both

    texts = {
        section: merged_text(section, base.text(section), mine.text(section), theirs.text(section))
        for section in PlanSection
    }
    return make_plan(texts, merged_text(REST, base.rest, mine.rest, theirs.rest)), beside
