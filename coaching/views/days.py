"""Days and months in the addresses of the journal: those that a person may have written about."""

import re
from datetime import date, timedelta

from django.http import Http404

from coaching.clock.days import local_day
from coaching.files.types import RULES
from coaching.models import FileType, Profile
from coaching.people.accounts import local_now

DAYS_AHEAD = RULES[FileType.DAY_PLAN].days_ahead
"""A plan may be for a day to come."""
EARLIEST = date(1970, 1, 1)
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def today_of(profile: Profile) -> date:
    """Return the person's day; until 04:00 it is still the one before."""
    return local_day(local_now(profile), profile.zone)


def month_in(text: str, today: date) -> date:
    """Return the first day of a month (`2026-11`). Raises `Http404`."""
    if not _MONTH.fullmatch(text):
        raise Http404
    return _parsed(f"{text}-01", today)


def day_in(text: str, today: date) -> date:
    """Return a day. Raises `Http404`."""
    if not _DAY.fullmatch(text):
        raise Http404
    return _parsed(text, today)


def past_day_in(text: str, today: date) -> date:
    """Return a day that has begun. Raises `Http404`."""
    day = day_in(text, today)
    if day > today:
        raise Http404
    return day


def _parsed(text: str, today: date) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise Http404 from None
    if not EARLIEST <= day <= today + timedelta(days=DAYS_AHEAD):
        raise Http404
    return day
