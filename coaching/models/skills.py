"""Skills in the database: the file's text as last synced, and an operator's override.

The history has every state with its time, so that a session keeps the skills that it started with. Only
`coaching.skills.store` writes rows, and none is deleted: an override outlives its file.
"""

from django.db import models
from django.db.models import Q
from simple_history.models import HistoricalRecords

from coaching.library.models.recorded import Overridable


class SkillKind(models.TextChoices):
    """A skill's role in a session."""

    BASE = "base", "Base"
    ARC = "arc", "Arc"
    APPROACH = "approach", "Approach"
    DOCUMENT = "document", "Document"


class Skill(Overridable):
    name = models.SlugField(max_length=64, unique=True)
    kind = models.CharField(max_length=16, choices=SkillKind)
    description = models.CharField(max_length=200)
    signals = models.JSONField(default=list, blank=True)
    tools = models.JSONField(default=list, blank=True)
    history = HistoricalRecords(excluded_fields=["updated_at"])

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=SkillKind.values), name="skill_kind_known"),
            models.CheckConstraint(
                condition=Q(override="", overridden_sha256="") | ~Q(override="") & ~Q(overridden_sha256=""),
                name="skill_override_knows_its_file",
            ),
        ]

    def __str__(self) -> str:
        return self.name
