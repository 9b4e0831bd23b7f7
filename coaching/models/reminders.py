"""Reminders: what a person wants to be reminded of, what was sent, and the devices that it is sent to."""

from datetime import time

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from sessions_app.owned import Owned


class ReminderKind(models.TextChoices):
    DAY = "day", _("Plan the day")
    EVENING = "evening", _("Close the day")
    CHECK_IN = "check_in", _("Weekly check-in")
    STEPS = "steps", _("Next steps")


class Reminder(Owned):
    """A person's choice for one kind. It is off with neither push nor mail, and there is none at first.

    `at` is wall-clock time in the person's time zone; of next steps it is for those without a time of day.
    `origin` is where they set it, for links in mails.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reminders")
    kind = models.CharField(max_length=8, choices=ReminderKind)
    at = models.TimeField(default=time(8))
    by_push = models.BooleanField(default=False)
    by_mail = models.BooleanField(default=False)
    with_words = models.BooleanField(
        default=False, db_default=False, help_text="Whether it quotes which next steps are due."
    )
    origin = models.CharField(max_length=300, blank=True, default="")
    changed_at = models.DateTimeField(help_text="Nothing that was due before is sent.")

    class Meta:
        ordering = ["user", "kind"]
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="reminder_once_per_kind"),
            models.CheckConstraint(condition=Q(kind__in=ReminderKind.values), name="reminder_kind_known"),
        ]
        indexes = [
            models.Index(
                fields=["kind", "at"], condition=Q(by_push=True) | Q(by_mail=True), name="reminder_that_is_on"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} reminder at {self.at:%H:%M}"

    @property
    def is_on(self) -> bool:
        return self.by_push or self.by_mail


class SentReminder(Owned):
    """A reminder of one of the person's days, stored before it is sent: there is one, whatever crashes.

    Next steps are due at several times of a day: `at` is which, and None for any other kind.
    `mail_begun_at` is set before the mail is handed over, so that no mail is sent twice.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8, choices=ReminderKind)
    day = models.DateField()
    at = models.TimeField(null=True, blank=True)
    due_at = models.DateTimeField()
    mail_begun_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-day"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "kind", "day", "at"], name="reminder_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(kind__in=ReminderKind.values), name="sent_reminder_kind_known"
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="sent_reminder_due")]

    def __str__(self) -> str:
        return f"{self.kind} reminder of {self.day}"


class PushDevice(Owned):
    """A browser that shows notifications. Its address is a secret: nothing shows or logs it.

    An address belongs to one person: whoever signs in on the browser and subscribes has it from then on.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="push_devices")
    endpoint = models.CharField(max_length=1000, unique=True)
    p256dh = models.CharField(max_length=100, help_text="The browser's public key.")
    auth = models.CharField(max_length=50, help_text="The secret that the browser shares with this Sage.")
    name = models.CharField(max_length=60, blank=True, default="")
    added_at = models.DateTimeField(auto_now_add=True)
    failures = models.PositiveSmallIntegerField(
        default=0, help_text="How often in a row it couldn't be reached."
    )

    class Meta:
        ordering = ["added_at", "id"]

    def __str__(self) -> str:
        return f"push device {self.pk}"
