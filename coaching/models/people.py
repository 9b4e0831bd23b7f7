"""A person's profile: name, time zone, check-in day, language."""

import zoneinfo

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from coaching.clock.timezones import known_timezones
from coaching.clock.travel import zone_after
from coaching.safety.countries import COUNTRY_NAMES
from sessions_app.owned import Owned


class Weekday(models.IntegerChoices):
    """Numbered like `date.weekday()`."""

    MONDAY = 0, "Monday"
    TUESDAY = 1, "Tuesday"
    WEDNESDAY = 2, "Wednesday"
    THURSDAY = 3, "Thursday"
    FRIDAY = 4, "Friday"
    SATURDAY = 5, "Saturday"
    SUNDAY = 6, "Sunday"


def validate_timezone(name: str) -> None:
    """Refuse an unknown time zone."""
    if name not in known_timezones():
        raise ValidationError("%(name)s is not a time zone.", params={"name": name})


def validate_country(code: str) -> None:
    """Refuse an unknown country."""
    if code not in COUNTRY_NAMES:
        raise ValidationError("%(code)s is not a country.", params={"code": code})


def validate_language(code: str) -> None:
    """Refuse a language that pages don't have."""
    if code not in dict(settings.LANGUAGES):
        raise ValidationError("%(code)s is not one of the languages.", params={"code": code})


class TimezoneSource(models.TextChoices):
    """Who set the time zone."""

    NOBODY = "", "Nobody yet"
    BROWSER = "browser", "The browser"
    USER = "user", "The user"


class Profile(Owned):
    """One per user, created on first use. The first browser sets an unknown time zone."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="profile")
    name = models.CharField(max_length=100, blank=True, default="")
    timezone = models.CharField(max_length=64, default="UTC", validators=[validate_timezone])
    timezone_source = models.CharField(max_length=8, choices=TimezoneSource, blank=True, default="")
    earlier_timezones = models.TextField(
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="A line for each earlier one, with the moment until which it was theirs.",
    )
    timezone_declined = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The browser's when the person chose another one: it isn't offered again.",
    )
    checkin_weekday = models.PositiveSmallIntegerField(choices=Weekday, default=Weekday.SUNDAY)
    next_checkin_on = models.DateField(null=True, blank=True)
    country = models.CharField(
        max_length=2,
        blank=True,
        default="",
        validators=[validate_country],
        help_text="Whose help lines are shown; empty: those of the time zone's country.",
    )

    language = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        validators=[validate_language],
        help_text="Of pages, mails and notifications. Empty: the browser's for pages, English for the rest.",
    )
    wants_letters = models.BooleanField(
        null=True, blank=True, help_text="A letter a month; unknown until the person has been asked."
    )
    has_library = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Whether conversations offer the library's tools: from the first document or client on.",
    )

    heard_by = models.CharField(
        max_length=300,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The server that may hear recordings; empty until the person has agreed to one.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(checkin_weekday__lte=6), name="profile_weekday_known"),
            models.CheckConstraint(
                condition=Q(timezone_source__in=TimezoneSource.values), name="profile_timezone_source_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name or f"profile of {self.user_id}"

    @property
    def zone(self) -> zoneinfo.ZoneInfo:
        """The time zone, in which earlier moments have the zone that the person was in then."""
        return zone_after(self.timezone, self.earlier_timezones)
