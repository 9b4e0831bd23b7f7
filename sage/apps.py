"""Registers the commands `up` and `web` and the system checks."""

from django.apps import AppConfig
from django.core.checks import register

from sage.checks import (
    check_inbox,
    check_places,
    warn_of_foreign_origins,
    warn_of_mail_settings,
    warn_of_missing_layers,
    warn_of_plain_backups,
    warn_of_retired_models,
    warn_of_speech_model,
    warn_of_unknown_names,
)


class SageConfig(AppConfig):
    """The Django app of `sage`."""

    name = "sage"

    def ready(self) -> None:
        register(warn_of_retired_models)
        register(warn_of_unknown_names)
        register(check_inbox)
        register(check_places)
        register(warn_of_foreign_origins)
        register(warn_of_speech_model)
        register(warn_of_mail_settings, deploy=True)
        register(warn_of_plain_backups, deploy=True)
        register(warn_of_missing_layers, deploy=True)
