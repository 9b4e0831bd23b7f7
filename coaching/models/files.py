"""The user's files. Every write creates a version; nothing is overwritten.

The version row contains the text, so that context, recall and diff don't read objects; the object is stored
under its own key before the row commits.
"""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from sessions_app.owned import Owned, OwnedQuerySet


class FileType(models.TextChoices):
    """A file's type, which decides its path and who may write it when."""

    DOMAIN = "domain", _("Life domain")
    OVERVIEW = "overview", _("Life map overview")
    LIFE_PLAN = "life-plan", _("Life plan")
    CHECK_IN = "check-in", _("Weekly check-in")
    DAILY_LOG = "daily-log", _("Daily log")
    DAY_PLAN = "day-plan", _("Day plan")
    WEEKLY_PLAN = "weekly-plan", _("Weekly plan")
    SAGE_CONTEXT = "sage-context", _("What Sage knows")
    SAGE_PATTERNS = "sage-patterns", _("Patterns Sage sees")
    CAPTURE = "capture", _("Capture")
    REFLECTION_PROMPT = "reflection-prompt", _("Reflection prompt")
    NOTE = "note", _("Note")
    SAFETY_PLAN = "safety-plan", _("Safety plan")
    LETTER = "letter", _("Letter of the month")


PRIVATE_TYPES: frozenset[FileType] = frozenset({FileType.SAFETY_PLAN})
"""Types of files that are only for the person, and for Sage where a skill says so.

They are in the person's downloads. Nothing else gives their text: no search or recall, letter, slice, token,
operator's page or list with previews.
"""


def is_private(file_type: str) -> bool:
    """Return whether files of a type are only for the person; see `PRIVATE_TYPES`."""
    return file_type in PRIVATE_TYPES


class FileSource(models.TextChoices):
    """Who wrote a version."""

    TOOL = "tool", "Sage"
    USER = "user", "User"
    IMPORT = "import", "Import"
    JOB = "job", "Job"


class UserFile(Owned):
    """A user's file at its newest version. `path` is relative to the user's root.

    A deleted file keeps its rows for some weeks and looks missing everywhere: `of` leaves it out, and its
    path is free.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=255)
    file_type = models.CharField(max_length=32, choices=FileType)
    frontmatter = models.JSONField(default=dict, blank=True)
    title = models.CharField(
        max_length=120, blank=True, default="", db_default="", help_text="Its user's own name for it."
    )
    size = models.PositiveIntegerField(default=0, help_text="Bytes of the newest version.")
    sha256 = models.CharField(max_length=64, blank=True, default="")
    version_number = models.PositiveIntegerField(default=0)
    # `auto_now_add` would replace the times of an import.
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="By its user, who can restore it until the row is deleted."
    )

    kept_plan = models.JSONField(
        null=True, blank=True, help_text="What a deleted plan's day had: `intention` and `priorities`."
    )

    class Meta:
        ordering = ["path"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "path"], condition=Q(deleted_at=None), name="file_path_once_among_present"
            ),
            models.CheckConstraint(condition=Q(file_type__in=FileType.values), name="file_type_known"),
        ]
        indexes = [
            models.Index(fields=["user", "file_type", "-updated_at"], name="file_user_type_recent"),
            models.Index(fields=["deleted_at"], condition=Q(deleted_at__isnull=False), name="file_deleted"),
        ]

    def __str__(self) -> str:
        return self.path

    @classmethod
    def of(cls, user_id: int) -> OwnedQuerySet[Self]:
        """Return the user's files without those that they deleted."""
        return super().of(user_id).filter(deleted_at=None)

    @classmethod
    def deleted_of(cls, user_id: int) -> OwnedQuerySet[Self]:
        """Return the files that the user deleted and can still restore."""
        return super().of(user_id).exclude(deleted_at=None)


class FileUsage(Owned):
    """A user's number of files, documents and photos, and bytes: all versions, and pictures of documents.

    Only database triggers write it.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="file_usage"
    )
    files = models.PositiveIntegerField(default=0)
    bytes = models.PositiveBigIntegerField(default=0, help_text="With all versions.")

    def __str__(self) -> str:
        return f"{self.files} files, {self.bytes} bytes"


class UserFileVersion(Owned):
    """A stored version: frontmatter and body as one text."""

    owner_path = "file__user"

    file = models.ForeignKey(UserFile, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.TextField()
    size = models.PositiveIntegerField(help_text="Bytes.")
    sha256 = models.CharField(max_length=64)
    storage_key = models.CharField(max_length=255, unique=True)
    source = models.CharField(max_length=16, choices=FileSource)
    session = models.ForeignKey(
        "sessions_app.Session", null=True, blank=True, on_delete=models.SET_NULL, related_name="file_versions"
    )
    tool_use_id = models.CharField(max_length=100, blank=True, default="")
    program = models.CharField(
        max_length=60,
        blank=True,
        default="",
        db_default="",
        help_text="The name of the program that wrote it for its user.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["file", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["file", "number"], name="file_version_once"),
            models.CheckConstraint(condition=Q(source__in=FileSource.values), name="file_source_known"),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} version {self.number}"

    @classmethod
    def of(cls, user_id: int) -> OwnedQuerySet[Self]:
        """Return the versions of the user's files without those of deleted ones."""
        return super().of(user_id).filter(file__deleted_at=None)

    @classmethod
    def deleted_of(cls, user_id: int) -> OwnedQuerySet[Self]:
        """Return the versions of files that the user deleted and can still restore."""
        return super().of(user_id).exclude(file__deleted_at=None)
