"""Changes of a profile, and their consequences."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from coaching.clock.days import local_day, moved_weekday
from coaching.clock.timezones import UNKNOWN_TIMEZONE
from coaching.clock.travel import after_change
from coaching.models import Profile, TimezoneSource
from coaching.people.own_changes import own_changes
from coaching.skills.facts import checkin_due_on


@transaction.atomic
def change_profile(
    *, user_id: int, now: datetime, seen: Mapping[str, Any] | None = None, browser: str = "", **values: Any
) -> Profile:
    """Apply the settings form, whose `values` are already validated. `now` is aware.

    With the values that were `seen`, only what differs from them is changed. Raises `EditConflict`.
    Another check-in day moves a planned or overdue check-in to its nearest such day. Saving an unchanged time
    zone doesn't count as choosing it. `browser` is the browser's time zone, if it is known.
    """
    profile = _lock_profile(user_id)
    planned, was = checkin_due_on(profile), {name: getattr(profile, name) for name in values}
    for name, value in own_changes(values, seen=seen, present=was).items():
        setattr(profile, name, value)
    if profile.timezone != was["timezone"]:
        chosen, profile.timezone = profile.timezone, was["timezone"]
        _choose_timezone(profile, chosen, browser=browser, now=now)
    if profile.checkin_weekday != was["checkin_weekday"]:
        today = local_day(now, profile.zone)
        profile.next_checkin_on = moved_weekday(planned, profile.checkin_weekday, today=today)
    profile.save()
    return profile


@transaction.atomic
def choose_timezone(*, user_id: int, timezone: str, browser: str, now: datetime) -> Profile:
    """Set the time zone that the person chose, already validated; `browser` is the browser's, if known."""
    profile = _lock_profile(user_id)
    _choose_timezone(profile, timezone, browser=browser, now=now)
    profile.save(update_fields=["timezone", "timezone_source", "timezone_declined", "earlier_timezones"])
    return profile


def _choose_timezone(profile: Profile, timezone: str, *, browser: str, now: datetime) -> None:
    """Set a profile's time zone, and until when it was the one before, if that was theirs."""
    is_known = profile.timezone_source != TimezoneSource.NOBODY or profile.timezone != UNKNOWN_TIMEZONE
    if is_known and timezone != profile.timezone:
        profile.earlier_timezones = after_change(
            profile.earlier_timezones, profile.timezone, timezone, since=profile.user.date_joined, now=now
        )
    profile.timezone = timezone
    profile.timezone_source = TimezoneSource.USER
    profile.timezone_declined = "" if browser == timezone else browser


@transaction.atomic
def choose_country(*, user_id: int, country: str) -> Profile:
    """Set the country of the help lines; empty for that of the time zone."""
    profile = _lock_profile(user_id)
    profile.country = country
    profile.save(update_fields=["country"])
    return profile


@transaction.atomic
def choose_letters(*, user_id: int, wants: bool) -> Profile:
    """Set whether the person wants a letter a month."""
    profile = _lock_profile(user_id)
    profile.wants_letters = wants
    profile.save(update_fields=["wants_letters"])
    return profile


def choose_transcription_host(*, user_id: int, host: str) -> None:
    """Set which server may hear the person's recordings; empty for none."""
    Profile.of(user_id).update_or_create(defaults={"heard_by": host})


def on_one_line(name: str) -> str:
    """Collapse a name to one line, because it is one in Sage's context."""
    return " ".join(name.split())


def open_profile(*, user_id: int, name: str, timezone: str, language: str) -> None:
    """Create the profile after sign-up, with the browser's time zone if it isn't empty, and its language."""
    known = {"timezone": timezone, "timezone_source": TimezoneSource.BROWSER} if timezone else {}
    Profile.of(user_id).get_or_create(defaults={"name": name, "language": language, **known})


def offer_library(user_id: int) -> None:
    """Offer the library's tools from the next turn on, for good: a change costs the cached prefix.

    Call it in the transaction that adds the first document, client or entry.
    """
    if not Profile.of(user_id).filter(has_library=True).exists():
        Profile.of(user_id).update_or_create(defaults={"has_library": True})


def _lock_profile(user_id: int) -> Profile:
    Profile.of(user_id).get_or_create()
    return Profile.of(user_id).select_related("user").select_for_update(of=("self",)).get()
