"""What is proposed, accepted or dismissed: knowledge entries and action items."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from coaching.library.models.clients import Client, Project
from coaching.library.models.documents import Document
from sessions_app.owned import Owned


class MadeBy(models.TextChoices):
    """Who wrote something into the library."""

    PIPELINE = "pipeline", _("Sage, from a document")
    CHAT = "chat", _("Sage, in a conversation")
    USER = "user", _("You")


class EntryType(models.TextChoices):
    """What a knowledge entry is."""

    DOCUMENT_SUMMARY = "document_summary", _("Document summary")
    DEAL_UPDATE = "deal_update", pgettext_lazy("knowledge entry", "Update")
    CALL_TRANSCRIPT = "call_transcript", pgettext_lazy("knowledge entry", "Call")
    NOTE = "note", pgettext_lazy("knowledge entry", "Note")


class EntryState(models.TextChoices):
    """Whether the user has accepted an entry."""

    PROPOSED = "proposed", _("Suggested")
    ACCEPTED = "accepted", _("Accepted")
    DISMISSED = "dismissed", _("Dismissed")


class KnowledgeEntry(Owned):
    """Something that the library knows about a client.

    `quote` is the sentence that it comes from. `origin_key` stays the same when a document is read again.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="knowledge")
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="knowledge")
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="knowledge"
    )
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.SET_NULL, related_name="knowledge"
    )
    session = models.ForeignKey(
        "sessions_app.Session", null=True, blank=True, on_delete=models.SET_NULL, related_name="knowledge"
    )
    title = models.CharField(max_length=200)
    content = models.TextField()
    entry_type = models.CharField(max_length=32, choices=EntryType, default=EntryType.NOTE)
    key_points = models.JSONField(default=list, blank=True)
    tags = models.JSONField(default=list, blank=True)
    quote = models.TextField(blank=True, default="")
    page = models.PositiveIntegerField(null=True, blank=True)
    state = models.CharField(max_length=16, choices=EntryState, default=EntryState.ACCEPTED)
    made_by = models.CharField(max_length=16, choices=MadeBy, default=MadeBy.USER)
    origin_key = models.CharField(max_length=100, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "knowledge entries"
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "origin_key"], condition=~Q(origin_key=""), name="entry_origin_once"
            ),
            models.CheckConstraint(condition=Q(entry_type__in=EntryType.values), name="entry_type_known"),
            models.CheckConstraint(condition=Q(state__in=EntryState.values), name="entry_state_known"),
            models.CheckConstraint(condition=Q(made_by__in=MadeBy.values), name="entry_made_by_known"),
        ]
        indexes = [models.Index(fields=["user", "client", "-created_at"], name="entry_recent")]

    def __str__(self) -> str:
        return self.title


class ActionPriority(models.TextChoices):
    """How urgent an action item is."""

    LOW = "low", pgettext_lazy("priority", "Low")
    MEDIUM = "medium", pgettext_lazy("priority", "Medium")
    HIGH = "high", pgettext_lazy("priority", "High")


class ActionState(models.TextChoices):
    """How far an action item has come."""

    PROPOSED = "proposed", _("Suggested")
    OPEN = "open", pgettext_lazy("action item", "Open")
    DONE = "done", _("Done")
    DISMISSED = "dismissed", _("Dismissed")


class ActionItem(Owned):
    """Something to do. `quote` is the sentence that it comes from, `due_words` the words of its date."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="action_items")
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="action_items")
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="action_items"
    )
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.SET_NULL, related_name="action_items"
    )
    session = models.ForeignKey(
        "sessions_app.Session", null=True, blank=True, on_delete=models.SET_NULL, related_name="action_items"
    )
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="")
    due_date = models.DateField(null=True, blank=True)
    due_words = models.CharField(max_length=200, blank=True, default="")
    priority = models.CharField(max_length=16, choices=ActionPriority, default=ActionPriority.MEDIUM)
    owner = models.CharField(max_length=120, blank=True, default="")
    quote = models.TextField(blank=True, default="")
    page = models.PositiveIntegerField(null=True, blank=True)
    state = models.CharField(max_length=16, choices=ActionState, default=ActionState.OPEN)
    made_by = models.CharField(max_length=16, choices=MadeBy, default=MadeBy.USER)
    origin_key = models.CharField(max_length=100, blank=True, default="")
    done_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["due_date", "-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "origin_key"], condition=~Q(origin_key=""), name="action_origin_once"
            ),
            models.CheckConstraint(
                condition=Q(priority__in=ActionPriority.values), name="action_priority_known"
            ),
            models.CheckConstraint(condition=Q(state__in=ActionState.values), name="action_state_known"),
            models.CheckConstraint(condition=Q(made_by__in=MadeBy.values), name="action_made_by_known"),
            models.CheckConstraint(
                condition=Q(state=ActionState.DONE, done_at__isnull=False)
                | ~Q(state=ActionState.DONE) & Q(done_at__isnull=True),
                name="action_done_has_time",
            ),
        ]
        indexes = [models.Index(fields=["user", "state", "due_date"], name="action_due")]

    def __str__(self) -> str:
        return self.title


class AutoApproval(Owned):
    """A kind of proposal that the user accepts without being asked: an `EntryType`, or `action_item`."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="auto_approvals"
    )
    kind = models.CharField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="auto_approval_once"),
            models.CheckConstraint(
                condition=Q(kind__in=[*EntryType.values, "action_item"]), name="auto_approval_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return self.kind
