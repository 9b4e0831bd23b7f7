"""Calendars that a person lets Sage read, and their events around today.

A source keeps the text that was read last: recurring events don't end, so each new day is expanded from it
without a request.
"""

from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.db.models import Q

from sessions_app.owned import Owned


class CalendarKind(models.TextChoices):
    FILE = "file", "Uploaded file"
    FEED = "feed", "Subscribed feed"


class CalendarSource(Owned):
    """A person's calendar.

    `origin` is an uploaded file's name, or a feed's address, which is a secret: it gives access to the
    calendar. `error` is a message for the person; old events stay until the calendar can be read again.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="calendar_sources"
    )
    kind = models.CharField(max_length=8, choices=CalendarKind)
    name = models.CharField(max_length=100)
    origin = models.CharField(max_length=2000)
    content = models.BinaryField(help_text="The calendar as it was read last, byte for byte.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the content without its time stamps.")
    left_out = models.PositiveIntegerField(default=0, help_text="Events that couldn't be understood.")
    expanded_on = models.DateField(help_text="The day around which recurring events are written out.")
    etag = models.CharField(max_length=500, blank=True, default="")
    last_modified = models.CharField(max_length=100, blank=True, default="")
    added_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(help_text="When it could be read last.")
    tried_at = models.DateTimeField(help_text="When it was tried last.")
    next_try_at = models.DateTimeField()
    failures = models.PositiveIntegerField(default=0, help_text="How often in a row it couldn't be read.")
    failing_since = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["user", "kind", "origin"], name="calendar_once_per_user"),
            models.CheckConstraint(condition=Q(kind__in=CalendarKind.values), name="calendar_kind_known"),
            models.CheckConstraint(
                condition=Q(failures=0, failing_since=None, error="")
                | Q(failures__gt=0, failing_since__isnull=False) & ~Q(error=""),
                name="calendar_failure_is_explained",
            ),
        ]
        indexes = [models.Index(fields=["next_try_at"], name="calendar_next_try")]

    def __str__(self) -> str:
        return f"calendar {self.pk}"

    @property
    def host(self) -> str:
        """The host of a feed, which may be shown; empty for a file."""
        return urlsplit(self.origin).hostname or "" if self.kind == CalendarKind.FEED else ""


class CalendarEvent(Owned):
    """One occurrence of an event.

    It has either moments or days; `ends_on` is the first day after. Moments of a floating event ("nine
    o'clock, wherever you are") are wall-clock time stored as UTC.
    """

    owner_path = "source__user"

    source = models.ForeignKey(CalendarSource, on_delete=models.CASCADE, related_name="events")
    uid = models.CharField(max_length=255)
    title = models.CharField(max_length=300, blank=True, default="")
    location = models.CharField(max_length=300, blank=True, default="")
    timezone = models.CharField(max_length=64, blank=True, default="", help_text="As the calendar names it.")
    is_floating = models.BooleanField(default=False)
    starts_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    starts_on = models.DateField(null=True, blank=True)
    ends_on = models.DateField(null=True, blank=True)

    class Meta:
        ordering = ["starts_on", "starts_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "uid", "starts_at", "starts_on"],
                nulls_distinct=False,
                name="calendar_event_once",
            ),
            models.CheckConstraint(
                condition=Q(
                    starts_on=None, ends_on=None, starts_at__isnull=False, ends_at__gte=models.F("starts_at")
                )
                | Q(
                    starts_at=None,
                    ends_at=None,
                    is_floating=False,
                    starts_on__isnull=False,
                    ends_on__gt=models.F("starts_on"),
                ),
                name="calendar_event_moments_or_days",
            ),
        ]

    def __str__(self) -> str:
        return f"event {self.pk} of calendar {self.source_id}"
