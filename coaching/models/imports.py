"""Imports of what a person has written elsewhere: conversations, files, ratings."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions_app.owned import Owned


class ImportState(models.TextChoices):
    """How far an import has come; `waiting`, `running` and `undoing` are unfinished."""

    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"
    UNDOING = "undoing", "Being undone"
    UNDONE = "undone", "Undone"


UNFINISHED_IMPORTS = (ImportState.WAITING, ImportState.RUNNING, ImportState.UNDOING)
UNDOABLE_IMPORTS = (ImportState.FINISHED, ImportState.FAILED, ImportState.CANCELLED)


class ImportFormat(models.TextChoices):
    """Whose export a file is."""

    SAGE = "sage", "Sage"
    CHATGPT = "chatgpt", "ChatGPT"
    CLAUDE = "claude", "Claude"


class Import(Owned):
    """One import of a file, with what it made and what it couldn't read.

    `counts` are those of `import_legacy --json`. `problems` and `kept` (what an undo left, because its user
    changed it) are lists of `{"where", "text"}`; `left_behind` is what its file has besides, by kind:
    `{"count", "named": [{"name", "where", "count"}]}`. `about` is what the other app knew about the person,
    as `coaching.legacy.about` proposes it. `documents_held` are ids of its documents that an earlier import
    has brought. `profile` holds the fields that it filled. An uploaded file is
    stored under `storage_key` until the import ends. The process that runs it reads `is_cancelling` every
    second. `stuck_seconds` of processor time have gone into reading since its `stuck_at`-th item was read:
    they count on after a restart.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imports")
    state = models.CharField(max_length=16, choices=ImportState, default=ImportState.RUNNING)
    file_name = models.CharField(max_length=255)
    file_format = models.CharField(max_length=16, choices=ImportFormat, blank=True, default="")
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes.")
    sha256 = models.CharField(max_length=64, blank=True, default="")
    storage_key = models.CharField(max_length=255, blank=True, default="")
    counts = models.JSONField(default=dict, blank=True)
    problems = models.JSONField(default=list, blank=True)
    left_behind = models.JSONField(default=dict, db_default={}, blank=True)
    about = models.JSONField(default=dict, db_default={}, blank=True)
    documents_held = models.JSONField(default=list, db_default=[], blank=True)
    problem_count = models.PositiveIntegerField(default=0)
    profile = models.JSONField(default=dict, blank=True)
    done = models.PositiveIntegerField(default=0, help_text="Conversations so far.")
    total = models.PositiveIntegerField(default=0, help_text="Conversations in the file.")
    checked_percent = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="How far the file is checked."
    )
    is_cancelling = models.BooleanField(default=False, db_default=False)
    stuck_at = models.PositiveIntegerField(default=0, db_default=0)
    stuck_seconds = models.FloatField(default=0, db_default=0)
    brief_tokens = models.PositiveBigIntegerField(
        default=0, help_text="What writing the briefs of its conversations would read."
    )
    failure = models.CharField(max_length=300, blank=True, default="", help_text="A sentence for the person.")
    kept = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user"], condition=Q(state__in=UNFINISHED_IMPORTS), name="import_one_at_a_time"
            ),
            models.CheckConstraint(condition=Q(state__in=ImportState.values), name="import_state_known"),
            models.CheckConstraint(
                condition=Q(file_format="") | Q(file_format__in=ImportFormat.values),
                name="import_format_known",
            ),
        ]

    def __str__(self) -> str:
        return f"import {self.pk}"

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED_IMPORTS
