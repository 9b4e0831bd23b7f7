"""Help lines, anonymous counts of safety cards, and what was noticed of captures."""

from typing import Self

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q

from coaching.safety.countries import COUNTRY_NAMES
from sessions_app.models import LookOutcome, VerdictLevel
from sessions_app.owned import Owned, OwnedQuerySet


class HelpLineKind(models.TextChoices):
    """A line's purpose; the card shows emergency numbers first."""

    EMERGENCY = "emergency", "Emergency"
    CRISIS = "crisis", "Somebody to talk to"
    VIOLENCE = "violence", "Violence and abuse"


class DangerLevel(models.TextChoices):
    IMMEDIATE = "immediate", "Immediate"
    CONCERN = "concern", "Concern"


class HelpLine(models.Model):
    """A help line. It was edited, and is never updated, if it differs from its `shipped` content."""

    key = models.SlugField(max_length=64, unique=True, null=True, blank=True, editable=False)
    country = models.CharField(
        max_length=2,
        blank=True,
        default="",
        validators=[RegexValidator(r"^[A-Z]{2}\Z", "Two capital letters, as in DE.")],
        help_text="ISO 3166 code, two letters. Empty: anywhere, for countries without a line of their own.",
    )
    kind = models.CharField(max_length=16, choices=HelpLineKind, default=HelpLineKind.CRISIS)
    name = models.CharField(max_length=100)
    note = models.CharField(
        max_length=100, blank=True, default="", help_text="Who or what it is for, as in: for the young."
    )
    phone = models.CharField(
        max_length=40,
        blank=True,
        default="",
        validators=[RegexValidator(r"^[0-9+*#() -]*\Z", "Digits, spaces and + * # ( ) - only.")],
        help_text="As people read it; spaces are left out when it is dialled.",
    )
    text = models.CharField(
        "text or chat", max_length=200, blank=True, default="", help_text="Such as: Text HOME to 741741."
    )
    url = models.URLField("address", max_length=200, blank=True, default="")
    hours = models.CharField(max_length=60, blank=True, default="")
    language = models.CharField(max_length=100, blank=True, default="")
    order = models.PositiveSmallIntegerField(
        default=100, help_text="Smaller comes first, within a country and a kind."
    )
    is_active = models.BooleanField("shown", default=True)
    checked_on = models.DateField(
        "last checked", null=True, blank=True, help_text="When somebody called, or looked at its own page."
    )
    shipped = models.JSONField(default=dict, blank=True, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["country", "order", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=HelpLineKind.values), name="help_line_kind_known"),
            models.CheckConstraint(
                condition=Q(country="") | Q(country__regex=r"^[A-Z]{2}$"), name="help_line_country_code"
            ),
            models.CheckConstraint(condition=~Q(phone="", text="", url=""), name="help_line_can_be_reached"),
        ]
        indexes = [models.Index(fields=["country", "is_active"], name="help_line_of_country")]

    def __str__(self) -> str:
        return f"{self.country or 'anywhere'}: {self.name}"

    def clean(self) -> None:
        """Refuse an unknown country ("UK" is GB): nobody would ever see the line."""
        if self.country and self.country not in COUNTRY_NAMES:
            raise ValidationError({"country": f"{self.country} is the code of no country. (Britain is GB.)"})


class CardCount(models.Model):
    """How often the card was shown on one day (UTC), by level. No user, conversation or text."""

    day = models.DateField()
    level = models.CharField(max_length=16, choices=DangerLevel)
    shown = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = "count of safety cards"
        verbose_name_plural = "safety cards shown"
        ordering = ["-day", "level"]
        constraints = [
            models.UniqueConstraint(fields=["day", "level"], name="card_count_once_a_day"),
            models.CheckConstraint(condition=Q(level__in=DangerLevel.values), name="card_count_level_known"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.level}: {self.shown}"


class CaptureVerdictQuerySet(OwnedQuerySet["CaptureVerdict"]):
    """Verdicts by what has become of the words."""

    def in_force(self) -> Self:
        """Return those whose words stand."""
        return self.filter(CaptureVerdict.words_stand())


class CaptureVerdict(Owned):
    """What the rules and a second look made of the words of a capture, as the person wrote or edited it.

    `level` is the more acute of both, `by_rules` the rules' alone, `looked` the outcome of the look, empty
    until it has ended and where none is taken; `usage` is what its request cost. `is_shown`: its card was.
    `look_due_at`: from then on any process may take the look; None once it has ended and where none is taken.
    """

    owner_path = "version__file__user"

    version = models.OneToOneField(
        "coaching.UserFileVersion", on_delete=models.CASCADE, related_name="capture_verdict"
    )
    level = models.CharField(max_length=16, choices=VerdictLevel, default=VerdictLevel.NONE)
    by_rules = models.CharField(max_length=16, choices=VerdictLevel, default=VerdictLevel.NONE)
    about = models.CharField(
        max_length=8, choices=[("self", "Themselves"), ("other", "Somebody else")], default="self"
    )
    topic = models.CharField(
        max_length=16, choices=[("life", "Life"), ("violence", "Violence")], default="life"
    )
    looked = models.CharField(max_length=16, choices=LookOutcome, blank=True, default="")
    model = models.CharField(max_length=100, blank=True, default="")
    milliseconds = models.PositiveIntegerField(default=0)
    usage = models.ForeignKey(
        "sessions_app.ModelUsage", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    is_shown = models.BooleanField(default=False)
    look_due_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "safety check of a capture"
        verbose_name_plural = "safety checks of captures"
        indexes = [
            models.Index(
                fields=["look_due_at"], name="capture_look_due", condition=Q(look_due_at__isnull=False)
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(look_due_at=None) | Q(looked=""), name="capture_look_due_until_it_ends"
            ),
            models.CheckConstraint(
                condition=Q(level__in=VerdictLevel.values, by_rules__in=VerdictLevel.values),
                name="capture_verdict_level_known",
            ),
            models.CheckConstraint(
                condition=Q(about__in=("self", "other"), topic__in=("life", "violence")),
                name="capture_verdict_danger_known",
            ),
            models.CheckConstraint(
                condition=Q(looked="") | Q(looked__in=LookOutcome.values), name="capture_verdict_looked_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.level} of version {self.version_id}"

    @classmethod
    def words_stand(cls) -> Q:
        """Match the verdicts whose words stand: the newest of their capture, if it isn't deleted.

        A version without a verdict (a box that was ticked) changes no words.
        """
        newer = cls.unscoped.filter(
            version__file=OuterRef("version__file"), version__number__gt=OuterRef("version__number")
        )
        return Q(~Exists(newer), version__file__deleted_at=None)

    @classmethod
    def of(cls, user_id: int) -> CaptureVerdictQuerySet:
        return CaptureVerdictQuerySet(cls).owned_by(user_id, cls.owner_path)
