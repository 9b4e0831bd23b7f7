"""How a step repeats, in words for pages."""

from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _

from coaching.steps.repeats import DAILY, DAYS, MONTHLY


def repeats_in_words(repeats: str) -> str:
    """Return the words for the stored form; empty for a step that doesn't repeat."""
    if repeats == DAILY:
        return _("every day")
    if repeats == MONTHLY:
        return _("every month")
    names = [str(WEEKDAYS[DAYS.index(day)]) for day in repeats.split(",") if day in DAYS]
    return _("weekly on %(days)s") % {"days": ", ".join(names)} if names else ""
