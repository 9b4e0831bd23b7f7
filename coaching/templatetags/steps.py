"""Template filters for next steps."""

from collections.abc import Sequence
from datetime import date, time
from typing import Any

from django import template
from django.utils.formats import date_format, time_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from coaching.library.pages.step_history import StepEvent
from coaching.steps.words import repeats_in_words

register = template.Library()

SHOWN_FIELDS = {
    "title": gettext_lazy("Title"),
    "due_date": gettext_lazy("Due"),
    "due_time": gettext_lazy("Time"),
    "repeats": gettext_lazy("Repeats"),
}


@register.filter
def in_words(repeats: str) -> str:
    """Return how a step repeats; empty if it doesn't."""
    return repeats_in_words(repeats)


@register.filter
def changed_fields(event: StepEvent) -> Sequence[str]:
    """Return what a change of a step changed, in words."""
    return [
        f"{label}: {_shown(name, event.before[name])} → {_shown(name, event.after.get(name))}"
        for name, label in SHOWN_FIELDS.items()
        if name in event.before
    ]


def _shown(name: str, value: Any) -> str:
    if not value:
        return _("none")
    match name:
        case "due_date":
            return date_format(date.fromisoformat(value), "WEEKDAY_DATE_FORMAT")
        case "due_time":
            return time_format(time.fromisoformat(value), "TIME_FORMAT")
        case "repeats":
            return repeats_in_words(value)
    return str(value)
