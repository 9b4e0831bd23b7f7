"""References and placement rules: how types of documents are recognised, and where they are filed."""

from django.db import models
from django.db.models import Q
from simple_history.models import HistoricalRecords

from coaching.library.models.clients import ClientType
from coaching.library.models.documents import FilingLevel
from coaching.library.models.recorded import Overridable, Recorded


class ReferenceArea(models.TextChoices):
    """What part of the world a type of document comes from."""

    REAL_ESTATE = "real_estate", "Real estate"
    LIFE = "life", "A person's life"


class Reference(Overridable):
    """How to recognise a type of document: the file as last synced, and an operator's override.

    `look_alikes` are `{file_type, tell}`. The other fields are read from the text in use.
    """

    file_type = models.SlugField(max_length=64, unique=True)
    title = models.CharField(max_length=120)
    category = models.CharField(max_length=64)
    area = models.CharField(max_length=16, choices=ReferenceArea)
    tags = models.JSONField(default=list, blank=True)
    phrases = models.JSONField(default=list, blank=True)
    look_alikes = models.JSONField(default=list, blank=True)
    folder = models.CharField(max_length=120)
    level = models.CharField(max_length=16, choices=FilingLevel, default=FilingLevel.CLIENT)
    history = HistoricalRecords(excluded_fields=["updated_at"])

    class Meta:
        ordering = ["area", "file_type"]
        constraints = [
            models.CheckConstraint(condition=Q(area__in=ReferenceArea.values), name="reference_area_known"),
            models.CheckConstraint(condition=Q(level__in=FilingLevel.values), name="reference_level_known"),
            models.CheckConstraint(
                condition=Q(override="", overridden_sha256="") | ~Q(override="") & ~Q(overridden_sha256=""),
                name="reference_override_knows_its_file",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class PlacementRule(Recorded):
    """Where documents of a type, or of any type of a category, are filed. An empty client type is any."""

    file_type = models.CharField(max_length=64, blank=True, default="")
    category = models.CharField(max_length=64, blank=True, default="")
    client_type = models.CharField(max_length=16, choices=ClientType, blank=True, default="")
    folder = models.CharField(max_length=120)
    level = models.CharField(max_length=16, choices=FilingLevel, default=FilingLevel.CLIENT)
    is_overridden = models.BooleanField(default=False, help_text="An operator's, kept when files are synced.")
    updated_at = models.DateTimeField(auto_now=True)
    history = HistoricalRecords(excluded_fields=["updated_at"])

    class Meta:
        ordering = ["category", "file_type", "client_type"]
        constraints = [
            models.UniqueConstraint(
                fields=["file_type", "category", "client_type"], name="placement_rule_once"
            ),
            models.CheckConstraint(
                condition=Q(file_type="") ^ Q(category=""), name="placement_by_type_or_category"
            ),
            models.CheckConstraint(condition=Q(level__in=FilingLevel.values), name="placement_level_known"),
        ]

    def __str__(self) -> str:
        return f"{self.file_type or self.category} to {self.folder}"
