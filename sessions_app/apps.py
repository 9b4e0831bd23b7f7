"""What was said: sessions, messages, turns."""

from django.apps import AppConfig


class SessionsAppConfig(AppConfig):
    """The app of sessions; the long name keeps it apart from Django's own `sessions`."""

    name = "sessions_app"
    verbose_name = "Sessions"
    default_auto_field = "django.db.models.BigAutoField"
