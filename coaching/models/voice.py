"""Recordings that are being turned into words."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions_app.owned import Owned


class RecordingState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


class Recording(Owned):
    """A recording of what somebody dictated, and its words until their page has taken them.

    The audio is stored under `storage_key` while the row waits, and erased with the end of that. The row goes
    when the page has taken the words, at the latest after a day. `reason` is an English sentence.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="recordings",
        db_constraint=False,  # its migration adds one that cascades in the database
    )
    client_id = models.CharField(max_length=100, help_text="Chosen by the page: a recording is taken once.")
    state = models.CharField(max_length=16, choices=RecordingState, default=RecordingState.WAITING)
    seconds = models.PositiveIntegerField(help_text="How long it is.")
    storage_key = models.CharField(max_length=255, blank=True, default="")
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField(help_text="Bytes.")
    text = models.TextField(blank=True, default="")
    reason = models.CharField(max_length=500, blank=True, default="")
    made_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["made_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["user", "client_id"], name="recording_once"),
            models.CheckConstraint(
                condition=Q(state__in=RecordingState.values), name="recording_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state=RecordingState.WAITING) | Q(storage_key=""), name="recording_erased_at_end"
            ),
        ]
        indexes = [models.Index(fields=["made_at"], name="recording_made")]

    def __str__(self) -> str:
        return f"recording {self.pk}"
