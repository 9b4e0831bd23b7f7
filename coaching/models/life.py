"""Days, domains, captures and prompts: the data behind the files."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from sessions_app.owned import Owned, OwnedQuerySet


class LifeDomain(models.TextChoices):
    CAREER = "career", _("Career")
    RELATIONSHIPS = "relationships", _("Relationships")
    HEALTH = "health", _("Health")
    FINANCES = "finances", _("Finances")
    LEARNING = "learning", _("Learning")
    CREATIVITY = "creativity", _("Creativity")
    PLAY = "play", _("Play")
    MEANING = "meaning", _("Meaning")


class DomainStatus(models.TextChoices):
    THRIVING = "thriving", _("Thriving")
    GOOD = "good", _("Good")
    OKAY = "okay", _("Okay")
    NEEDS_ATTENTION = "needs_attention", _("Needs attention")
    IN_CRISIS = "in_crisis", _("In crisis")


class DayPlan(Owned):
    """One local day's intention and priorities (`[{"text": str, "is_done": bool}]`)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="day_plans")
    date = models.DateField()
    intention = models.TextField(blank=True, default="")
    priorities = models.JSONField(default=list, blank=True)
    file = models.ForeignKey("coaching.UserFile", null=True, on_delete=models.SET_NULL, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-date"]
        constraints = [models.UniqueConstraint(fields=["user", "date"], name="day_plan_once_per_day")]

    def __str__(self) -> str:
        return f"day plan {self.date}"

    @property
    def says_something(self) -> bool:
        """Whether the day has a plan: a row may remain of one that was emptied."""
        return self.file_id is not None or bool(self.intention) or bool(self.priorities)


class PulseRating(Owned):
    """A rating of one domain, 1 (worst) to 5; a time series, never overwritten."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="pulse_ratings")
    domain = models.CharField(max_length=16, choices=LifeDomain)
    rating = models.PositiveSmallIntegerField()
    note = models.CharField(max_length=500, blank=True, default="")
    session = models.ForeignKey(
        "sessions_app.Session", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    rated_at = models.DateTimeField()
    made_by_import = models.ForeignKey(
        "coaching.Import", null=True, blank=True, on_delete=models.SET_NULL, related_name="ratings"
    )

    class Meta:
        ordering = ["-rated_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "domain", "rated_at"],
                condition=Q(made_by_import__isnull=False),
                name="pulse_imported_once",
            ),
            models.CheckConstraint(condition=Q(rating__gte=1, rating__lte=5), name="pulse_rating_1_to_5"),
            models.CheckConstraint(condition=Q(domain__in=LifeDomain.values), name="pulse_domain_known"),
        ]
        indexes = [models.Index(fields=["user", "domain", "-rated_at"], name="pulse_user_domain_recent")]

    def __str__(self) -> str:
        return f"{self.domain} {self.rating}"


class CaptureQuerySet(OwnedQuerySet["Capture"]):
    def waiting(self) -> Self:
        """Return those that aren't in a log and aren't archived."""
        return self.present().filter(folded_on=None, put_away_at=None)

    def present(self) -> Self:
        """Return those whose file isn't deleted."""
        return self.filter(file__deleted_at=None)


class Capture(Owned):
    """A quick thought. It waits until a daily log folds it in or its user archives it; its file stays.

    `client_id` is the sender's name for it, or empty: the same one twice with the same words is one capture.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="captures")
    file = models.OneToOneField("coaching.UserFile", on_delete=models.CASCADE, related_name="capture")
    captured_at = models.DateTimeField()
    folded_on = models.DateField(null=True, blank=True, help_text="The local day whose log folded it in.")
    put_away_at = models.DateTimeField(null=True, blank=True)
    client_id = models.CharField(max_length=100, blank=True, default="")

    class Meta:
        ordering = ["-captured_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "client_id"], condition=~Q(client_id=""), name="capture_once_per_client_id"
            )
        ]
        indexes = [
            models.Index(fields=["user", "folded_on"], name="capture_user_folded"),
            models.Index(
                fields=["user", "-captured_at"],
                condition=Q(folded_on=None, put_away_at=None),
                name="capture_user_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"capture {self.captured_at:%Y-%m-%d %H:%M}"

    @classmethod
    def of(cls, user_id: int) -> CaptureQuerySet:
        return CaptureQuerySet(cls).owned_by(user_id, cls.owner_path)


class ReflectionPrompt(Owned):
    """A question that Sage left for later; open until it is answered or skipped."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reflection_prompts"
    )
    file = models.OneToOneField(
        "coaching.UserFile", on_delete=models.CASCADE, related_name="reflection_prompt"
    )
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    put_away_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(
                fields=["user", "-created_at"],
                condition=Q(answered_at=None, put_away_at=None),
                name="prompt_user_open",
            )
        ]

    def __str__(self) -> str:
        return f"reflection prompt {self.pk}"
