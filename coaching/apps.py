"""How Sage answers, and the life it answers for."""

from django.apps import AppConfig


class CoachingConfig(AppConfig):
    """The app of people, files and everything that answers."""

    name = "coaching"
    verbose_name = "Coaching"
    default_auto_field = "django.db.models.BigAutoField"
