"""Filters that show moments (`{{ moment|local_moment:zone|date:"DATE_FORMAT" }}`) and time zones."""

from datetime import UTC, datetime, tzinfo

from django import template

from coaching.clock import days
from coaching.clock.timezones import city_of

register = template.Library()


@register.filter
def local_moment(moment: datetime | None, zone: tzinfo | None) -> datetime | None:
    """Return the user's day and the time on their clock; UTC's without a zone, None without a moment."""
    return days.local_moment(moment, zone or UTC) if moment else None


@register.filter
def city(zone: tzinfo) -> str:
    """Return the city of a time zone, or its name if it has none."""
    return city_of(str(zone))
