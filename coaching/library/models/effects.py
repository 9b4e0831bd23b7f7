"""Effects: an audit row for each change in the library, with which it is undone."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from coaching.library.models.documents import Document
from coaching.library.models.proposals import ActionItem, KnowledgeEntry, MadeBy
from sessions_app.owned import Owned


class EffectKind(models.TextChoices):
    FILED = "filed", _("Filed")
    MOVED = "moved", _("Moved")
    CORRECTED = "corrected", _("Corrected")
    RENAMED = "renamed", _("Renamed")
    WITHHELD = "withheld", _("AI model access changed")
    FACTS_FOUND = "facts_found", _("Facts found")
    KNOWLEDGE_CREATED = "knowledge_created", _("Knowledge added")
    KNOWLEDGE_CHANGED = "knowledge_changed", _("Knowledge changed")
    ACTION_CREATED = "action_created", _("Next step added")
    ACTION_CHANGED = "action_changed", _("Next step changed")


class LibraryEffect(Owned):
    """The audit row of one change: the fields of the row that it changed, before and after.

    `before` is empty for a new row. Undoing sets `undone_at` and brings the fields of `before` back.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="library_effects"
    )
    kind = models.CharField(max_length=32, choices=EffectKind)
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.CASCADE, related_name="effects"
    )
    entry = models.ForeignKey(
        KnowledgeEntry, null=True, blank=True, on_delete=models.CASCADE, related_name="effects"
    )
    action_item = models.ForeignKey(
        ActionItem, null=True, blank=True, on_delete=models.CASCADE, related_name="effects"
    )
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)
    made_by = models.CharField(max_length=16, choices=MadeBy)
    tool_use_id = models.CharField(max_length=100, blank=True, default="")
    program = models.CharField(
        max_length=60,
        blank=True,
        default="",
        db_default="",
        help_text="The name of the program that made the change for its user.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=EffectKind.values), name="effect_kind_known"),
            models.CheckConstraint(condition=Q(made_by__in=MadeBy.values), name="effect_made_by_known"),
        ]
        indexes = [models.Index(fields=["user", "-created_at"], name="effect_recent")]

    def __str__(self) -> str:
        return f"{self.kind} {self.created_at:%Y-%m-%d}"
