"""The Django app of `coaching`."""

from django.apps import AppConfig


class CoachingConfig(AppConfig):
    """Sage's coaching app."""

    name = "coaching"
    verbose_name = "Coaching"
    default_auto_field = "django.db.models.BigAutoField"
