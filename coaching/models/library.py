"""The library: whose documents there are, what was found in them, and what followed.

A row's client and project belong to the same user as the row itself: migration 0015 has the constraints.

Longer than other modules, since the tables refer to each other.
"""

import uuid

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import gettext, gettext_noop, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from sessions_app.owned import Owned

OWN_NAME = gettext_noop("Me")
"""The name of the client that is the user, until they change it."""


class ClientType(models.TextChoices):
    """Whom documents are about. The first client of a user is the user."""

    SELF = "self", _("Me")
    PERSON = "person", _("Person")
    HOUSEHOLD = "household", _("Household")
    COMPANY = "company", _("Company")


class ClientStatus(models.TextChoices):
    """Whether a client is worked for."""

    ACTIVE = "active", _("Active")
    PROSPECT = "prospect", _("Prospect")
    ARCHIVED = "archived", _("Archived")


class Client(Owned):
    """Somebody that documents are about."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="clients")
    name = models.CharField(max_length=120)
    client_type = models.CharField(max_length=16, choices=ClientType, default=ClientType.PERSON)
    status = models.CharField(max_length=16, choices=ClientStatus, default=ClientStatus.ACTIVE)
    notes = models.TextField(blank=True, default="", max_length=2_000)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint("user", Lower("name"), name="client_name_once_per_user"),
            models.UniqueConstraint(
                fields=["user"], condition=Q(client_type=ClientType.SELF), name="client_self_once_per_user"
            ),
            models.UniqueConstraint(fields=["id", "user"], name="client_of_user"),
            models.CheckConstraint(condition=Q(client_type__in=ClientType.values), name="client_type_known"),
            models.CheckConstraint(condition=Q(status__in=ClientStatus.values), name="client_status_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_name(self) -> str:
        """The name for pages, in the language that is active."""
        return gettext(OWN_NAME) if self.name == OWN_NAME else self.name


class ProjectStatus(models.TextChoices):
    """Whether a project is worked on."""

    ACTIVE = "active", _("Active")
    ARCHIVED = "archived", _("Archived")


class Project(Owned):
    """A matter of a client with documents of its own."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="library_projects"
    )
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="projects")
    name = models.CharField(max_length=120)
    status = models.CharField(max_length=16, choices=ProjectStatus, default=ProjectStatus.ACTIVE)
    notes = models.TextField(blank=True, default="", max_length=2_000)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint("client", Lower("name"), name="project_name_once_per_client"),
            models.UniqueConstraint(fields=["id", "client"], name="project_of_client"),
            models.CheckConstraint(condition=Q(status__in=ProjectStatus.values), name="project_status_known"),
        ]

    def __str__(self) -> str:
        return self.name


class DocumentState(models.TextChoices):
    """Where a document is on its way, or how it ended."""

    QUEUED = "queued", _("Queued")
    READING = "reading", _("Reading")
    WAITING = "waiting", _("Waiting")
    FILED = "filed", _("Filed")
    REVIEW = "review", _("Needs review")
    DUPLICATE = "duplicate", _("Duplicate")
    FAILED = "failed", _("Failed")
    REFUSED = "refused", _("Not accepted")


UNFINISHED_STATES = (DocumentState.QUEUED, DocumentState.READING, DocumentState.WAITING)


class DocumentSource(models.TextChoices):
    """How a document came in."""

    UPLOAD = "upload", "Upload"
    CHAT = "chat", "Conversation"
    COMMAND = "command", "Command"


class FilingLevel(models.TextChoices):
    """Whether a document is filed with a client or with a project."""

    CLIENT = "client", "Client"
    PROJECT = "project", "Project"


class DecidedBy(models.TextChoices):
    """Who decided what a document is."""

    MODEL = "model", "Sage"
    CRITIC = "critic", _("Sage, on a second reading")
    USER = "user", _("You")


class Document(Owned):
    """A document and what is known of it. Its bytes lie under `storage_key`, its text in `DocumentText`.

    `reason` says why it waits, is to be reviewed, or ended without being filed; `why`, why it was filed so.
    `key_facts` are `{name, value, quote?, page?}`, `alternatives` are `{file_type, confidence}`, and
    `proposal` is what a model suggested that isn't in the vocabulary.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="documents")
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="documents")
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="documents"
    )
    session = models.ForeignKey(
        "sessions_app.Session", null=True, blank=True, on_delete=models.SET_NULL, related_name="documents"
    )
    source = models.CharField(max_length=16, choices=DocumentSource, default=DocumentSource.UPLOAD)
    batch = models.UUIDField(default=uuid.uuid4, help_text="Of the upload that it came with.")
    name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    sha256 = models.CharField(max_length=64, blank=True, default="")
    storage_key = models.CharField(
        max_length=255, null=True, blank=True, unique=True, help_text="Null if it was refused unread."
    )
    content_type = models.CharField(max_length=100, blank=True, default="", help_text="By its content.")
    is_withheld = models.BooleanField(default=False, help_text="Never sent to the model.")

    state = models.CharField(max_length=16, choices=DocumentState, default=DocumentState.QUEUED)
    reason = models.CharField(max_length=500, blank=True, default="")
    attempts = models.PositiveIntegerField(default=0)
    claim = models.CharField(max_length=100, blank=True, default="", help_text="Who reads it now.")
    claimed_at = models.DateTimeField(null=True, blank=True)
    page_count = models.PositiveIntegerField(default=0)

    file_type = models.CharField(max_length=64, blank=True, default="")
    category = models.CharField(max_length=64, blank=True, default="")
    folder = models.CharField(max_length=120, blank=True, default="")
    level = models.CharField(max_length=16, choices=FilingLevel, blank=True, default="")
    tags = models.JSONField(default=list, blank=True)
    summary = models.TextField(blank=True, default="")
    key_facts = models.JSONField(default=list, blank=True)
    confidence = models.FloatField(null=True, blank=True)
    why = models.TextField(blank=True, default="")
    alternatives = models.JSONField(default=list, blank=True)
    proposal = models.JSONField(default=dict, blank=True)
    decided_by = models.CharField(max_length=16, choices=DecidedBy, blank=True, default="")

    duplicate_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="duplicates"
    )
    similar_to = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="similar"
    )
    similarity = models.FloatField(null=True, blank=True)

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    read_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["id", "user"], name="document_of_user"),
            models.CheckConstraint(condition=Q(state__in=DocumentState.values), name="document_state_known"),
            models.CheckConstraint(
                condition=Q(source__in=DocumentSource.values), name="document_source_known"
            ),
            models.CheckConstraint(
                condition=Q(level="") | Q(level__in=FilingLevel.values), name="document_level_known"
            ),
            models.CheckConstraint(
                condition=Q(storage_key__isnull=False) | Q(state=DocumentState.REFUSED),
                name="document_stored_unless_refused",
            ),
            models.CheckConstraint(
                condition=~Q(level=FilingLevel.PROJECT) | Q(project__isnull=False),
                name="document_at_project_level_has_project",
            ),
            models.CheckConstraint(
                condition=~Q(state=DocumentState.FILED) | ~Q(folder=""), name="document_filed_has_folder"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[DocumentState.FAILED, DocumentState.REFUSED]) | ~Q(reason=""),
                name="document_unread_has_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["user", "client", "folder", "-created_at"], name="document_folder"),
            models.Index(fields=["user", "state", "-created_at"], name="document_state"),
            models.Index(fields=["user", "sha256"], name="document_bytes"),
            models.Index(fields=["user", "batch"], name="document_batch"),
            # What prompts count and name, without reading the rows, which are wide.
            models.Index(
                fields=["user", "-created_at", "-id"],
                include=["client", "project", "state"],
                condition=Q(is_withheld=False)
                & ~Q(state__in=[DocumentState.DUPLICATE, DocumentState.REFUSED, DocumentState.FAILED]),
                name="document_headlines",
            ),
            models.Index(
                fields=["user"], include=["id"], condition=Q(is_withheld=True), name="document_withheld"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class DocumentText(Owned):
    """The text of a document, its pages separated by form feeds.

    `pages_read` are the numbers of the pages in `text`, empty if all are. `fingerprint` finds near-same
    texts.
    """

    owner_path = "document__user"

    document = models.OneToOneField(Document, on_delete=models.CASCADE, primary_key=True, related_name="text")
    text = models.TextField(blank=True, default="")
    pages_read = models.JSONField(default=list, blank=True)
    hints = models.JSONField(default=dict, blank=True)
    fingerprint = models.JSONField(default=list, blank=True)

    class Meta:
        indexes = [
            GinIndex(fields=["fingerprint"], opclasses=["jsonb_path_ops"], name="document_text_fingerprint"),
        ]

    def __str__(self) -> str:
        return f"text of document {self.document_id}"


class DocumentImage(Owned):
    """A picture as models are shown it: of bounded size, without metadata. It never changes."""

    owner_path = "document__user"

    document = models.OneToOneField(
        Document, on_delete=models.CASCADE, primary_key=True, related_name="image"
    )
    media_type = models.CharField(max_length=32)
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"image of document {self.document_id}"


class CallPurpose(models.TextChoices):
    """What a call about documents is for."""

    CLASSIFY = "classify", "Classification"
    CRITIC = "critic", "Second reading"
    SUMMARY = "summary", "Summary"
    TRANSCRIPT = "transcript", "Transcript"


class CallState(models.TextChoices):
    """How far a call has come."""

    OPEN = "open", "Open"
    ANSWERED = "answered", "Answered"
    FAILED = "failed", "Failed"


class DocumentCall(Owned):
    """A model call about documents of one client, with its tool rounds: once answered, it isn't sent again.

    `key` names the same call after a restart. `request` and `rounds` are canonical JSON text.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="document_calls"
    )
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="calls")
    purpose = models.CharField(max_length=16, choices=CallPurpose)
    key = models.CharField(max_length=100)
    documents = models.JSONField(default=list, help_text="Their ids, in the order in which they are sent.")
    used = models.JSONField(default=list, help_text="The ids of those for which the answer was used.")
    state = models.CharField(max_length=16, choices=CallState, default=CallState.OPEN)
    request = models.TextField(blank=True, default="")
    rounds = models.TextField(blank=True, default="")
    answer = models.TextField(blank=True, default="")
    error = models.CharField(max_length=500, blank=True, default="")
    attempts = models.PositiveIntegerField(default=0)
    batch = models.CharField(max_length=100, blank=True, default="", help_text="The model API's batch.")
    prefix = models.CharField(max_length=64, blank=True, default="", help_text="Of its tools and system.")
    prompt_tokens = models.PositiveIntegerField(default=0, help_text="An estimate.")
    sent_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="document_call_once"),
            models.CheckConstraint(
                condition=Q(purpose__in=CallPurpose.values), name="document_call_purpose_known"
            ),
            models.CheckConstraint(condition=Q(state__in=CallState.values), name="document_call_state_known"),
        ]
        indexes = [
            models.Index(fields=["state", "batch"], name="document_call_open"),
            models.Index(fields=["prefix", "-sent_at"], name="document_call_prefix"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.key}"

    def is_for(self, document_id: int) -> bool:
        """Return whether the answer hasn't been used for this document yet."""
        return document_id in self.documents and document_id not in self.used


class CallUsage(Owned):
    """A reply that a call about documents took and that was paid for."""

    owner_path = "usage__user"

    usage = models.OneToOneField(
        "sessions_app.ModelUsage", on_delete=models.CASCADE, primary_key=True, related_name="document_call"
    )
    call = models.ForeignKey(DocumentCall, on_delete=models.CASCADE, related_name="replies_paid")

    class Meta:
        verbose_name_plural = "usage of document calls"

    def __str__(self) -> str:
        return f"usage {self.usage_id} of call {self.call_id}"


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

    `origin_key` stays the same when a document is read again.
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


class DocumentCorrection(Owned):
    """A person's correction of a type or folder, which later calls get as an example."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="document_corrections"
    )
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="corrections")
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.CASCADE, related_name="corrections"
    )
    name = models.CharField(max_length=255)
    excerpt = models.CharField(max_length=500, blank=True, default="")
    from_type = models.CharField(max_length=64, blank=True, default="")
    to_type = models.CharField(max_length=64)
    to_folder = models.CharField(max_length=120, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.from_type} is {self.to_type}"


class EffectKind(models.TextChoices):
    """What was changed in the library."""

    FILED = "filed", _("Filed")
    MOVED = "moved", _("Moved")
    CORRECTED = "corrected", _("Corrected")
    RENAMED = "renamed", _("Renamed")
    WITHHELD = "withheld", _("AI model access changed")
    KNOWLEDGE_CREATED = "knowledge_created", _("Knowledge added")
    KNOWLEDGE_CHANGED = "knowledge_changed", _("Knowledge changed")
    ACTION_CREATED = "action_created", _("Action item added")
    ACTION_CHANGED = "action_changed", _("Action item changed")


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


class StandingYes(Owned):
    """A kind of write that the user accepts without being asked: an `EntryType`, or `action_item`."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="standing_yeses"
    )
    kind = models.CharField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "standing yeses"
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="standing_yes_once"),
            models.CheckConstraint(
                condition=Q(kind__in=[*EntryType.values, "action_item"]), name="standing_yes_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return self.kind


class SessionScope(Owned):
    """The client, and perhaps the project, that a conversation was opened from."""

    owner_path = "session__user"

    session = models.OneToOneField(
        "sessions_app.Session", on_delete=models.CASCADE, primary_key=True, related_name="scope"
    )
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="scopes")
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="scopes"
    )

    def __str__(self) -> str:
        return f"scope of session {self.session_id}"


class ReferenceArea(models.TextChoices):
    """What part of the world a type of document comes from."""

    REAL_ESTATE = "real_estate", "Real estate"
    LIFE = "life", "A person's life"


class Recorded(models.Model):
    """A row with a history that says who changed it and why."""

    # The history reads them when the row is saved or deleted.
    _history_user: User | None
    _change_reason: str

    class Meta:
        abstract = True

    def save_with_reason(self, *, editor: User | None, reason: str) -> None:
        self._history_user, self._change_reason = editor, reason
        self.save()

    def delete_with_reason(self, *, editor: User | None, reason: str) -> None:
        self._history_user, self._change_reason = editor, reason
        self.delete()


class Reference(Recorded):
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

    @property
    def text(self) -> str:
        return self.override or self.file_text

    @property
    def is_overridden(self) -> bool:
        return bool(self.override)

    @property
    def has_file_changed(self) -> bool:
        return self.is_overridden and self.overridden_sha256 != self.file_sha256


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
