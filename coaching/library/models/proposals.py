"""What is proposed, accepted or dismissed: knowledge entries and next steps."""

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
    PROGRAM = "program", _("Another program")


class EntryType(models.TextChoices):
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
    """How urgent a next step is."""

    LOW = "low", pgettext_lazy("priority", "Low")
    MEDIUM = "medium", pgettext_lazy("priority", "Medium")
    HIGH = "high", pgettext_lazy("priority", "High")


class ActionState(models.TextChoices):
    """How far a next step has come."""

    PROPOSED = "proposed", _("Suggested")
    OPEN = "open", pgettext_lazy("next step", "Open")
    DONE = "done", _("Done")
    DROPPED = "dropped", pgettext_lazy("next step", "Dropped")
    DISMISSED = "dismissed", _("Dismissed")


class ActionOrigin(models.TextChoices):
    """What a next step comes from."""

    CONVERSATION = "conversation", _("From a conversation")
    DOCUMENT = "document", _("From a document")
    TRANSCRIPT = "transcript", _("From a transcript")
    PERSON = "person", _("Added by you")
    IMPORT = "import", _("Imported")
    PROGRAM = "program", _("From another program")


class ActionItem(Owned):
    """A next step: something to do, whoever said it.

    `quote` is the sentence that it comes from, which stands in message `message_number` of the session or on
    a page of the document; `due_words` are the words of its date. `due_time` is on the person's clock. With
    `repeats` (see `coaching.steps.repeats`) it moves to its next date when it is done; `month_day` is the day
    that a monthly step means where its date is the last one of a shorter month. `outcome` is what the person
    said of how it went. `asked_for` is the due date after which Sage asked, in the session `asked_in`.
    """

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
    due_time = models.TimeField(null=True, blank=True)
    due_words = models.CharField(max_length=200, blank=True, default="")
    repeats = models.CharField(max_length=32, blank=True, default="", db_default="")
    month_day = models.SmallIntegerField(null=True, blank=True, editable=False)
    priority = models.CharField(max_length=16, choices=ActionPriority, default=ActionPriority.MEDIUM)
    owner = models.CharField(max_length=120, blank=True, default="")
    quote = models.TextField(blank=True, default="")
    message_number = models.PositiveIntegerField(null=True, blank=True)
    page = models.PositiveIntegerField(null=True, blank=True)
    state = models.CharField(max_length=16, choices=ActionState, default=ActionState.OPEN)
    origin = models.CharField(
        max_length=16, choices=ActionOrigin, default=ActionOrigin.PERSON, db_default=ActionOrigin.PERSON
    )
    origin_key = models.CharField(max_length=100, blank=True, default="")
    outcome = models.TextField(blank=True, default="", db_default="")
    done_at = models.DateTimeField(null=True, blank=True)
    asked_for = models.DateField(null=True, blank=True, editable=False)
    asked_in = models.UUIDField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "next step"
        ordering = ["due_date", "-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "origin_key"], condition=~Q(origin_key=""), name="action_origin_once"
            ),
            models.CheckConstraint(
                condition=Q(priority__in=ActionPriority.values), name="action_priority_known"
            ),
            models.CheckConstraint(condition=Q(state__in=ActionState.values), name="action_state_known"),
            models.CheckConstraint(condition=Q(origin__in=ActionOrigin.values), name="action_origin_known"),
            models.CheckConstraint(
                condition=Q(state=ActionState.DONE, done_at__isnull=False)
                | ~Q(state=ActionState.DONE) & Q(done_at__isnull=True),
                name="action_done_has_time",
            ),
            models.CheckConstraint(
                condition=Q(due_date__isnull=False) | Q(repeats="", due_time__isnull=True),
                name="action_time_has_date",
            ),
            models.CheckConstraint(
                condition=Q(month_day=None) | Q(month_day__range=(1, 31)), name="action_month_day_known"
            ),
        ]
        indexes = [models.Index(fields=["user", "state", "due_date"], name="action_due")]

    def __str__(self) -> str:
        return self.title


class StepChangeKind(models.TextChoices):
    """What became of a next step."""

    DONE = "done", _("Done")
    DROPPED = "dropped", pgettext_lazy("next step", "Dropped")
    REOPENED = "reopened", pgettext_lazy("next step", "Opened again")
    MOVED = "moved", pgettext_lazy("next step", "Moved")


class StepChange(Owned):
    """The history of a next step: that it was done, dropped, moved or opened again, and what was said of it.

    `due_date` is the one that it had then. `quote` is the sentence that it rests on, in message
    `message_number` of the session. Undoing the `effect` deletes the change.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="step_changes")
    action_item = models.ForeignKey(ActionItem, on_delete=models.CASCADE, related_name="changes")
    effect = models.ForeignKey(
        "coaching.LibraryEffect",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="step_changes",
    )
    session = models.ForeignKey(
        "sessions_app.Session", null=True, blank=True, on_delete=models.SET_NULL, related_name="step_changes"
    )
    kind = models.CharField(max_length=16, choices=StepChangeKind)
    due_date = models.DateField(null=True, blank=True)
    outcome = models.TextField(blank=True, default="", db_default="")
    quote = models.TextField(blank=True, default="", db_default="")
    message_number = models.PositiveIntegerField(null=True, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=StepChangeKind.values), name="step_change_known"),
        ]
        indexes = [models.Index(fields=["user", "-at"], name="step_change_recent")]

    def __str__(self) -> str:
        return f"{self.kind} {self.at:%Y-%m-%d}"


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
