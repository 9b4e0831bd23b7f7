"""Who is asking: the signed-in person, their profile and their clock. It decides nothing about rights."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone

from coaching.clock.timezones import UNKNOWN_TIMEZONE, city_of, known_timezones
from coaching.models import Profile, TimezoneSource

TIMEZONE_COOKIE = "sage_timezone"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimezoneOffer:
    """What a page says about the time zone that it goes by: `browser` is the other one, empty if unknown."""

    current: str
    browser: str

    @property
    def current_city(self) -> str:
        """The time zone that holds, in words."""
        return city_of(self.current)

    @property
    def browser_city(self) -> str:
        """The browser's, in words."""
        return city_of(self.browser)


def user_id_of(request: HttpRequest) -> int:
    """Return the id of the signed-in person, loaded before the view; only for views that require one."""
    return cast("User", request.user).pk


def profile_for(request: HttpRequest) -> Profile:
    """Return the person's profile, made on first need.

    While nobody has said which time zone it is, the browser's is taken over: the page's script puts it in
    a cookie.
    """
    profile, _ = Profile.of(user_id_of(request)).select_related("user").get_or_create()
    if is_timezone_unknown(profile) and (named := browser_timezone(request)):
        # Not where the person has chosen one in another tab just now.
        unknown = Profile.of(profile.user_id).filter(timezone_source=TimezoneSource.NOBODY)
        if unknown.update(timezone=named, timezone_source=TimezoneSource.BROWSER):
            profile.timezone, profile.timezone_source = named, TimezoneSource.BROWSER
        else:
            profile.refresh_from_db()
    return profile


def is_timezone_unknown(profile: Profile) -> bool:
    """Whether nobody has said yet which time zone the person is in."""
    return profile.timezone_source == TimezoneSource.NOBODY and profile.timezone == UNKNOWN_TIMEZONE


def browser_timezone(request: HttpRequest) -> str:
    """Return the browser's time zone; empty where it told none, or one that doesn't exist."""
    named = request.COOKIES.get(TIMEZONE_COOKIE, "")
    return named if named in known_timezones() else ""


def is_last_superuser(user: User) -> bool:
    """Return whether nobody else could look after this installation once the user is gone."""
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    return user.is_superuser and not others.exists()


def timezone_offer(request: HttpRequest, profile: Profile) -> TimezoneOffer | None:
    """Return what a page offers about the time zone, None where there is nothing to offer.

    Who has chosen one is left alone, wherever the browser is.
    """
    if profile.timezone_source == TimezoneSource.USER:
        return None
    offer = TimezoneOffer(current=profile.timezone, browser=browser_timezone(request))
    if offer.browser:
        return None if offer.browser == offer.current else offer
    return offer if is_timezone_unknown(profile) else None


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
