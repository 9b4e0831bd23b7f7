"""`manage.py sync_help_lines`: loads the shipped help lines into the database."""

from typing import Any

from django.core.management.base import BaseCommand

from coaching.people.help_lines import sync_help_lines


class Command(BaseCommand):
    help = "Load the shipped help lines into the database; lines that an operator has edited stay unchanged."

    def handle(self, *_args: Any, **options: Any) -> None:
        report = sync_help_lines()
        if options["verbosity"] > 0:
            self.stdout.write(
                f"Help lines: {report.added} added, {report.changed} changed, {report.retired} switched off, "
                f"{report.left} left as operators have them."
            )
