"""What can't be read from messages after words of danger: when Sage asked, and that it shouldn't again."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from sessions_app.owned import Owned


class CareAsk(Owned):
    """A day on which Sage is told to ask how somebody is, once a day, with the message whose answer asks.

    Whether it was asked follows from what has become of that message's turn: `coaching.care.reading`.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="care_asks")
    asked_on = models.DateField(help_text="The person's own day.")
    about = models.CharField(max_length=8, choices=[("self", "Themselves"), ("other", "Somebody else")])
    session = models.ForeignKey(
        "sessions_app.Session", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    message_number = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-asked_on"]
        constraints = [
            models.UniqueConstraint(fields=["user", "asked_on"], name="care_asked_once_a_day"),
            models.CheckConstraint(condition=Q(about__in=("self", "other")), name="care_ask_about_known"),
        ]

    def __str__(self) -> str:
        return f"asked on {self.asked_on}"


class CareEnd(Owned):
    """The person doesn't want to be asked any more about what they wrote until `ended_at`.

    `how`: they said so in a message, by its session and number, or pressed a button.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="care_ends")
    ended_at = models.DateTimeField()
    how = models.CharField(max_length=8, choices=[("said", "Said"), ("pressed", "Pressed")])
    session = models.ForeignKey(
        "sessions_app.Session", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    message_number = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-ended_at"]
        constraints = [
            models.CheckConstraint(condition=Q(how__in=("said", "pressed")), name="care_end_how_known"),
            models.CheckConstraint(
                condition=Q(how="said", message_number__isnull=False)
                | Q(how="pressed", message_number__isnull=True, session__isnull=True),
                name="care_end_said_in_a_message",
            ),
            models.UniqueConstraint(
                fields=["user", "session", "message_number"], name="care_end_once_a_message"
            ),
        ]
        indexes = [models.Index(fields=["user", "-ended_at"], name="care_end_newest")]

    def __str__(self) -> str:
        return f"{self.how} at {self.ended_at:%Y-%m-%d %H:%M}"
