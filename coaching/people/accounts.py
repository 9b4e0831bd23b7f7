"""The signed-in user, their profile and their clock. Permissions are checked elsewhere."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from coaching.clock.timezones import UNKNOWN_TIMEZONE, city_of, known_timezones
from coaching.models import Profile, TimezoneSource

TIMEZONE_COOKIE = "sage_timezone"
SAFE_METHODS = frozenset({"GET", "HEAD"})
"""Methods of requests after whose sign-in nothing changes a profile but `load_profile`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimezoneOffer:
    """The time zone that a page uses, and the browser's if it differs (empty if unknown)."""

    current: str
    browser: str

    @property
    def current_city(self) -> str:
        return city_of(self.current)

    @property
    def browser_city(self) -> str:
        return city_of(self.browser)


def user_id_of(request: HttpRequest) -> int:
    """Return the id of the signed-in user, loaded before the view; only for views that require a login."""
    return cast("User", request.user).pk


def load_profile(request: HttpRequest) -> Profile:
    """Return the person's profile, created on first use. Adopt the browser's time zone if none is set.

    A safe request gets the one that was loaded with its user (`sage.sign_in`). Another one may have changed
    it since, so it reads the row.
    """
    profile = _profile_of(request)
    if is_timezone_unknown(profile) and (named := browser_timezone(request)):
        # Unless the person has just chosen one in another tab.
        unknown = Profile.of(profile.user_id).filter(timezone_source=TimezoneSource.NOBODY)
        if unknown.update(timezone=named, timezone_source=TimezoneSource.BROWSER):
            profile.timezone, profile.timezone_source = named, TimezoneSource.BROWSER
        else:
            profile.refresh_from_db()
    return profile


def _profile_of(request: HttpRequest) -> Profile:
    user = cast("User", request.user)
    if request.method in SAFE_METHODS:
        with suppress(Profile.DoesNotExist):
            return user.profile
    return Profile.of(user.pk).select_related("user").get_or_create()[0]


def is_timezone_unknown(profile: Profile) -> bool:
    """Return whether no time zone has been chosen yet."""
    return profile.timezone_source == TimezoneSource.NOBODY and profile.timezone == UNKNOWN_TIMEZONE


def browser_timezone(request: HttpRequest) -> str:
    """Return the browser's time zone; empty if it is missing or doesn't exist."""
    named = request.COOKIES.get(TIMEZONE_COOKIE, "")
    return named if named in known_timezones() else ""


def is_last_superuser(user: User) -> bool:
    """Return whether no other superuser would be left."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    return user.is_superuser and not others.exists()


def timezone_offer(request: HttpRequest, profile: Profile) -> TimezoneOffer | None:
    """Return the time zone choice to offer on a page; None if the person has chosen against the browser's."""
    offer = TimezoneOffer(current=profile.timezone, browser=browser_timezone(request))
    if offer.browser:
        return None if offer.browser in (offer.current, profile.timezone_declined) else offer
    return offer if is_timezone_unknown(profile) else None


def local_now(profile: Profile) -> datetime:
    """Return the current time in the person's time zone."""
    return timezone.now().astimezone(profile.zone)


def greeting_at(now: datetime) -> str:
    """Return the greeting for a local time; it is evening until 04:00."""
    if 4 <= now.hour < 12:
        return gettext("Good morning")
    if 12 <= now.hour < 18:
        return gettext("Good afternoon")
    return gettext("Good evening")
