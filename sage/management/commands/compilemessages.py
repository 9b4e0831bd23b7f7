"""Django's command for our own catalogues, not those of installed packages."""

from typing import Any

from django.core.management.commands import compilemessages


class Command(compilemessages.Command):
    """Compiles `locale/`."""

    def handle(self, *args: Any, **options: Any) -> None:
        options["ignore_patterns"] = [*options["ignore_patterns"], ".*"]
        super().handle(*args, **options)
