"""The index that recall searches: rows that triggers derive from what was said, files and the library.

Nothing in Python writes passages, so no writer can forget to: `coaching/migrations/_recall_triggers.py` does.
A job writes their vectors.
"""

from django.conf import settings
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Q

from sessions_app.owned import Owned


class RecallSource(models.TextChoices):
    """What a passage was taken from."""

    MESSAGE = "message", "Message"
    TOOL = "tool", "Tool call"
    SUMMARY = "summary", "Summary"
    BRIEF = "brief", "Brief"
    FILE = "file", "File"
    DOCUMENT = "document", "Document"
    WITHHELD_DOCUMENT = "document_withheld", "Document that the model never gets"
    KNOWLEDGE = "knowledge", "Knowledge"
    WITHHELD_KNOWLEDGE = "knowledge_withheld", "Knowledge that the model never gets"
    STEP = "step", "Next step"
    WITHHELD_STEP = "step_withheld", "Next step that the model never gets"


WITHHELD_SOURCES = frozenset(
    {RecallSource.WITHHELD_DOCUMENT, RecallSource.WITHHELD_KNOWLEDGE, RecallSource.WITHHELD_STEP}
)
"""What only a page may show."""


class RecallPassage(Owned):
    """The words of one passage: at most 1,260 characters of one of the sources.

    `lexemes` holds stems with their positions, and without positions each word that differs from its stem and
    each pair of characters of a script without word breaks. `part` is 0 for a message's text and n for its
    n-th tool call; 0 for a session's summary and n for that of its n-th arc; 0 for what is known of a
    document and n for its page n. `file_id` is the id of a file, document, knowledge entry or step, by
    source. Triggers delete a row together with what it was made from: more foreign keys would cost each
    message that is indexed a lookup per key.
    """

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="recall_passages"
    )
    source = models.CharField(max_length=24, choices=RecallSource)
    session_id = models.UUIDField(null=True)
    message_id = models.BigIntegerField(null=True)
    file_id = models.BigIntegerField(null=True)
    number = models.PositiveIntegerField(default=0, help_text="The message's number; 0 if it is none.")
    part = models.PositiveSmallIntegerField(default=0)
    piece = models.PositiveSmallIntegerField(default=0)
    is_by_user = models.BooleanField(default=False)
    length = models.PositiveSmallIntegerField(help_text="Different stems.")
    moment = models.DateTimeField()
    lexemes = SearchVectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "message_id", "part", "piece"], name="recall_message_once"
            ),
            models.UniqueConstraint(
                fields=["user", "file_id", "source", "part", "piece"],
                condition=Q(file_id__isnull=False),
                name="recall_record_part_once",
            ),
            models.UniqueConstraint(
                fields=["user", "session_id", "source", "part", "piece"],
                condition=Q(message_id__isnull=True, session_id__isnull=False),
                name="recall_session_part_once",
            ),
            models.CheckConstraint(condition=Q(source__in=RecallSource.values), name="recall_source_known"),
        ]

    def __str__(self) -> str:
        return f"{self.source} passage {self.pk}"


class VectorField(models.TextField):  # type: ignore[type-arg]  # not generic at run time
    """A vector as text. Its column becomes pgvector's before the first are stored."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "bytea"


class RecallVector(Owned):
    """The vector of a passage, made by the model that SAGE_EMBEDDING_MODEL names.

    A foreign key of the database deletes it together with its passage.
    """

    passage = models.OneToOneField(
        RecallPassage,
        on_delete=models.DO_NOTHING,
        primary_key=True,
        related_name="vector",
        db_constraint=False,
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="recall_vectors"
    )
    model = models.IntegerField(help_text="The key of the model that made it.")
    vector = VectorField()

    def __str__(self) -> str:
        return f"vector of passage {self.pk}"


class RecallLanguage(Owned):
    """A language other than English that a user's passages are in, by its PostgreSQL configuration."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="recall_languages"
    )
    name = models.CharField(max_length=32)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="recall_language_once")]

    def __str__(self) -> str:
        return self.name
