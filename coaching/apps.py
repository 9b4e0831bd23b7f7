"""The Django app of `coaching`."""

from importlib import import_module

from django.apps import AppConfig


class CoachingConfig(AppConfig):
    name = "coaching"
    verbose_name = "Coaching"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # By name, since `coaching.admin`, which the admin finds by itself, is below the library's.
        import_module("coaching.library.admin")
