"""What people think of answers."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from sessions_app.models import Turn
from sessions_app.owned import Owned


class AnswerRating(models.TextChoices):
    UP = "up", _("Helpful")
    DOWN = "down", _("Not helpful")


class AnswerFeedback(Owned):
    """A person's rating of one answer, with a note if they like. It changes nothing in what Sage says.

    Operators see rating and note only where they are shared, and the answer only where that is shared, too;
    not whose they are. Its key is its own, since a turn's leads to its person.
    """

    owner_path = "turn__session__user"

    turn = models.OneToOneField(
        Turn,
        on_delete=models.CASCADE,
        related_name="feedback",
        db_constraint=False,  # its migration adds one that cascades in the database
    )
    rating = models.CharField(max_length=4, choices=AnswerRating)
    note = models.CharField(max_length=1000, blank=True, default="")
    is_shared = models.BooleanField(default=False, help_text="Operators may see rating and note.")
    is_answer_shared = models.BooleanField(default=False, help_text="They may see the answer, too.")
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "answer feedback"
        ordering = ["-updated_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(rating__in=AnswerRating.values), name="answer_feedback_rating_known"
            ),
            models.CheckConstraint(
                condition=Q(is_shared=True) | Q(is_answer_shared=False), name="answer_feedback_shared_whole"
            ),
        ]
        indexes = [
            models.Index(fields=["-updated_at"], condition=Q(is_shared=True), name="answer_feedback_shared"),
        ]

    def __str__(self) -> str:
        return f"feedback {self.pk}"
