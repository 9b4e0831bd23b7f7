"""Photos in a person's journal."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from sessions_app.models import VerdictLevel
from sessions_app.owned import Owned


class Photo(Owned):
    """A photo of one local day: reduced, as WebP without metadata. Of the file that was uploaded, only the
    hash is kept, so that the same file is one photo.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="photos")
    day = models.DateField()
    description = models.CharField(
        max_length=500, blank=True, default="", db_default="", help_text="In the person's own words."
    )
    danger_level = models.CharField(
        max_length=16,
        choices=VerdictLevel,
        default=VerdictLevel.NONE,
        db_default=VerdictLevel.NONE,
        help_text="Of the description, by the rules.",
    )
    danger_about = models.CharField(max_length=8, default="self", db_default="self")
    danger_topic = models.CharField(max_length=16, default="life", db_default="life")
    described_at = models.DateTimeField(null=True, blank=True, editable=False)
    source_sha256 = models.CharField(max_length=64, help_text="Of the file that was uploaded.")
    storage_key = models.CharField(max_length=255, unique=True)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField(help_text="Bytes, without the thumbnail.")
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    thumbnail = models.BinaryField()
    added_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["day", "added_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["user", "source_sha256"], name="photo_once"),
        ]
        indexes = [models.Index(fields=["user", "day"], name="photo_user_day")]

    def __str__(self) -> str:
        return f"photo {self.day}"
