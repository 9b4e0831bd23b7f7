"""Documents: their states, texts and pictures, and what people corrected."""

import uuid

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from coaching.library.models.clients import Client, Project
from sessions_app.owned import Owned


class DocumentState(models.TextChoices):
    """Where a document is on its way, or how it ended."""

    QUEUED = "queued", _("Queued")
    READING = "reading", _("Reading")
    WAITING = "waiting", _("Waiting")
    UNREAD = "unread", _("Not read yet")
    FILED = "filed", _("Filed")
    REVIEW = "review", _("Needs review")
    DUPLICATE = "duplicate", _("Duplicate")
    FAILED = "failed", _("Failed")
    REFUSED = "refused", _("Not accepted")


UNFINISHED_STATES = (DocumentState.QUEUED, DocumentState.READING, DocumentState.WAITING)
IS_UNHEARD = Q(content_type__startswith="audio/", read_at=None)
"""A recording that isn't words yet. What was just taken in isn't known to be one."""


class DocumentSource(models.TextChoices):
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
    `reading_note` says what of it isn't in the text, or is odd: sentences stored as those of `reason` are.
    `key_facts` are `{name, value, quote?, page?}`, `dropped_facts` is how many others the text doesn't bear
    out, `alternatives` are `{file_type, confidence}`, and `proposal` is what a model suggested that isn't in
    the vocabulary. `import_project` is the project of the other app that it was imported from.
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
    is_on_hold = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Came with an import; Sage doesn't read it by itself until its person lets it.",
    )

    state = models.CharField(max_length=16, choices=DocumentState, default=DocumentState.QUEUED)
    reason = models.CharField(max_length=500, blank=True, default="")
    attempts = models.PositiveIntegerField(default=0)
    claim = models.CharField(max_length=100, blank=True, default="", help_text="Who reads it now.")
    claimed_at = models.DateTimeField(null=True, blank=True)
    page_count = models.PositiveIntegerField(default=0)
    reading_note = models.CharField(max_length=500, blank=True, default="", db_default="")

    file_type = models.CharField(max_length=64, blank=True, default="")
    category = models.CharField(max_length=64, blank=True, default="")
    folder = models.CharField(max_length=120, blank=True, default="")
    level = models.CharField(max_length=16, choices=FilingLevel, blank=True, default="")
    tags = models.JSONField(default=list, blank=True)
    summary = models.TextField(blank=True, default="")
    key_facts = models.JSONField(default=list, blank=True)
    facts_found_at = models.DateTimeField(
        null=True, blank=True, help_text="When the key facts were taken from the whole text."
    )
    # In the database, too: processes of the version before, which don't know the column, store documents.
    dropped_facts = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Facts that were left out because the text doesn't have them."
    )
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
    part_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="attachments",
        help_text="The email that it was attached to.",
    )  # fmt: skip

    made_by_import = models.ForeignKey(
        "coaching.Import", null=True, blank=True, on_delete=models.SET_NULL, related_name="documents"
    )
    import_project = models.CharField(max_length=200, blank=True, default="", db_default="")

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

    @property
    def is_unheard(self) -> bool:
        """Whether `IS_UNHEARD` holds."""
        return self.content_type.startswith("audio/") and self.read_at is None


class DocumentText(Owned):
    """The text of a document, its pages separated by form feeds.

    `pages_read` are the numbers of the pages in `text`, empty if all are. `page_texts` is what was read from
    the pictures of pages, by number, null for one that couldn't be read; while a document is read, it is
    there before `text` is. `fingerprint` finds near-same texts, and `filled` differs between copies of a form
    with other values.
    """

    owner_path = "document__user"

    document = models.OneToOneField(Document, on_delete=models.CASCADE, primary_key=True, related_name="text")
    text = models.TextField(blank=True, default="")
    pages_read = models.JSONField(default=list, blank=True)
    page_texts = models.JSONField(default=dict, db_default={}, blank=True)
    filled = models.CharField(max_length=32, blank=True, default="", db_default="")
    hints = models.JSONField(default=dict, blank=True)
    fingerprint = models.JSONField(default=list, blank=True)

    class Meta:
        indexes = [
            GinIndex(fields=["fingerprint"], opclasses=["jsonb_path_ops"], name="document_text_fingerprint"),
        ]

    def __str__(self) -> str:
        return f"text of document {self.document_id}"


class DocumentImage(Owned):
    """A picture as models are shown it: of bounded size, without metadata. Its data never changes."""

    owner_path = "document__user"

    document = models.OneToOneField(
        Document, on_delete=models.CASCADE, primary_key=True, related_name="image"
    )
    media_type = models.CharField(max_length=32)
    data = models.BinaryField()
    thumbnail = models.BinaryField(
        default=b"", db_default=b"", help_text="For its person, drawn when it is first shown."
    )

    def __str__(self) -> str:
        return f"image of document {self.document_id}"


class DocumentPage(Owned):
    """A page as its person is shown it, for a week: a WebP image with its words and their boxes.

    `words` are `[text, left, top, right, bottom]` in ten-thousandths of the page. `failure` says why there is
    no image, so that it isn't tried at each look.
    """

    owner_path = "document__user"

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="drawn_pages")
    number = models.PositiveIntegerField()
    data = models.BinaryField(default=b"")
    size = models.PositiveIntegerField(default=0, help_text="Bytes of the image and its words.")
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    page_count = models.PositiveIntegerField(default=0, help_text="Of the document.")
    words = models.JSONField(default=list, blank=True)
    failure = models.CharField(max_length=500, blank=True, default="")
    drawn_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["document", "number"], name="document_page_once"),
        ]
        indexes = [models.Index(fields=["drawn_at"], name="document_page_age")]

    def __str__(self) -> str:
        return f"page {self.number} of document {self.document_id}"


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
