"""The words of a safety plan's page. No I/O."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from coaching.safety.plan import PlanSection, parse_plan, render_plan

PLAN_HEADINGS: Mapping[PlanSection, str | Promise] = {
    PlanSection.WARNING_SIGNS: gettext_lazy("Warning signs"),
    PlanSection.WHAT_HELPS: gettext_lazy("What helps me"),
    PlanSection.PLACES: gettext_lazy("Places and people"),
    PlanSection.WHOM_TO_CALL: gettext_lazy("Whom I can call"),
    PlanSection.PROFESSIONALS: gettext_lazy("Professionals"),
    PlanSection.SAFER: gettext_lazy("Making it safer"),
    PlanSection.WHAT_MATTERS: gettext_lazy("What matters to me"),
}
"""The stored headings (`safety.plan.HEADINGS`) in the language that is active."""


def plan_in_words(body: str) -> str:
    """Return the body of a plan's file with the headings of the active language."""
    headings = {section: str(heading) for section, heading in PLAN_HEADINGS.items()}
    return render_plan(parse_plan(body), headings, notes=_("Other notes"))
