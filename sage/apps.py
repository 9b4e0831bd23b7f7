"""The wiring as a Django app: it gives the commands `up`, `web` and the system checks."""

from django.apps import AppConfig


class SageConfig(AppConfig):
    """Registers the system checks of the settings."""

    name = "sage"
