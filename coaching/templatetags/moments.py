"""The filter by which templates show a moment: `{{ moment|local_moment:zone|date:"DATE_FORMAT" }}`."""

from datetime import UTC, datetime, tzinfo

from django import template

from coaching.clock import days

register = template.Library()


@register.filter
def local_moment(moment: datetime | None, zone: tzinfo | None) -> datetime | None:
    """Return the user's day and the time on their clock; UTC's without a zone, None without a moment."""
    return days.local_moment(moment, zone or UTC) if moment else None
