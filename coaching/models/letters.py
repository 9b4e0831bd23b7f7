"""Letters about a month: the row by which each is written once. The letter itself is a file."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from sessions_app.owned import Owned


class Letter(Owned):
    """What became of a person's letter about a month, whose first day is `month`.

    Once it has an end nothing is written any more. It has no `file` where there was too little to say, and
    where the file's rows are gone.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="letters")
    month = models.DateField()
    file = models.ForeignKey(
        "coaching.UserFile", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a model was asked for it.")
    tried_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-month"]
        constraints = [
            models.UniqueConstraint(fields=["user", "month"], name="letter_once_a_month"),
            models.CheckConstraint(condition=Q(month__day=1), name="letter_month_begins"),
            models.CheckConstraint(
                condition=Q(file__isnull=True) | Q(ended_at__isnull=False), name="letter_file_has_end"
            ),
        ]

    def __str__(self) -> str:
        return f"letter {self.month:%Y-%m}"
