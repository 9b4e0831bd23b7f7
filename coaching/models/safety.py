"""Help lines, maintained by operators, and anonymous counts of safety cards."""

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from coaching.safety.countries import COUNTRY_NAMES


class HelpLineKind(models.TextChoices):
    """A line's purpose; the card shows emergency numbers first."""

    EMERGENCY = "emergency", "Emergency"
    CRISIS = "crisis", "Somebody to talk to"
    VIOLENCE = "violence", "Violence and abuse"


class DangerLevel(models.TextChoices):
    """How acute the danger is."""

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
        ordering = ["-day", "level"]
        constraints = [
            models.UniqueConstraint(fields=["day", "level"], name="card_count_once_a_day"),
            models.CheckConstraint(condition=Q(level__in=DangerLevel.values), name="card_count_level_known"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.level}: {self.shown}"
