"""Django's command with what keeps our catalogues small. Operators' pages are in English and left out."""

from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import makemessages

LEFT_OUT = [
    ".*",
    "docs",
    "locale",
    "static",
    "tests",
    "coaching/admin/*",
    "coaching/practice/*",
    "templates/admin/*",
]


class Command(makemessages.Command):
    """Writes the texts of the code to `locale/`: `manage.py makemessages -l de -l es`."""

    # A guessed translation isn't one: new texts are empty until somebody has translated them.
    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(no_location=True, no_obsolete=True, no_wrap=True)

    def handle(self, *args: Any, **options: Any) -> None:
        options["ignore_patterns"] = [*options["ignore_patterns"], *LEFT_OUT]
        super().handle(*args, **options)
