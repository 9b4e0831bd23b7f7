"""The Django app of sessions."""

from django.apps import AppConfig


class SessionsAppConfig(AppConfig):
    """Its long name avoids a clash with Django's own `sessions`."""

    name = "sessions_app"
    verbose_name = "Sessions"
    default_auto_field = "django.db.models.BigAutoField"
