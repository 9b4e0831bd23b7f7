"""Skills in the database: the file's text as last synced, and an operator's override.

The history has every state with its time, so that a session keeps the skills that it started with. Only
`coaching.skills.store` writes rows, and none is deleted: an override outlives its file.
"""

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from simple_history.models import HistoricalRecords


class SkillKind(models.TextChoices):
    """A skill's role in a session."""

    BASE = "base", "Base"
    ARC = "arc", "Arc"
    APPROACH = "approach", "Approach"
    DOCUMENT = "document", "Document"


class Skill(models.Model):
    """A skill. `override` is empty if the file's text is used.

    `overridden_sha256` is the hash of the file's text that the override replaced: if it differs from
    `file_sha256`, the file has changed since.
    """

    name = models.SlugField(max_length=64, unique=True)
    kind = models.CharField(max_length=16, choices=SkillKind)
    description = models.CharField(max_length=200)
    signals = models.JSONField(default=list, blank=True)
    tools = models.JSONField(default=list, blank=True)
    file_text = models.TextField()
    file_sha256 = models.CharField(max_length=64)
    override = models.TextField(
        blank=True,
        default="",
        verbose_name="text of your own",
        help_text="Used instead of the file's. Empty: the file holds.",
    )
    overridden_sha256 = models.CharField(max_length=64, blank=True, default="")
    is_retired = models.BooleanField(default=False, help_text="It has no file any more and isn't used.")
    updated_at = models.DateTimeField(auto_now=True)
    history = HistoricalRecords(excluded_fields=["updated_at"])

    # The history reads it when the row is saved.
    _history_user: User | None
    _change_reason: str

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

    @property
    def text(self) -> str:
        return self.override or self.file_text

    def save_with_reason(self, *, editor: User | None, reason: str) -> None:
        self._history_user = editor
        self._change_reason = reason
        self.save()

    @property
    def is_overridden(self) -> bool:
        return bool(self.override)

    @property
    def has_file_changed(self) -> bool:
        return self.is_overridden and self.overridden_sha256 != self.file_sha256
