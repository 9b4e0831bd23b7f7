"""Who is asking: the signed-in person, their profile and their clock. It decides nothing about rights."""

import zoneinfo
from datetime import datetime
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone

from coaching.models import Profile

TIMEZONE_COOKIE = "sage_timezone"
_UNKNOWN_TIMEZONE = "UTC"


def user_id_of(request: HttpRequest) -> int:
    """Return the id of the signed-in person; only for views that require one."""
    return cast("User", request.user).pk


async def auser_id_of(request: HttpRequest) -> int:
    """Return the id of the signed-in person in an async view."""
    return cast("User", await request.auser()).pk


def profile_for(request: HttpRequest) -> Profile:
    """Return the person's profile, made on first need.

    While no time zone is known, the browser's is taken over: the page's script puts it in a cookie.
    """
    profile, _ = Profile.objects.get_or_create(user_id=user_id_of(request))
    named = request.COOKIES.get(TIMEZONE_COOKIE, "")
    if profile.timezone == _UNKNOWN_TIMEZONE and named != _UNKNOWN_TIMEZONE and named in _known_timezones():
        profile.timezone = named
        profile.save(update_fields=["timezone"])
    return profile


def local_now(profile: Profile) -> datetime:
    """Return the person's own time."""
    return timezone.now().astimezone(profile.zone)


def greeting_at(now: datetime) -> str:
    """Return the greeting for a local time; up to 04:00 it is still evening."""
    if 4 <= now.hour < 12:
        return "Good morning"
    if 12 <= now.hour < 18:
        return "Good afternoon"
    return "Good evening"


def _known_timezones() -> set[str]:
    return zoneinfo.available_timezones()
