"""Programs that act for a person: their tokens, and what each may do."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from sessions_app.owned import Owned

MAX_NAME = 60


class Scope(models.TextChoices):
    """What a program may do. No scope includes another."""

    CAPTURE = "capture", _("Add captures")
    READ = "read", _("Read files, next steps, documents and summaries")
    CHAT = "chat", _("Write and read conversations")
    WRITE = "write", _("Change files and next steps")


class ProgramToken(Owned):
    """A personal token. Only the hash of its secret is stored; a revoked one is deleted.

    What a program wrote names it by `name`, so that this stays when the token is gone.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="program_tokens",
        db_constraint=False,  # the migration's own deletes the rows, too
    )
    name = models.CharField(max_length=MAX_NAME)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the secret.")
    scopes = ArrayField(models.CharField(max_length=8, choices=Scope))
    made_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")

    class Meta:
        ordering = ["made_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=Scope.values) & ~Q(scopes=[]),
                name="program_token_scopes_known",
            ),
            models.CheckConstraint(condition=Q(expires_at__gt=F("made_at")), name="program_token_expires"),
        ]

    def __str__(self) -> str:
        return f"token {self.pk}"
