"""Days and times in words for pages, relative to the user's day, in the language that is active.

Reads no clock.
"""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.utils.formats import date_format, time_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from coaching.clock.days import local_moment

_NEAR = {-1: gettext_lazy("yesterday"), 0: gettext_lazy("today"), 1: gettext_lazy("tomorrow")}


def day_in_words(day: date, *, today: date) -> str:
    """Return a day in words, relative to `today`; with its year only if that is another one."""
    if near := _NEAR.get((day - today).days):
        return str(near)
    return date_format(day, "WEEKDAY_DAY_FORMAT" if day.year == today.year else "WEEKDAY_DATE_FORMAT")


def moment_in_words(moment: datetime, *, today: date, zone: ZoneInfo) -> str:
    """Return a moment (aware) in words: its time, and its day unless that is today."""
    local = local_moment(moment, zone)
    day, clock = local.date(), time_format(local, "TIME_FORMAT")
    if day == today:
        return clock
    return _("%(day)s, %(time)s") % {"day": day_in_words(day, today=today), "time": clock}
